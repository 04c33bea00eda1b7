"""What the program of studies in the shape of S0 leaves: text between the markers of a page, files beside."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evenhand.report.fixed_seed_figures import drawn
from evenhand.report.fixed_seed_markdown import files_of, results_markdown
from evenhand.report.fixed_seed_overview import overview_table
from evenhand.report.fixed_seed_ratio import ratio_table
from evenhand.report.marked_page import filled, link, marks_of, written
from evenhand.report.study_table_files import to_csv
from evenhand.report.study_tables import Table

Json = Mapping[str, Any]
NAME = "fixed seed"
BEGIN, END = marks_of(NAME)


def write_page(body: Json, page: Path, folder: Path) -> list[Path]:
    """Write the text between the markers of the page, and its tables and figures into a folder."""

    def linked(study: Json, one: Json, name: str) -> str:
        return link(folder / inside(body, study, one) / name, page)

    texts = {page: filled(page, NAME, results_markdown(body, linked))}
    for study in body["studies"]:
        for one in study["sets"]:
            own = folder / inside(body, study, one)
            texts |= {own / f"{name}.svg": svg for name, svg in drawn(one).items()}
            texts |= {own / f"{name}.csv": to_csv(table) for name, table in files_of(one).items()}
    if body["ratios"]:
        texts[folder / "one-seed-beside-several.csv"] = to_csv(ratio_table(body["ratios"]))
    texts[folder / "overview.csv"] = to_csv(overview_table(body))
    return [written(path, text) for path, text in texts.items()]


def tables_of(body: Json) -> dict[str, Table]:
    """Every table of every set, by a name that can be a file's."""
    found = {"overview": overview_table(body)}
    for study in body["studies"]:
        for one in study["sets"]:
            found |= {_file(body, study, one, name): table for name, table in files_of(one).items()}
    return found


def figures_of(body: Json) -> dict[str, str]:
    """Every figure of every set as SVG, by a name that can be a file's."""
    return {
        _file(body, study, one, name): svg
        for study in body["studies"]
        for one in study["sets"]
        for name, svg in drawn(one).items()
    }


def _file(body: Json, study: Json, one: Json, name: str) -> str:
    return "-".join(filter(None, [inside(body, study, one).replace("/", "-"), name]))


def inside(body: Json, study: Json, one: Json) -> str:
    """The folder of a set: none for a single one, else its study's name and its own.

    >>> one, two = {"name": ""}, {"name": "adult / sex"}
    >>> study = {"name": "fixed-seed-standins", "sets": [one, two]}
    >>> inside({"studies": [study]}, study, two), inside({"studies": [{"sets": [one]}]}, study, one)
    ('fixed-seed-standins/adult-sex', '')
    """
    if _alone(body):
        return ""
    plain = re.sub(r"[^\w.]+", "-", one["name"]).strip("-")
    return "/".join(part for part in (study["name"], plain) if part)


def study_folder(body: Json, study: Json) -> str:
    """The folder of a study, in which those of its sets are: none where there is a single set.

    >>> one, two = {"name": "a", "sets": [{}]}, {"name": "b", "sets": [{}]}
    >>> study_folder({"studies": [one, two]}, two), study_folder({"studies": [one]}, one)
    ('b', '')
    """
    return "" if _alone(body) else str(study["name"])


def _alone(body: Json) -> bool:
    return sum(len(each["sets"]) for each in body["studies"]) == 1

"""What S1's studies leave: a page with tables and figures, or text between the markers of a docs page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evenhand.report.many_attributes import render
from evenhand.report.many_attributes_added import FOLDER, beside_added_table, beside_pictures, shared
from evenhand.report.many_attributes_beside import beside_ranks_table, beside_table, paper_tables
from evenhand.report.many_attributes_figures import drawn
from evenhand.report.many_attributes_markdown import results_markdown
from evenhand.report.many_attributes_names import inside
from evenhand.report.many_attributes_tables import tables
from evenhand.report.marked_page import filled, link, marks_of, written
from evenhand.report.study_files import write_tables
from evenhand.report.study_table_files import to_csv
from evenhand.report.study_tables import Table

Json = Mapping[str, Any]
NAME = "many attributes"
BEGIN, END = marks_of(NAME)


def write_paper(body: Json, folder: Path) -> list[Path]:
    """Write paper.html, paper.json, paper/results.md, tables and figures; the page comes first."""
    inner, several = folder / "paper", len(body["studies"]) > 1

    def linked(study: Json, name: str) -> str:
        kind = "figures" if name.endswith(".svg") else "tables"
        return f"{kind}/{name}" if study["name"] == FOLDER else f"{inside(study, several)}{kind}/{name}"

    texts = {
        folder / "paper.html": render(body),
        folder / "paper.json": json.dumps(body, ensure_ascii=False, allow_nan=False) + "\n",
        inner / "results.md": results_markdown(body, linked),
    }
    for study in body["studies"]:
        own = inner / inside(study, several)
        texts |= {own / "figures" / f"{name}.svg": svg for name, svg in drawn(study).items()}
    own = inner / "figures"
    texts |= {own / f"{name}.svg": draw() for name, (_, draw) in beside_pictures(body).items()}
    found = [written(path, text) for path, text in texts.items()]
    for study in body["studies"]:
        found += write_tables(all_tables(study), inner / inside(study, several) / "tables")
    if several:
        beside = {"side-by-side": beside_table(body), "ranks-side-by-side": beside_ranks_table(body)}
        beside |= {"added-side-by-side": beside_added_table(body)} if shared(body) else {}
        found += write_tables(beside, inner / "tables")
    return found


def write_page(body: Json, page: Path, folder: Path) -> list[Path]:
    """Write the text between the markers of a page, and what it links into a folder."""
    several = len(body["studies"]) > 1

    def linked(study: Json, name: str) -> str:
        return link(folder / inside(study, several) / name, page)

    texts = {page: filled(page, NAME, results_markdown(body, linked))}
    for study in body["studies"]:
        own = folder / inside(study, several)
        texts |= {own / f"{name}.svg": svg for name, svg in drawn(study).items()}
        texts |= {own / f"{name}.csv": to_csv(table) for name, table in all_tables(study).items()}
    own = folder / FOLDER
    texts |= {own / "side-by-side.csv": to_csv(beside_table(body))} if several else {}
    texts |= {own / f"{name}.svg": draw() for name, (_, draw) in beside_pictures(body).items()}
    return [written(path, text) for path, text in texts.items()]


def all_tables(study: Json) -> dict[str, Table]:
    """Every table of a study by the name of its file."""
    return {**tables(study), **paper_tables(study)}

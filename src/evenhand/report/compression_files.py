"""What compression studies leave: the text of a page, its tables, figures and pictures of exemplars."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evenhand.report.compression_figures import drawn
from evenhand.report.compression_markdown import results_markdown, sheet_file
from evenhand.report.compression_tables import tables
from evenhand.report.marked_page import filled, link, marks_of, written
from evenhand.report.study_table_files import to_csv

Json = Mapping[str, Any]
NAME = "compression"
BEGIN, END = marks_of(NAME)


def write_page(body: Json, page: Path, folder: Path) -> list[Path]:
    """Write the text between the markers of a page, and what it links into a folder for each study."""

    def linked(study: Json, name: str) -> str:
        return link(folder / study["name"] / name, page)

    texts = {page: filled(page, NAME, results_markdown(body, linked))}
    for study in body["studies"]:
        own = folder / study["name"]
        texts |= {own / f"{name}.svg": svg for name, svg in drawn(study).items()}
        texts |= {own / f"{name}.csv": to_csv(table) for name, table in tables(study).items()}
    return [written(path, text) for path, text in texts.items()] + write_sheets(body, folder)


def write_sheets(body: Json, folder: Path) -> list[Path]:
    """The pictures of exemplars as PNG files; of data that may not be passed on there are none."""
    found = []
    for study in body["studies"]:
        for problem in study["problems"]:
            for sheet in (one for one in problem["sheets"] if one["png"]):
                path = folder / study["name"] / sheet_file(study, problem, sheet)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(base64.b64decode(sheet["png"]))
                found.append(path)
    return found

"""What a study beside its public values leaves: a page with tables and a figure, or text for a docs page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evenhand.report.marked_page import filled, link, marks_of, written
from evenhand.report.reference_values import render
from evenhand.report.reference_values_figure import dumbbells
from evenhand.report.reference_values_markdown import results_markdown
from evenhand.report.reference_values_tables import tables, values_table
from evenhand.report.study_files import write_tables
from evenhand.report.study_table_files import to_csv

Json = Mapping[str, Any]
NAME = "public values"
BEGIN, END = marks_of(NAME)
STEM = "public-values"


def write_paper(body: Json, folder: Path) -> list[Path]:
    """Write paper.html, paper.json, paper/results.md, tables and the figure; the page comes first."""
    drawn = folder / "paper" / "figures" / f"{STEM}.svg"
    text = json.dumps(body, ensure_ascii=False, allow_nan=False) + "\n"
    texts = {
        folder / "paper.html": render(body), folder / "paper.json": text,
        folder / "paper" / "results.md": results_markdown(
            body, f"figures/{STEM}.svg", f"tables/{STEM}.csv"
        ),
        drawn: dumbbells(body),
    }  # fmt: skip
    return [
        *(written(path, text) for path, text in texts.items()),
        *write_tables(tables(body), folder / "paper" / "tables"),
    ]


def write_page(body: Json, page: Path, folder: Path) -> list[Path]:
    """Write the text between the markers of a page, and the figure and table that it links into a folder."""
    figure, table = folder / f"{STEM}.svg", folder / f"{STEM}.csv"
    found = results_markdown(body, link(figure, page), link(table, page))
    texts = {
        page: filled(page, NAME, found),
        figure: dumbbells(body),
        table: to_csv(values_table(body["rows"])),
    }
    return [written(path, text) for path, text in texts.items()]

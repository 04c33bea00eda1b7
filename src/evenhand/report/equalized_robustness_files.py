"""What S4's study leaves: a page with tables and figures, or text between the markers of a docs page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evenhand.report.equalized_robustness import render
from evenhand.report.equalized_robustness_figure import figures
from evenhand.report.equalized_robustness_markdown import results_markdown
from evenhand.report.equalized_robustness_tables import long_table, tables
from evenhand.report.marked_page import filled, link, marks_of, written
from evenhand.report.study_files import write_tables
from evenhand.report.study_table_files import to_csv

Json = Mapping[str, Any]
NAME = "equalized robustness"
BEGIN, END = marks_of(NAME)
NUMBERS = "numbers.csv"


def write_paper(body: Json, folder: Path) -> list[Path]:
    """Write paper.html, paper.json, paper/results.md, tables and figures; the page comes first."""
    inner, drawn = folder / "paper", figures(body)
    links = {name: f"figures/{name}.svg" for name in drawn}
    texts = {
        folder / "paper.html": render(body),
        folder / "paper.json": json.dumps(body, ensure_ascii=False, allow_nan=False) + "\n",
        inner / "results.md": results_markdown(body, links, f"tables/{NUMBERS}"),
        **{inner / "figures" / f"{name}.svg": svg for name, svg in drawn.items()},
    }
    return [
        *(written(path, text) for path, text in texts.items()),
        *write_tables(tables(body), inner / "tables"),
    ]


def write_page(body: Json, page: Path, folder: Path) -> list[Path]:
    """Write the text between the markers of a page, and what it links into a folder."""
    drawn = {folder / f"{name}.svg": svg for name, svg in figures(body).items()}
    links = {path.stem: link(path, page) for path in drawn}
    found = results_markdown(body, links, link(folder / NUMBERS, page))
    texts = {page: filled(page, NAME, found), **drawn, folder / NUMBERS: to_csv(long_table(body))}
    return [written(path, text) for path, text in texts.items()]

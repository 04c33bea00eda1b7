"""What a study beside its public values leaves: a page with tables and a figure, or text for a docs page."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.report.reference_values import render
from evenhand.report.reference_values_figure import dumbbells
from evenhand.report.reference_values_markdown import results_markdown
from evenhand.report.reference_values_tables import tables, values_table
from evenhand.report.study_files import write_tables
from evenhand.report.study_table_files import to_csv

Json = Mapping[str, Any]
BEGIN, END = "<!-- public values: begin -->", "<!-- public values: end -->"
STEM = "public-values"


def write_paper(body: Json, folder: Path) -> list[Path]:
    """Write paper.html, paper.json, paper/results.md, tables and the figure; the page comes first."""
    drawn = folder / "paper" / "figures" / f"{STEM}.svg"
    drawn.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(body, ensure_ascii=False, allow_nan=False) + "\n"
    texts = {
        folder / "paper.html": render(body), folder / "paper.json": text,
        folder / "paper" / "results.md": results_markdown(
            body, f"figures/{STEM}.svg", f"tables/{STEM}.csv"
        ),
        drawn: dumbbells(body),
    }  # fmt: skip
    return [
        *(_written(path, text) for path, text in texts.items()),
        *write_tables(tables(body), folder / "paper" / "tables"),
    ]


def write_page(body: Json, page: Path, folder: Path) -> list[Path]:
    """Write the text between the markers of a page, and the figure and table that it links into a folder."""
    old = page.read_text(encoding="utf-8") if page.is_file() else ""
    if old.count(BEGIN) != 1 or old.count(END) != 1 or old.index(BEGIN) > old.index(END):
        raise InputError(
            f"{page} needs the two lines {BEGIN} and {END}, once each, to be written between them"
        )
    figure, table = folder / f"{STEM}.svg", folder / f"{STEM}.csv"
    folder.mkdir(parents=True, exist_ok=True)
    found = results_markdown(body, _link(figure, page), _link(table, page))
    new = f"{old[: old.index(BEGIN)]}{BEGIN}\n{found}{old[old.index(END) :]}"
    texts = {page: new, figure: dumbbells(body), table: to_csv(values_table(body["rows"]))}
    return [_written(path, text) for path, text in texts.items()]


def _link(path: Path, page: Path) -> str:
    return Path(os.path.relpath(path, page.parent)).as_posix()


def _written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="\n")
    return path

"""What S4's study leaves: a page with tables and figures, or text between the markers of a docs page."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.report.equalized_robustness import render
from evenhand.report.equalized_robustness_figure import figures
from evenhand.report.equalized_robustness_markdown import results_markdown
from evenhand.report.equalized_robustness_tables import long_table, tables
from evenhand.report.study_files import write_tables
from evenhand.report.study_table_files import to_csv

Json = Mapping[str, Any]
BEGIN, END = "<!-- equalized robustness: begin -->", "<!-- equalized robustness: end -->"
NUMBERS = "numbers.csv"


def write_paper(body: Json, folder: Path) -> list[Path]:
    """Write paper.html, paper.json, paper/results.md, tables and figures; the page comes first."""
    inner, drawn = folder / "paper", figures(body)
    (inner / "figures").mkdir(parents=True, exist_ok=True)
    links = {name: f"figures/{name}.svg" for name in drawn}
    texts = {
        folder / "paper.html": render(body),
        folder / "paper.json": json.dumps(body, ensure_ascii=False, allow_nan=False) + "\n",
        inner / "results.md": results_markdown(body, links, f"tables/{NUMBERS}"),
        **{inner / "figures" / f"{name}.svg": svg for name, svg in drawn.items()},
    }
    return [
        *(_written(path, text) for path, text in texts.items()),
        *write_tables(tables(body), inner / "tables"),
    ]


def write_page(body: Json, page: Path, folder: Path) -> list[Path]:
    """Write the text between the markers of a page, and what it links into a folder."""
    old = page.read_text(encoding="utf-8") if page.is_file() else ""
    if old.count(BEGIN) != 1 or old.count(END) != 1 or old.index(BEGIN) > old.index(END):
        raise InputError(
            f"{page} needs the two lines {BEGIN} and {END}, once each, to be written between them"
        )
    folder.mkdir(parents=True, exist_ok=True)
    drawn = {folder / f"{name}.svg": svg for name, svg in figures(body).items()}
    links = {path.stem: _link(path, page) for path in drawn}
    found = results_markdown(body, links, _link(folder / NUMBERS, page))
    new = f"{old[: old.index(BEGIN)]}{BEGIN}\n{found}{old[old.index(END) :]}"
    texts = {page: new, **drawn, folder / NUMBERS: to_csv(long_table(body))}
    return [_written(path, text) for path, text in texts.items()]


def _link(path: Path, page: Path) -> str:
    return Path(os.path.relpath(path, page.parent)).as_posix()


def _written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="\n")
    return path

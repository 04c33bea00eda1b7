"""The report of a study as a folder: the page, every table and figure by itself, and the dictionary."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.report.exports import figures
from evenhand.report.numbers import without_nan
from evenhand.report.png import to_png
from evenhand.report.study import render
from evenhand.report.study_table_files import to_csv, to_latex, to_markdown
from evenhand.report.study_tables import Table, tables

Json = Mapping[str, Any]
WRITERS = {".md": to_markdown, ".csv": to_csv, ".tex": to_latex}


def write_study_report(study: Json, folder: Path, png: bool = False) -> list[Path]:
    """Write report.html, study.json, tables/*.{md,csv,tex} and figures/*.svg, *.png; returns their paths.

    The page comes first and whole: a reader who opens it while the rest is written sees a finished report.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = [_whole(folder / "report.html", render(study))]
    text = json.dumps(without_nan(study), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    written.append(_whole(folder / "study.json", text + "\n"))
    written += write_tables(tables(study), folder / "tables")
    return written + write_study_figures(study, folder / "figures", png)


def write_tables(found: Mapping[str, Table], folder: Path) -> list[Path]:
    """Write each table in every format."""
    folder.mkdir(parents=True, exist_ok=True)
    return [
        _whole(folder / f"{name}{ending}", writer(table))
        for name, table in found.items()
        for ending, writer in WRITERS.items()
    ]


def write_study_figures(study: Json, folder: Path, png: bool = False) -> list[Path]:
    """Write each figure as SVG, and as PNG beside it if asked for."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, svg in figures(study).items():
        written.append(_whole(folder / f"{name}.svg", svg))
        if png:
            try:
                bitmap = to_png(svg)
            except (ImportError, OSError) as error:  # the extra, or the cairo library that it needs
                raise InputError(f"no PNG could be made: {error}") from error
            path = folder / f"{name}.png"
            path.write_bytes(bitmap)
            written.append(path)
    return written


def _whole(path: Path, text: str) -> Path:
    """Write beside the file and move into place, so that nobody reads half of it."""
    beside = path.with_name(f".{path.name}.part")
    beside.write_text(text, encoding="utf-8", errors="replace", newline="\n")
    beside.replace(path)
    return path

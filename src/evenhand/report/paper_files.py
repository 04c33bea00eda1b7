"""What a page in the shape of a paper leaves in a folder: paper.html, paper.json, and the rest in paper/."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evenhand.report.marked_page import written
from evenhand.report.numbers import without_nan
from evenhand.report.study_files import write_tables
from evenhand.report.study_tables import Table


def write_paper(
    folder: Path, html: str, body: Mapping[str, Any], tables: Mapping[str, Table], figures: Mapping[str, str]
) -> list[Path]:
    """Write the page, its dictionary, tables in every format and figures as SVG; the page comes first."""
    numbers = json.dumps(without_nan(body), ensure_ascii=False, allow_nan=False)
    texts = {folder / "paper.html": html, folder / "paper.json": f"{numbers}\n"}
    texts |= {folder / "paper" / "figures" / f"{name}.svg": svg for name, svg in figures.items()}
    return [
        *(written(path, text) for path, text in texts.items()),
        *write_tables(tables, folder / "paper" / "tables"),
    ]

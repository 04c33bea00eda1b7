"""What a replay leaves in its folder: tables as CSV and Markdown, figures, the dictionary and the page."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.evaluation.replay.cost import COST
from evenhand.evaluation.replay.rows import TABLE4, TESTS, VARIANCE
from evenhand.evaluation.replay.survey import SURVEY

BODY = "replay.json"
# file -> (part of the dictionary, columns; none: those of the first row)
TABLES: dict[str, tuple[str, Sequence[str]]] = {
    "variance": ("variance", VARIANCE),
    "tests": ("tests", TESTS),
    "table4": ("table4", ("technique", *TABLE4)),
    "table5": ("survey", SURVEY),
    "cost": ("cost", COST),
    "venn": ("venn", ()),
    "performance": ("performance", ()),
    "sensitivity": ("sensitivity", ()),
    "realigned": ("realigned", ()),
}


def write_all(folder: Path, body: Mapping[str, Any]) -> list[Path]:
    """Every file of a replay; a folder that cannot be written is an `InputError`."""
    texts = {f"tables/{name}.csv": csv_text(body[part], columns) for name, (part, columns) in TABLES.items()}
    texts["tables/table4.md"] = table4_markdown(body["table4"])
    texts[BODY] = json.dumps(body, indent=1, ensure_ascii=False, allow_nan=False)
    return _write(folder, texts) + write_page(folder, body)


def write_page(folder: Path, body: Mapping[str, Any]) -> list[Path]:
    """The page and its figure, from the dictionary alone."""
    from evenhand.report.replay import figures, render

    drawn = {f"figures/{name}.svg": text for name, text in figures(body).items()}
    return _write(folder, {**drawn, "report.html": render(body)})


def read_body(folder: Path) -> dict[str, Any]:
    """The dictionary that a replay left in its folder."""
    try:
        body: dict[str, Any] = json.loads((folder / BODY).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(
            f"{folder} holds no replay that can be read ({error}); run the study again"
        ) from error
    return body


def csv_text(rows: Sequence[Mapping[str, Any]], columns: Sequence[str] = ()) -> str:
    """Rows as CSV: numbers in full, undefined ones empty.

    >>> csv_text([{"a": 0.1, "b": None, "c": True}])
    'a,b,c\\n0.1,,yes\\n'
    """
    columns = columns or list(rows[0])
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(row[column]) for column in columns] for row in rows)
    return out.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None or (isinstance(value, float) and math.isnan(value)) else value


def table4_markdown(rows: Sequence[Mapping[str, str]]) -> str:
    """S0's Table 4 in Markdown, with its heading.

    >>> table4_markdown([{"technique": "S-RS", **dict.fromkeys(TABLE4, "2.0")}]).splitlines()[-1]
    '| S-RS | 2.0 | 2.0 | 2.0 | 2.0 |'
    """
    lines = [
        "Normalised disparate impact over 16 identical trainings, in percent (S0, Table 4).",
        "",
        "| Technique | MaxDiff, overall | STDEV, overall | MaxDiff, widest class | STDEV, that class |",
        "|---|---:|---:|---:|---:|",
    ]
    lines += [f"| {' | '.join([row['technique'], *(row[key] for key in TABLE4)])} |" for row in rows]
    return "\n".join(lines) + "\n"


def _write(folder: Path, texts: Mapping[str, str]) -> list[Path]:
    paths = []
    for name, text in texts.items():
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        except OSError as error:
            raise InputError(f"{path} cannot be written ({error.strerror}); name another folder") from error
        paths.append(path)
    return paths

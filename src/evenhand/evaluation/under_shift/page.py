"""The page of what shifts do to gaps: a table for each problem, a row for each shift, all numbers as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evenhand.report.marked_page import filled, link, written

NUMBERS = "under-shift.csv"
MARKS = "numbers"
Json = Mapping[str, Any]


def write_page(body: Json, page: Path, results: Path) -> None:
    """Fill the page between its two comments, and write every number beside the published runs."""
    table = written(results / NUMBERS, numbers_csv(body))
    text = (
        markdown(body)
        + f"\nAll of it, with accuracy, ranges and differences: [{NUMBERS}]({link(table, page)})."
    )
    written(page, filled(page, MARKS, text + "\n\n"))


def markdown(body: Json) -> str:
    """What stands between the comments."""
    problems = dict.fromkeys((row["task"], row["by"]) for row in body["rows"])
    told = f"\n{body['done']} of {body['runs']} runs are done. Mean over runs (95 % interval)."
    marks = (
        f" ▲ ▼: the interval of the difference from {body['base']}, seed by seed, leaves 0 out; "
        "each speaks for itself, so that by chance alone one in twenty would."
    )
    return (
        told
        + (marks if body["base"] else "")
        + "\n"
        + "".join(_problem(body, task, by) for task, by in problems)
    )


def _problem(body: Json, task: str, by: str) -> str:
    rows = [row for row in body["rows"] if (row["task"], row["by"]) == (task, by)]
    keys = list(rows[0]["numbers"])
    accuracy = [key for key in keys if key.startswith("accuracy, ")]
    tables = (_table(rows, names) for names in ([key for key in keys if key not in accuracy], accuracy))
    return f"\n**{task} by {by}**, {rows[0]['seeds']} runs each\n\n" + "\n".join(tables)


def _table(rows: Sequence[Json], keys: Sequence[str]) -> str:
    """Quantities against methods."""
    lines = [["", *(row["method"] for row in rows)], ["---", *["---:"] * len(rows)]]
    lines += [[key, *(_cell(row["numbers"][key]) for row in rows)] for key in keys]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _cell(numbers: Json) -> str:
    """The mean and its interval; marked where the difference from the base excludes 0."""
    if numbers["mean"] is None:
        return "–"
    around = "" if numbers["low"] is None else f" ({_signed(numbers['low'])} to {_signed(numbers['high'])})"
    return f"{_signed(numbers['mean'])}{around}{_mark(numbers['difference'])}"


def _mark(difference: Json | None) -> str:
    if difference is None or difference["low"] is None:
        return ""
    return " ▲" if difference["low"] > 0 else " ▼" if difference["high"] < 0 else ""


def _signed(value: float) -> str:
    return f"{value:.3f}".replace("-", "−")


def numbers_csv(body: Json) -> str:
    """Every number, a line for each problem, method and quantity."""
    out = io.StringIO()
    head = ("task", "by", "method", "quantity", "runs", "mean", "low", "high", "least", "most")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*head, "difference", "difference_low", "difference_high"])
    writer.writerows(_lines(body["rows"]))
    return out.getvalue()


def _lines(rows: Sequence[Json]) -> Iterator[list[Any]]:
    for row in rows:
        for quantity, numbers in row["numbers"].items():
            own = [numbers[name] for name in ("mean", "low", "high", "least", "most")]
            apart = [(numbers["difference"] or {}).get(name) for name in ("mean", "low", "high")]
            shown = ["" if value is None else f"{value:.6g}" for value in own + apart]
            yield [row["task"], row["by"], row["method"], quantity, row["seeds"], *shown]

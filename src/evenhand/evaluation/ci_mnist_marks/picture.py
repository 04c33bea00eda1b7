"""The figure of the study: what marks add, how far blue falls, what methods win back, on one axis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from evenhand.evaluation.ci_mnist.layout import ACCURACY, UNPRIVILEGED
from evenhand.evaluation.ci_mnist_marks.layout import (
    ADDED,
    BALANCED,
    BASE,
    BOTH,
    DECLARED,
    MARKS,
    METHODS,
    MINORITY,
)
from evenhand.report.figures.forest import ForestRow, forest

Json = Mapping[str, Any]
TITLE = "Accuracy with and without green marks, and on the smallest group"
DRAWN = {added.words for added in ADDED if added.more in DECLARED}


def picture(body: Json) -> str:
    """An SVG of differences in accuracy with their intervals; hollow where the interval holds 0."""
    rows = [
        *_block("MLP, accuracy, balanced", _added(body, BALANCED, ACCURACY)),
        *_block("MLP, on blue, .001", _added(body, MINORITY, UNPRIVILEGED)),
        *_block("MLP, on blue, .5 to .001", _falls(body)),
        *_block("Less the MLP, on blue, .001", _gains(body)),
    ]
    return forest(rows, title=TITLE, reference=("no change", 0.0), axis="difference of accuracy", signed=True)


def _block(heading: str, rows: Iterable[ForestRow]) -> list[ForestRow]:
    found = list(rows)
    return [ForestRow(heading, None, heading=True), *found] if found else []


def _added(body: Json, colours: str, key: str) -> Iterable[ForestRow]:
    for row in body["added"]:
        if (row["colours"], row["method"]) == (colours, BASE) and row["words"] in DRAWN:
            yield _row(f"{row['words']} added", row["numbers"][key])


def _falls(body: Json) -> Iterable[ForestRow]:
    return (_row(MARKS[row["marks"]], row) for row in body["falls"] if row["marks"] in DECLARED)


def _gains(body: Json) -> Iterable[ForestRow]:
    for row in body["recovery"]:
        if row["marks"] == BOTH:
            yield _row(METHODS[row["method"]], row)


def _row(label: str, found: Json) -> ForestRow:
    return ForestRow(label, found["mean"], found["low"], found["high"])

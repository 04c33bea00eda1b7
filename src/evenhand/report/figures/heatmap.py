"""A matrix of numbers as coloured cells (rows against columns), e.g. every model against every other."""

from __future__ import annotations

import math
from collections.abc import Sequence

from evenhand.report.figures.canvas import clip, figure, mark, text, text_width
from evenhand.report.figures.cell_number import cell_number
from evenhand.report.numbers import defined, number
from evenhand.report.palette import step_from_reference, step_of_share

TOP = 42.0  # room for heads of two lines
EDGES = 4.0  # of a cell, which its number leaves free
Matrix = Sequence[Sequence[float | None]]


def heatmap(
    values: Matrix,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    title: str,
    diverging: bool = False,
    decimals: int = 3,
) -> str:
    """A heat map; colours are relative to the largest value, or to the largest distance from zero.

    A number that is too long for its cell has fewer digits there; all of them are shown on hover.

    >>> heatmap([[0.0, 0.2], [None, 0.1]], ["a", "b"], ["a", "b"], title="CEV").count("<rect")
    4
    """
    known = [abs(x) for line in values for x in line if x is not None and math.isfinite(x)]
    largest = max(known, default=0.0) or 1.0
    left = min(210.0, max([40.0, *(text_width(name, 12) + 20 for name in rows)]))
    cell = min(76.0, max(50.0, 330.0 / max(1, len(columns))))
    heights = 34.0
    parts = _heads(rows, columns, left, cell, heights)
    for i, line in enumerate(values):
        for j, x in enumerate(line):
            place = (left + cell * j, TOP + heights * i)
            label = f"{rows[i]} → {columns[j]}"
            parts += _cell(
                x if defined(x) else None, place, (cell, heights), largest, label, diverging, decimals
            )
    return figure(
        left + cell * len(columns) + 4,
        TOP + 4 + heights * len(rows),
        title,
        _description(values, rows, columns, decimals),
        parts,
    )


def _heads(rows: Sequence[str], columns: Sequence[str], left: float, cell: float, height: float) -> list[str]:
    parts = []
    for j, name in enumerate(columns):
        lines = two_lines(name, cell - 4)
        for i, line in enumerate(lines):
            y = TOP - 8 - 14 * (len(lines) - 1 - i)
            parts.append(text(left + cell * (j + 0.5), y, line, "ts", 12, name, text_anchor="middle"))
    return parts + [
        text(
            left - 8,
            TOP + 4 + height * (i + 0.5),
            clip(name, left - 10, 12),
            "ts",
            12,
            name,
            text_anchor="end",
        )
        for i, name in enumerate(rows)
    ]


def two_lines(name: str, room: float) -> list[str]:
    """A name over a column: broken at a space where that helps, cut where it does not.

    >>> two_lines("full network", 60), two_lines("distilled", 60)
    (['full', 'network'], ['distilled'])
    """
    if text_width(name, 12) <= room or " " not in name:
        return [clip(name, room, 12)]
    words = name.split(" ")
    first = [words[0]]
    while len(first) < len(words) - 1 and text_width(" ".join([*first, words[len(first)]]), 12) <= room:
        first.append(words[len(first)])
    return [clip(" ".join(first), room, 12), clip(" ".join(words[len(first) :]), room, 12)]


def _cell(
    x: float | None,
    place: tuple[float, float],
    size: tuple[float, float],
    largest: float,
    label: str,
    diverging: bool,
    decimals: int,
) -> list[str]:
    # the steps of the diverging colours are laid over 0 .. largest: small changes still show their order
    share = None if x is None else x / largest
    classes = step_from_reference(None if share is None else share / 4) if diverging else step_of_share(share)
    shown = number(x, decimals, signed=diverging)
    tip = f"{label}\n{shown if x is not None else 'undefined'}"
    colour = classes if x is not None else "zero"
    return [
        mark(
            "rect",
            f"{colour} edge",
            tip,
            x=place[0],
            y=place[1],
            width=size[0],
            height=size[1],
            stroke_width=2,
        ),
        text(
            place[0] + size[0] / 2,
            place[1] + size[1] / 2 + 4,
            cell_number(x, decimals, size[0] - EDGES, 12, signed=diverging),
            "t",
            12,
            text_anchor="middle",
            pointer_events="none",
        ),
    ]


def _description(values: Matrix, rows: Sequence[str], columns: Sequence[str], decimals: int) -> str:
    cells = [
        f"{rows[i]} to {columns[j]}: {number(x, decimals)}"
        for i, line in enumerate(values)
        for j, x in enumerate(line)
        if i != j
    ]
    return "; ".join(cells[:60])

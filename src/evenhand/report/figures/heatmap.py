"""A matrix of numbers as coloured cells (rows against columns), e.g. every model against every other."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.report.figures.canvas import clip, figure, mark, text, text_width
from evenhand.report.numbers import defined, number
from evenhand.report.palette import step_from_reference, step_of_share

Matrix = Sequence[Sequence[float | None]]


def heatmap(
    values: Matrix, rows: Sequence[str], columns: Sequence[str], *, title: str, diverging: bool = False, decimals: int = 3
) -> str:
    """A heat map; diverging colours are relative to the largest distance from zero, others to the largest value.

    >>> heatmap([[0.0, 0.2], [None, 0.1]], ["a", "b"], ["a", "b"], title="CEV").count("<rect")
    4
    """
    known = [abs(x) for line in values for x in line if x is not None and defined(x)]
    largest = max(known, default=0.0) or 1.0
    left = min(140.0, max([40.0, *(text_width(name, 12) + 14 for name in rows)]))
    cell = min(76.0, max(54.0, 420.0 / max(1, len(columns))))
    heights = 34.0
    parts = _heads(rows, columns, left, cell, heights)
    for i, line in enumerate(values):
        for j, x in enumerate(line):
            place = (left + cell * j, 30 + heights * i)
            label = f"{rows[i]} → {columns[j]}"
            parts += _cell(x if defined(x) else None, place, (cell, heights), largest, label, diverging, decimals)
    return figure(left + cell * len(columns) + 4, 34 + heights * len(rows), title, _description(values, rows, columns, decimals), parts)


def _heads(rows: Sequence[str], columns: Sequence[str], left: float, cell: float, height: float) -> list[str]:
    parts = [
        text(left + cell * (j + 0.5), 20, clip(name, cell - 4, 12), "ts", 12, name, text_anchor="middle")
        for j, name in enumerate(columns)
    ]
    return parts + [
        text(left - 8, 34 + height * (i + 0.5), clip(name, left - 10, 12), "ts", 12, name, text_anchor="end")
        for i, name in enumerate(rows)
    ]


def _cell(
    x: float | None, place: tuple[float, float], size: tuple[float, float], largest: float, label: str, diverging: bool, decimals: int
) -> list[str]:
    # the five steps of the diverging colours are laid over 0 .. largest, so that a small matrix still shows order
    share = None if x is None else x / largest
    classes = step_from_reference(None if share is None else share / 4) if diverging else step_of_share(share)
    shown = number(x, decimals, signed=diverging)
    tip = f"{label}\n{shown if x is not None else 'undefined'}"
    colour = classes if x is not None else "zero"
    return [
        mark("rect", f"{colour} edge", tip, x=place[0], y=place[1], width=size[0], height=size[1], stroke_width=2),
        text(place[0] + size[0] / 2, place[1] + size[1] / 2 + 4, shown, "t", 12, text_anchor="middle", pointer_events="none"),
    ]


def _description(values: Matrix, rows: Sequence[str], columns: Sequence[str], decimals: int) -> str:
    cells = [
        f"{rows[i]} to {columns[j]}: {number(x, decimals)}" for i, line in enumerate(values) for j, x in enumerate(line) if i != j
    ]
    return "; ".join(cells[:60])

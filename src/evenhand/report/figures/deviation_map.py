"""A matrix of coloured cells on a fixed scale, so that several of them can be compared by eye."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.report.figures.canvas import clip, figure, mark, text, text_width
from evenhand.report.figures.heatmap import two_lines
from evenhand.report.numbers import defined, number
from evenhand.report.palette import step_of_share

HEAD, CELL, HIGH, KEY = 34.0, 56.0, 26.0, 34.0
STEPS = 4
Matrix = Sequence[Sequence[float | None]]


def deviation_map(
    values: Matrix, rows: Sequence[str], columns: Sequence[str], *, title: str, top: float = 0.2
) -> str:
    """Cells coloured by their share of `top` (the scale of S3's Figure 10 ends at 0.2), with a key below.

    >>> svg = deviation_map([[0.0, 0.05], [None, 0.3]], ["a", "b"], ["acc", "DP"], title="t")
    >>> svg.count("<rect"), svg.count('class="s4 edge"')  # four cells and four steps of the key
    (8, 1)
    """
    left = max([60.0, *(text_width(name, 12) + 14 for name in rows)])
    parts = _heads(rows, columns, left)
    for i, line in enumerate(values):
        for j, x in enumerate(line):
            parts += _cell(x, left + CELL * j, HEAD + HIGH * i, f"{rows[i]}, {columns[j]}", top)
    bottom = HEAD + HIGH * len(rows)
    wide = left + CELL * len(columns) + 2
    parts += _key(left, bottom + 10, top)
    return figure(wide, bottom + KEY + 8, title, _description(values, rows, columns), parts)


def _heads(rows: Sequence[str], columns: Sequence[str], left: float) -> list[str]:
    parts = []
    for j, name in enumerate(columns):
        lines = two_lines(name, CELL - 2)
        parts += [
            text(left + CELL * (j + 0.5), HEAD - 8 - 13 * (len(lines) - 1 - i), line, "ts", 11.5, name,
                 text_anchor="middle")
            for i, line in enumerate(lines)
        ]  # fmt: skip
    return parts + [
        text(
            left - 8, HEAD + 4 + HIGH * (i + 0.5), clip(name, left - 8, 12), "ts", 12, name, text_anchor="end"
        )
        for i, name in enumerate(rows)
    ]


def _cell(x: float | None, left: float, top: float, label: str, scale: float) -> list[str]:
    known = x is not None and defined(x)
    colour = step_of_share(None if x is None or not known else x / scale) if known else "zero"
    tip = f"{label}\n{number(x, 4) if known else 'not there'}"
    place = {"x": left, "y": top, "width": CELL, "height": HIGH}
    middle = {"text_anchor": "middle", "pointer_events": "none"}
    return [
        mark("rect", f"{colour} edge", tip, stroke_width=2, **place),
        text(left + CELL / 2, top + HIGH / 2 + 4, number(x, 2 if scale >= 1 else 3), "t", 11.5, **middle),
    ]


def _key(left: float, y: float, top: float) -> list[str]:
    """The steps with their bounds."""
    wide = 44.0
    parts = [
        mark("rect", f"s{step}", x=left + wide * (step - 1), y=y, width=wide, height=9)
        for step in range(1, STEPS + 1)
    ]
    return parts + [
        text(left + wide * step, y + 21, f"{top * step / STEPS:g}", "ts", 10.5, text_anchor="middle")
        for step in range(STEPS + 1)
    ]  # fmt: skip


def _description(values: Matrix, rows: Sequence[str], columns: Sequence[str]) -> str:
    cells = [
        f"{rows[i]}, {columns[j]}: {number(x)}" for i, line in enumerate(values) for j, x in enumerate(line)
    ]
    return "; ".join(cells[:80])

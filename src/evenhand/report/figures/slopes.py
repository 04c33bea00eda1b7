"""The groups' rates under each method, one line a method, with the base's values as a reference behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.report.figures.canvas import clip, figure, line, text, text_width
from evenhand.report.figures.scale import Scale, nice_scale
from evenhand.report.figures.scatter import symbol
from evenhand.report.figures.tracks import track_grid, track_ticks
from evenhand.report.numbers import defined, number

WIDTH, STEP, EDGE = 440.0, 46.0, 12.0
MOST_REFERENCES = 6  # more dotted lines than that hide what they are for


@dataclass(frozen=True)
class Rates:
    """A method's rate in each group, in the order of the groups."""

    method: str
    values: tuple[float | None, ...]
    base: bool = False


def slopes(rows: Sequence[Rates], groups: Sequence[str], *, title: str) -> str:
    """A dot plot: a mark for each group, joined from the lowest to the highest.

    >>> svg = slopes([Rates("erm", (0.5, 0.7), True), Rates("gap", (0.6, 0.7))], ["a", "b"], title="tpr")
    >>> svg.count("<circle"), "0.100 apart" in svg
    (3, True)
    """
    key, top = _key(groups)
    scale = nice_scale([x for row in rows for x in row.values], EDGE, WIDTH - EDGE, 5)
    bottom = top + STEP * len(rows)
    base = next((row for row in rows if row.base), None)
    centres = [top + STEP * i + 34 for i in range(len(rows))]
    parts = [*key, track_grid(scale, [(y - 9, y + 9) for y in centres]), *_references(base, scale, centres)]
    for y, row in zip(centres, rows, strict=True):
        parts += _row(row, groups, scale, y)
    parts += track_ticks(scale, bottom + 16, WIDTH)
    return figure(WIDTH, bottom + 24, title, _description(rows, groups), parts)


def _references(base: Rates | None, scale: Scale, centres: Sequence[float]) -> list[str]:
    """The base's values beside every other method's, along the tracks only: names stand between them."""
    if base is None or len(base.values) > MOST_REFERENCES:
        return []
    return [
        line(scale(x), y - 10, scale(x), y + 10, f"o{g % 8}", stroke_dasharray="2 2", stroke_width=1.5)
        for y in centres
        for g, x in enumerate(base.values)
        if x is not None and defined(x)
    ]


def _row(row: Rates, groups: Sequence[str], scale: Scale, y: float) -> list[str]:
    known = [(g, x) for g, x in enumerate(row.values) if x is not None and defined(x)]
    name = f"{row.method} (base)" if row.base else row.method
    if not known:
        return [text(2, y - 14, clip(f"{name}: undefined", 300), "t", 12)]
    low, high = min(x for _, x in known), max(x for _, x in known)
    told = f"{number(low)} to {number(high)}, {number(high - low)} apart"
    parts = [
        text(2, y - 14, clip(name, WIDTH - 30 - text_width(told, 11), 12), "t", 12, row.method),
        text(WIDTH - 2, y - 14, told, "ts", 11, text_anchor="end"),
        line(scale(low), y, scale(high), y, "axis", stroke_width=3, stroke_linecap="round"),
    ]
    return parts + [
        symbol(g, scale(x), y, f"{row.method} · {groups[g]}\n{number(x)}", opacity=0.9) for g, x in known
    ]


def _key(groups: Sequence[str]) -> tuple[list[str], float]:
    """The groups' marks with their names, in as many lines as they take; and where they end."""
    parts, x, y = [], 4.0, 10.0
    for g, name in enumerate(groups):
        shown = clip(name, 150, 12)
        room = text_width(shown, 12) + 32
        if x + room > WIDTH and x > 4:
            x, y = 4.0, y + 19
        parts += [symbol(g, x + 4, y, "", opacity=0.9), text(x + 14, y + 4.5, shown, "t", 12, name)]
        x += room
    return parts, y + 8


def _description(rows: Sequence[Rates], groups: Sequence[str]) -> str:
    cells = [
        f"{row.method}, {group}: {number(x)}"
        for row in rows
        for group, x in zip(groups, row.values, strict=False)
    ]
    return "; ".join(cells[:60])

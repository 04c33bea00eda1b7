"""Estimates with their intervals, one row each, on a common axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.report.figures.canvas import clip, figure, line, mark, text, text_width
from evenhand.report.figures.scale import Scale, nice_scale, tick_label
from evenhand.report.numbers import UNDEFINED, defined, interval, number

TOP = 26.0  # room for the label of the reference
NARROW = 480  # below this width labels stand above their track
USUAL, WIDE = 108.0, 122.0  # room of an interval, in figures


@dataclass(frozen=True)
class ForestRow:
    """One estimate: interval, level of chance, bounds over unknown rows, reason when undefined."""

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    chance: float | None = None
    bounds: tuple[float, float] | None = None
    note: str = ""
    heading: bool = False
    remarkable: bool = True

    @property
    def tip(self) -> str:
        """What is told on hover."""
        lines = [self.label, number(self.value)]
        lines += [f"interval {interval((self.low, self.high))}"] if defined(self.low) else []
        lines += [f"chance level {number(self.chance)}"] if defined(self.chance) else []
        lines += [f"{interval(self.bounds)} over what the unknown rows could be"] if self.bounds else []
        return "\n".join([*lines, self.note] if self.note else lines)


def forest(
    rows: Sequence[ForestRow],
    *,
    title: str,
    reference: tuple[str, float] | None = None,
    width: float = 760,
    axis: str = "",
    signed: bool = False,
    within: Sequence[float] = (),
) -> str:
    """A forest plot; `within` are values that the axis must hold.

    A dot is hollow when its row is not `remarkable` (its value is within the level of chance); among `signed`
    differences, which have no level of chance, when its interval holds the reference.

    >>> row = ForestRow("tpr gap", 0.3, 0.2, 0.4, chance=0.1)
    >>> forest([row], title="gaps", reference=("ideal", 0.0)).count("<circle")
    1
    """
    narrow, room = width < NARROW, _interval_room(rows, signed)
    left, right = (
        (10.0, width - 12.0) if narrow else (_label_room(rows), width - room - (64 if room == WIDE else 68))
    )
    held = [x for row in rows for x in (row.value, row.low, row.high, row.chance, *(row.bounds or ()))]
    scale = nice_scale(
        [*held, *within, *([reference[1]] if reference else [])], left, right, 4 if narrow else 6
    )
    centres, bottom = _centres(rows, narrow)
    parts = _lines(rows, centres, scale, reference, narrow) + _ticks(scale, bottom, reference, axis)
    for row, y in zip(rows, centres, strict=True):
        parts += _labels(row, y, left, width, narrow, signed, room)
        parts += [] if row.heading else _track(row, scale, y, reference if signed else None)
    return figure(width, bottom + (40 if axis else 24), title, _description(rows), parts)


def _centres(rows: Sequence[ForestRow], narrow: bool) -> tuple[list[float], float]:
    """The height of each row's track, and where the last one ends."""
    places, y = [], TOP
    for row in rows:
        height = (34.0 if row.heading else 52.0) if narrow else 30.0
        if narrow:
            places.append(y + (40.0 if row.heading else height - 14.0))
        else:
            places.append(y + height / 2)
        y += height
    return places, y


def _label_room(rows: Sequence[ForestRow]) -> float:
    return min(250.0, max([90.0, *(text_width(row.label, 14.5 if row.heading else 13) + 24 for row in rows)]))


def _interval_room(rows: Sequence[ForestRow], signed: bool) -> float:
    """How wide the longest interval is: two signs take more."""
    two_signs = signed or any(row.high is not None and row.high < 0 for row in rows)
    return WIDE if two_signs else USUAL


def _lines(
    rows: Sequence[ForestRow],
    centres: Sequence[float],
    scale: Scale,
    reference: tuple[str, float] | None,
    narrow: bool,
) -> list[str]:
    """Grid and reference: along the tracks only, where labels stand above them."""
    if narrow:
        spans = [(y - 10, y + 10) for row, y in zip(rows, centres, strict=True) if not row.heading]
    else:
        spans = [(TOP, TOP + 30.0 * len(rows))]
    parts = [line(scale(x), top, scale(x), bottom, "grid") for top, bottom in spans for x in scale.ticks]
    if reference:
        x = scale(reference[1])
        parts += [line(x, top, x, bottom, "ref", stroke_width=1.5) for top, bottom in spans]
    return parts


def _ticks(scale: Scale, bottom: float, reference: tuple[str, float] | None, axis: str) -> list[str]:
    parts = [text(scale(x), bottom + 16, tick_label(x), "ts", 11, text_anchor="middle") for x in scale.ticks]
    if reference:
        x = scale(reference[1])
        anchor = "start" if x - scale.start < 40 else "end" if scale.end - x < 40 else "middle"
        told = f"{reference[0]} {tick_label(round(reference[1], 3))}"
        parts.append(text(x, TOP - 10, told, "ts", 11, text_anchor=anchor))
    if axis:
        middle = (scale.start + scale.end) / 2
        parts.append(text(middle, bottom + 34, axis, "ts", 11, text_anchor="middle"))
    return parts


def _labels(
    row: ForestRow, y: float, left: float, width: float, narrow: bool, signed: bool, interval_room: float
) -> list[str]:
    weight = {"font_weight": "600"} if row.heading else {}
    spread = interval((row.low, row.high), signed=signed)
    shown = "" if row.heading else number(row.value, signed=signed)
    above, room = (y - 16, width - 20) if narrow else (y + 4.5, left - 14)
    if narrow and shown:  # the number ends where the interval begins
        room -= interval_room + text_width(shown, 14)
    parts = [text(2 if narrow else 0, above, clip(row.label, room), "t", 13, row.tip, **weight)]
    if shown:
        end = width - 2
        parts.append(text(end - interval_room, above, shown, "t", 13, text_anchor="end", font_weight="600"))
        parts.append(text(end, above, spread if spread != UNDEFINED else "", "ts", 12, text_anchor="end"))
    return parts


def _track(row: ForestRow, scale: Scale, y: float, reference: tuple[str, float] | None) -> list[str]:
    if row.value is None or not defined(row.value):
        return [
            text(
                scale.start + 8,
                y + 4,
                clip(row.note or "undefined", scale.end - scale.start - 8, 12),
                "ts",
                12,
                row.tip,
            )
        ]
    parts = []
    if row.bounds:
        ends = [scale(x) for x in row.bounds]
        parts.append(
            mark(
                "rect", "band", row.tip, x=ends[0], y=y - 9, width=max(ends[1] - ends[0], 1), height=18, rx=2
            )
        )
    if row.low is not None and row.high is not None:
        parts.append(
            line(scale(row.low), y, scale(row.high), y, "bar", stroke_width=2.5, stroke_linecap="round")
        )
    if row.chance is not None:
        parts.append(line(scale(row.chance), y - 8, scale(row.chance), y + 8, "chance", stroke_width=2))
    style = "hollow" if _unremarkable(row, reference) else "dot"
    return [*parts, mark("circle", style, row.tip, cx=scale(row.value), cy=y, r=5, stroke_width=2)]


def _unremarkable(row: ForestRow, reference: tuple[str, float] | None) -> bool:
    if reference and row.low is not None and row.high is not None:
        return row.low <= reference[1] <= row.high
    return not row.remarkable


def _description(rows: Sequence[ForestRow]) -> str:
    told = [
        f"{row.label}: {number(row.value)} ({interval((row.low, row.high))})"
        for row in rows
        if not row.heading
    ]
    return "; ".join(told[:40])

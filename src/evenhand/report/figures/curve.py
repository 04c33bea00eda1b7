"""A number over the severity of a shift: a line with the band of its interval, every run a pale line.

The whisker at a dot is the interval of the difference to the first point, drawn from that point's level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from evenhand.report.figures.canvas import clip, figure, line, mark, text, text_width
from evenhand.report.figures.scale import Scale, nice_scale, tick_label
from evenhand.report.numbers import defined, interval, number

LEFT, RIGHT, TOP, BOTTOM = 52.0, 16.0, 30.0, 46.0
MOST_RUNS = 24  # more pale lines than that would be a band of their own


@dataclass(frozen=True)
class CurvePoint:
    """One severity: the number, its interval, and the interval of its difference to the first point.

    `moved`: that interval leaves out zero. `note` are further words on hover.
    """

    x: float
    y: float | None
    low: float | None = None
    high: float | None = None
    reach: tuple[float | None, float | None] = (None, None)
    moved: bool = False
    note: str = ""

    @property
    def tip(self) -> str:
        """What is told on hover."""
        told = [f"severity {self.x:g}", f"{number(self.y)} ({interval((self.low, self.high))})", self.note]
        return "\n".join(part for part in told if part)


def curve(
    points: Sequence[CurvePoint],
    runs: Sequence[Sequence[float | None]] = (),
    *,
    title: str,
    y_axis: str,
    x_axis: str = "severity",
    floor: float | None = None,
    width: float = 440,
) -> str:
    """A line over the severities; a filled dot moved against the first, a hollow one did not visibly.

    `runs` has a sequence of numbers for each run, one a severity; `floor` is a number that the axis holds.

    >>> points = [CurvePoint(0, 0.1, 0.05, 0.15), CurvePoint(1, 0.3, 0.2, 0.4, moved=True)]
    >>> made = curve(points, [[0.1, 0.2], [0.1, 0.4]], title="t", y_axis="gap")
    >>> made.count("<polyline"), made.count("<polygon"), made.count("<circle")
    (3, 1, 2)
    """
    height = 0.66 * width
    shown = runs if 1 < len(runs) <= MOST_RUNS else ()
    ys = [v for p in points for v in (p.y, p.low, p.high, *_whisker(points, p))]
    ys += [v for run in shown for v in run]
    across = Scale(*_ends(points), LEFT + 8, width - RIGHT, tuple(p.x for p in points))
    down = nice_scale([*ys, floor], height - BOTTOM, TOP, 4)
    parts = _axes(across, down, y_axis, x_axis) + _band(points, across, down)
    for run in shown:
        parts += _lines([(p.x, y) for p, y in zip(points, run, strict=True)], across, down, 1.0, "0.28")
    parts += _start(points, across, down)
    parts += _lines([(p.x, p.y) for p in points], across, down, 2.25, "1")
    parts += [part for p in points for part in _bar(points, p, across, down)]
    parts += [_dot(p, across, down) for p in points if defined(p.y)]
    return figure(width, height, title, _description(points), parts)


def _ends(points: Sequence[CurvePoint]) -> tuple[float, float]:
    low, high = min(p.x for p in points), max(p.x for p in points)
    return low, high if high > low else low + 1.0


def _axes(across: Scale, down: Scale, y_axis: str, x_axis: str) -> list[str]:
    """Grid and ticks; the ticks below are the severities themselves, where there is room for them."""
    left = across.start - 8
    parts = [line(left, down(y), across.end, down(y), "axis" if y == 0 else "grid") for y in down.ticks]
    parts += [text(left - 6, down(y) + 4, tick_label(y), "ts", 11, text_anchor="end") for y in down.ticks]
    free = -1e9
    for x in across.ticks:
        label = f"{x:g}"
        half = text_width(label, 11) / 2
        parts.append(line(across(x), down.start, across(x), down.start + 4, "axis"))
        if across(x) - half >= free:
            parts.append(text(across(x), down.start + 17, label, "ts", 11, text_anchor="middle"))
            free = across(x) + half + 5
    parts.append(
        text(across.end, down.start + 35, clip(x_axis, across.end - left, 12), "ts", 12, text_anchor="end")
    )
    return [*parts, text(2, 14, clip(y_axis, across.end - 4, 12), "ts", 12)]


def _band(points: Sequence[CurvePoint], across: Scale, down: Scale) -> list[str]:
    """The intervals as a band, broken where one is undefined; an interval by itself is a bar."""
    parts = []
    for known, found in groupby(points, lambda p: defined(p.low) and defined(p.high)):
        stretch = [(across(p.x), down(p.low or 0.0), down(p.high or 0.0)) for p in found] if known else []
        if len(stretch) == 1:
            x, low, high = stretch[0]
            stretch = [(x - 3, low, high), (x + 3, low, high)]
        if stretch:
            corners = [(x, high) for x, _, high in stretch] + [(x, low) for x, low, _ in reversed(stretch)]
            parts.append(mark("polygon", "band", points=_path(corners)))
    return parts


def _lines(
    places: Sequence[tuple[float, float | None]], across: Scale, down: Scale, width: float, opacity: str
) -> list[str]:
    """A line through what is defined; it does not bridge what is not."""
    parts = []
    for known, found in groupby(places, lambda place: defined(place[1])):
        stretch = [(across(x), down(y or 0.0)) for x, y in found] if known else []
        if len(stretch) > 1:
            parts.append(
                mark("polyline", "bar", points=_path(stretch), fill="none", stroke_width=width,
                     stroke_opacity=opacity, stroke_linejoin="round")
            )  # fmt: skip
    return parts


def _start(points: Sequence[CurvePoint], across: Scale, down: Scale) -> list[str]:
    """The level of the first point, to see by eye what moved."""
    y = points[0].y
    if y is None or not defined(y):
        return []
    return [line(across.start, down(y), across.end, down(y), "ref", stroke_width=1, stroke_dasharray="3 4",
                 stroke_opacity="0.55")]  # fmt: skip


def _whisker(points: Sequence[CurvePoint], p: CurvePoint) -> list[float]:
    """Where the number may lie, seen from the first point: both ends, or nothing."""
    start = points[0].y
    ends = [end for end in p.reach if end is not None and defined(end)]
    if start is None or not defined(start) or not defined(p.y) or len(ends) < 2:
        return []
    return [start + end for end in ends]


def _bar(points: Sequence[CurvePoint], p: CurvePoint, across: Scale, down: Scale) -> list[str]:
    ends, x = [down(end) for end in _whisker(points, p)], across(p.x)
    return [line(x, ends[0], x, ends[1], "bar", stroke_width=1.5)] if ends else []


def _dot(p: CurvePoint, across: Scale, down: Scale) -> str:
    return mark(
        "circle",
        "dot" if p.moved else "hollow",
        p.tip,
        cx=across(p.x),
        cy=down(p.y or 0.0),
        r=4.5,
        stroke_width=2,
    )


def _path(corners: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)


def _description(points: Sequence[CurvePoint]) -> str:
    return "; ".join(p.tip.replace("\n", ", ") for p in points)

"""A panel of points: a method's metric by ERM's own on the same structure, or by the number of attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.report.figures.canvas import clip, line, mark, text
from evenhand.report.figures.scale import Scale, nice_scale, tick_label
from evenhand.report.many_attributes_bars import series_mark, tip_of, whiskers
from evenhand.report.many_attributes_names import BY_SIZE, axis_name
from evenhand.report.palette import SERIES

Json = Mapping[str, Any]
Span = tuple[float, float]
Place = tuple[float, float]
DODGE = 3.0  # how far the marks of neighbouring methods stand apart at most over one number of attributes
SPREAD = 18.0  # and all of them together
DASHES = ("", "4 3", "1 3")  # of the lines of methods after the eighth, and after the sixteenth


def point_panel(panel: Json, order: Sequence[str], metric: str, across: Span, down: Span) -> list[str]:
    """Marks with 68 % intervals; by attributes joined and with 95 % too, by ERM's own with a line each."""
    by_size = panel["x"] == BY_SIZE
    points = [point for series in panel["series"] for point in series["points"]]
    if not points:
        return [text(across[0], (down[0] + down[1]) / 2, "no runs", "ts", 11)]
    x = _sizes(points, across) if by_size else nice_scale([p["x"] for p in points], *across, 3)
    lines = {series["method"]: ends_of(series["points"], by_size) for series in panel["series"]}
    seen = [point[key] for point in points for key in ("y", "low68", "high68")]
    y = nice_scale([*seen, *(at for ends in lines.values() for _, at in ends)], down[1], down[0], 4)
    parts = _axes(x, y, axis_name(panel, metric), across)
    step = min(DODGE, SPREAD / len(panel["series"])) if by_size else 0.0
    for place, series in enumerate(panel["series"]):
        moved = step * (place - (len(panel["series"]) - 1) / 2)
        parts += _series(series, lines[series["method"]], order, metric, (x, y), moved)
    return parts


def ends_of(points: Sequence[Json], by_size: bool) -> list[Place]:
    """Where a method's line runs: through its points, or straight by least squares.

    >>> ends_of([{"x": 0.0, "y": 1.0}, {"x": 1.0, "y": 1.0}, {"x": 2.0, "y": 4.0}], False)
    [(0.0, 0.5), (2.0, 3.5)]
    """
    places = [(float(point["x"]), float(point["y"])) for point in points]
    if by_size or len(places) < 3:
        return places
    n = len(places)
    mean_x, mean_y = sum(x for x, _ in places) / n, sum(y for _, y in places) / n
    spread = sum((x - mean_x) ** 2 for x, _ in places)
    if spread <= 1e-15:
        return []
    slope = sum((x - mean_x) * (y - mean_y) for x, y in places) / spread
    return [(x, mean_y + slope * (x - mean_x)) for x in (places[0][0], places[-1][0])]


def _sizes(points: Sequence[Json], across: Span) -> Scale:
    sizes = sorted({float(point["x"]) for point in points})
    return Scale(sizes[0] - 0.5, sizes[-1] + 0.5, *across, tuple(sizes))


def _axes(x: Scale, y: Scale, name: str, across: Span) -> list[str]:
    parts = [line(across[0], y(at), across[1], y(at), "axis" if at == 0 else "grid") for at in y.ticks]
    parts += [text(across[0] - 5, y(at) + 4, tick_label(at), "ts", 10.5, text_anchor="end") for at in y.ticks]
    for at in x.ticks:
        parts.append(line(x(at), y.start, x(at), y.start + 4, "axis"))
        parts.append(text(x(at), y.start + 16, tick_label(at), "ts", 10.5, text_anchor="middle"))
    shown = clip(name, across[1] - across[0] + 20, 11)
    return [*parts, text((across[0] + across[1]) / 2, y.start + 32, shown, "ts", 11, text_anchor="middle")]


def _series(
    series: Json, ends: Sequence[Place], order: Sequence[str], metric: str, axes: tuple[Scale, Scale],
    moved: float,
) -> list[str]:  # fmt: skip
    x, y = axes
    place = order.index(series["method"])
    style, joined = f"o{place % SERIES}", len(ends) == len(series["points"])
    path = " ".join(f"{x(a) + moved:.1f},{y(b):.1f}" for a, b in ends)
    dashes = {"stroke_dasharray": DASHES[min(place // SERIES, 2)]} if place >= SERIES else {}
    parts = [mark("polyline", style, points=path, fill="none", stroke_width=1.4, stroke_opacity="0.75",
                  **dashes)] if len(ends) > 1 else []  # fmt: skip
    places = [(x(point["x"]) + moved, point) for point in series["points"]]
    parts += whiskers(places, y, thin=joined, style=style)
    for at, point in places:
        tip = tip_of(point, f"{series['method']}, {point['name']}", metric)
        parts.append(series_mark(place, at, y(point["y"]), tip, 0.7 if joined else 0.6))
    return parts

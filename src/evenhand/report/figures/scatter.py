"""Clouds of points with their 95 % ellipses: the change of each class's error rates, for each alternative."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.report.figures.canvas import clip, figure, line, mark, text, text_width
from evenhand.report.figures.point_names import placed
from evenhand.report.figures.scale import Scale, nice_scale, tick_label
from evenhand.report.numbers import number
from evenhand.report.palette import SERIES

CHI2_95 = 5.991  # the 0.95 quantile of chi-square with two degrees of freedom
DASHES = ("", "7 4", "2 3", "10 3 2 3")  # of outlines, one for every time that colours come round
Point = tuple[str, float, float]


@dataclass(frozen=True)
class Cloud:
    """The points (name, x, y) of one alternative."""

    name: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Ellipse:
    """Centre, half axes and angle (radians) of an ellipse."""

    x: float
    y: float
    a: float
    b: float
    angle: float

    def outline(self, steps: int = 72) -> list[tuple[float, float]]:
        """Points along the ellipse."""
        cos, sin = math.cos(self.angle), math.sin(self.angle)
        turns = [2 * math.pi * i / steps for i in range(steps)]
        ring = [(self.a * math.cos(turn), self.b * math.sin(turn)) for turn in turns]
        return [(self.x + u * cos - v * sin, self.y + u * sin + v * cos) for u, v in ring]


def ellipse(points: Sequence[tuple[float, float]]) -> Ellipse | None:
    """The ellipse that holds 95 % of a normal cloud with the mean and covariance of `points`.

    None for fewer than three points or when all coincide; points on a line give an ellipse without width.

    >>> e = ellipse([(0.0, 0.0), (1.0, 1.0), (2.0, 2.0)])
    >>> round(e.x, 3), round(e.angle, 4), e.b
    (1.0, 0.7854, 0.0)
    """
    if len(points) < 3:
        return None
    n = len(points)
    mean_x, mean_y = sum(x for x, _ in points) / n, sum(y for _, y in points) / n
    xx = sum((x - mean_x) ** 2 for x, _ in points) / (n - 1)
    yy = sum((y - mean_y) ** 2 for _, y in points) / (n - 1)
    xy = sum((x - mean_x) * (y - mean_y) for x, y in points) / (n - 1)
    middle, half = (xx + yy) / 2, math.hypot((xx - yy) / 2, xy)
    if middle + half <= 1e-18:
        return None
    # below rounding error of the larger variance the smaller one is zero: the points lie on a line
    smaller = middle - half if middle - half > 1e-12 * (middle + half) else 0.0
    a, b = (math.sqrt(CHI2_95 * variance) for variance in (middle + half, smaller))
    return Ellipse(mean_x, mean_y, a, b, 0.5 * math.atan2(2 * xy, xx - yy))


def scatter(clouds: Sequence[Cloud], *, title: str, x_axis: str, y_axis: str, width: float = 760) -> str:
    """Points, ellipses and a key; the farthest point of each cloud has its name, where there is room.

    >>> scatter([Cloud("small", (("cat", 0.1, 0.2),))], title="t", x_axis="x", y_axis="y").count("<polygon")
    0
    """
    rings = [ellipse([(x, y) for _, x, y in cloud.points]) for cloud in clouds]
    outlines = [ring.outline() if ring else [] for ring in rings]
    every = [(x, y) for cloud in clouds for _, x, y in cloud.points] + [p for ring in outlines for p in ring]
    top = 40.0 + 20.0 * _key_rows(clouds, width)
    height = top + (0.62 * width if width > 500 else 0.9 * width)
    across = nice_scale([0.0, *(x for x, _ in every)], 54, width - 14, 8 if width > 500 else 4)
    down = nice_scale([0.0, *(y for _, y in every)], height - 46, top, 8)
    parts = _axes(across, down, x_axis, y_axis)
    for i, (cloud, outline) in enumerate(zip(clouds, outlines, strict=True)):
        parts += _cloud(i, cloud, outline, across, down)
    parts += _names(clouds, across, down)
    told = "; ".join(f"{cloud.name}: {len(cloud.points)} classes" for cloud in clouds)
    return figure(width, height, title, told, [*_key(clouds, width), *parts])


def _axes(across: Scale, down: Scale, x_axis: str, y_axis: str) -> list[str]:
    parts = [
        line(across(x), down.end, across(x), down.start, "axis" if x == 0 else "grid") for x in across.ticks
    ]
    parts += [
        line(across.start, down(y), across.end, down(y), "axis" if y == 0 else "grid") for y in down.ticks
    ]
    parts += [
        text(across(x), down.start + 16, tick_label(x), "ts", 11, text_anchor="middle") for x in across.ticks
    ]
    parts += [
        text(across.start - 6, down(y) + 4, tick_label(y), "ts", 11, text_anchor="end") for y in down.ticks
    ]
    parts.append(
        text((across.start + across.end) / 2, down.start + 36, x_axis, "ts", 12, text_anchor="middle")
    )
    parts.append(text(across.start - 50, down.end - 10, y_axis, "ts", 12))
    return parts


def _cloud(i: int, cloud: Cloud, outline: list[tuple[float, float]], across: Scale, down: Scale) -> list[str]:
    parts = []
    if outline:
        ring = " ".join(f"{across(x):.1f},{down(y):.1f}" for x, y in outline)
        parts.append(
            mark("polygon", f"f{i % SERIES}", points=ring, fill_opacity="0.07", stroke_width=1.5, **dashes(i))
        )
    for name, x, y in cloud.points:
        moved = f"false positives {number(x, signed=True)}\nfalse negatives {number(y, signed=True)}"
        tip = f"{cloud.name} · {name}\n{moved}"
        parts.append(symbol(i, across(x), down(y), tip))
    return parts


def _names(clouds: Sequence[Cloud], across: Scale, down: Scale) -> list[str]:
    """The name of the farthest point of each cloud, over everything that is drawn."""
    if across.end <= 500:  # on a narrow figure they would be all that is seen
        return []
    every = [(across(x), down(y)) for cloud in clouds for _, x, y in cloud.points]
    farthest = [max(cloud.points, key=lambda point: math.hypot(point[1], point[2]))
                for cloud in clouds if cloud.points]  # fmt: skip
    names = [(name, (across(x), down(y))) for name, x, y in farthest]
    found = placed(names, every, (across.start, down.end, across.end, down.start))
    return [text(left, bottom - 2, name, "t", 11) for name, (left, _, _, bottom) in found]


def dashes(i: int) -> dict[str, str]:
    """How the outline of a series is drawn: where colours come round, lines are broken in another way.

    >>> dashes(1), dashes(9)
    ({}, {'stroke_dasharray': '7 4'})
    """
    pattern = DASHES[i // SERIES % len(DASHES)]
    return {"stroke_dasharray": pattern} if pattern else {}


def symbol(
    i: int, x: float, y: float, tip: str, size: float = 1.0, opacity: float = 0.75, form: int | None = None
) -> str:
    """Circle, square, diamond, triangle in turn: series can be told apart without colour.

    `form` is that of another series. No two of the first 32 series look alike.

    >>> symbol(1, 10, 10, "").startswith("<rect")
    True
    >>> symbol(0, 10, 10, "") == symbol(8, 10, 10, "")
    False
    """
    style, pale = f"f{i % SERIES}", {"fill_opacity": f"{opacity:g}"}
    form = i + i // SERIES if form is None else form  # where colours come round, marks are one further
    if opacity < 0.5:
        pale["stroke_opacity"] = f"{opacity:g}"
    if form % 4 == 0:
        return mark("circle", style, tip, cx=x, cy=y, r=4 * size, **pale)
    if form % 4 == 1:
        half = 3.5 * size
        return mark("rect", style, tip, x=x - half, y=y - half, width=2 * half, height=2 * half, **pale)
    ends = [(0, -5), (5, 0), (0, 5), (-5, 0)] if form % 4 == 2 else [(0, -4.8), (4.8, 4), (-4.8, 4)]
    points = " ".join(f"{x + u * size:.1f},{y + v * size:.1f}" for u, v in ends)
    return mark("polygon", style, tip, points=points, **pale)


def _key_places(clouds: Sequence[Cloud], width: float) -> list[tuple[float, int]]:
    places, x, row = [], 8.0, 0
    for cloud in clouds:
        room = text_width(clip(cloud.name, 160, 12), 12) + 40
        if x + room > width and x > 8:
            x, row = 8.0, row + 1
        places.append((x, row))
        x += room
    return places


def _key_rows(clouds: Sequence[Cloud], width: float) -> int:
    return 1 + max((row for _, row in _key_places(clouds, width)), default=0)


def _key(clouds: Sequence[Cloud], width: float) -> list[str]:
    parts = []
    for i, (x, row) in enumerate(_key_places(clouds, width)):
        sample = mark("line", f"o{i % SERIES}", x1=x - 4, y1=12.0 + 20 * row, x2=x + 18, y2=12.0 + 20 * row,
                      stroke_width=1.5, **dashes(i))  # fmt: skip
        parts += [sample, symbol(i, x + 7, 12.0 + 20 * row, "")]
        parts.append(text(x + 22, 16.0 + 20 * row, clip(clouds[i].name, 160, 12), "t", 12))
    return parts

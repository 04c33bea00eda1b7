"""Clouds of points one by one: a small panel each, on common axes, over a grey cloud to be seen against."""

from __future__ import annotations

import math
from collections.abc import Sequence

from evenhand.report.figures.canvas import clip, figure, line, mark, text
from evenhand.report.figures.scale import Scale, nice_scale, tick_label
from evenhand.report.figures.scatter import Cloud, ellipse
from evenhand.report.numbers import number

LEFT, TOP, FOOT, GAP = 46.0, 40.0, 44.0, 14.0
HEAD = 22.0  # room for the name of a panel
Outline = list[tuple[float, float]]


def panels(
    clouds: Sequence[Cloud], behind: Cloud, *, title: str, x_axis: str, y_axis: str, width: float = 760
) -> str:
    """Each cloud with its 95 % ellipse in a panel of its own; `behind` is the grey cloud of every panel.

    >>> one, two = Cloud("kd", (("cat", 0.1, 0.2),)), Cloud("pruning", (("cat", 0.3, 0.1),))
    >>> panels([one], two, title="t", x_axis="x", y_axis="y").count("<circle")
    2
    """
    columns = 3 if width > 500 else 2
    side = (width - LEFT - 8 - GAP * (columns - 1)) / columns
    every = [point for cloud in (*clouds, behind) for point in _reach(cloud)]
    parts = [text(0, 14, f"up: {y_axis}; right: {x_axis}; grey: {behind.name}", "ts", 12)]
    for place, cloud in enumerate(clouds):
        left = LEFT + (place % columns) * (side + GAP)
        top = TOP + HEAD + (place // columns) * (side + HEAD + GAP)
        across = nice_scale([0.0, *(x for x, _ in every)], left, left + side, 3)
        down = nice_scale([0.0, *(y for _, y in every)], top + side, top, 4)
        parts += [text(left, top - 6, clip(cloud.name, side, 13), "t", 13, font_weight="600")]
        parts += _frame(across, down, place % columns == 0, place + columns >= len(clouds))
        parts += [*_drawn(behind, across, down, "grey"), *_drawn(cloud, across, down, "f0")]
    rows = math.ceil(len(clouds) / columns)
    told = "; ".join(f"{cloud.name}: {len(cloud.points)} classes" for cloud in clouds)
    return figure(width, TOP + rows * (side + HEAD + GAP) - GAP + FOOT, title, told, parts)


def _reach(cloud: Cloud) -> Outline:
    ring = ellipse([(x, y) for _, x, y in cloud.points])
    return [(x, y) for _, x, y in cloud.points] + (ring.outline() if ring else [])


def _frame(across: Scale, down: Scale, first: bool, last: bool) -> list[str]:
    """Grid; numbers at the first panel of a line and under the last of a column."""
    parts = [
        line(across(x), down.end, across(x), down.start, "axis" if x == 0 else "grid") for x in across.ticks
    ]
    parts += [
        line(across.start, down(y), across.end, down(y), "axis" if y == 0 else "grid") for y in down.ticks
    ]
    if first:
        parts += [
            text(across.start - 6, down(y) + 4, tick_label(y), "ts", 11, text_anchor="end")
            for y in down.ticks
        ]
    if last:
        parts += [
            text(across(x), down.start + 16, tick_label(x), "ts", 11, text_anchor=_anchor(x, across))
            for x in across.ticks
        ]
    return parts


def _anchor(x: float, across: Scale) -> str:
    """Numbers at the ends stay inside, so that they do not touch those of the next panel."""
    return "start" if x == across.low else "end" if x == across.high else "middle"


def _drawn(cloud: Cloud, across: Scale, down: Scale, style: str) -> list[str]:
    """The ellipse and the points of a cloud; the farthest point of the one in front carries its name."""
    ring, front, parts = ellipse([(x, y) for _, x, y in cloud.points]), style != "grey", list[str]()
    colour = style if front else "band"
    if ring:
        outline = " ".join(f"{across(x):.1f},{down(y):.1f}" for x, y in ring.outline())
        look = {"fill_opacity": "0.08", "stroke_width": 1.5} if front else {"fill_opacity": "0.6"}
        parts.append(mark("polygon", colour, points=outline, **look))
    for name, x, y in cloud.points:
        moved = f"false positives {number(x, signed=True)}\nfalse negatives {number(y, signed=True)}"
        tip = f"{cloud.name} · {name}\n{moved}"
        look = {"fill_opacity": "0.45"} if not front else {}
        place = {"cx": across(x), "cy": down(y), "r": 3 if front else 2.5}
        parts.append(mark("circle", style if front else "ts", tip, **place, **look))
    if front and cloud.points:
        name, x, y = max(cloud.points, key=lambda point: math.hypot(point[1], point[2]))
        end = across(x) > across.end - 40
        parts.append(
            text(across(x) + (-6 if end else 6), down(y) + 4, clip(name, 80, 11), "t", 11,
                 text_anchor="end" if end else "start")
        )  # fmt: skip
    return parts

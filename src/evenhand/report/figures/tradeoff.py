"""Accuracy against a gap: every run a pale mark, every method its mean with intervals, the frontier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.report.figures.canvas import clip, figure, line, mark, text, text_width
from evenhand.report.figures.scale import Scale, nice_scale, tick_label
from evenhand.report.figures.scatter import symbol
from evenhand.report.numbers import defined, interval, number

LEFT, RIGHT, TOP, BOTTOM = 52.0, 14.0, 30.0, 50.0
LABEL = 12.0  # size of a method's name
Range = tuple[float | None, float | None]
Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Spot:
    """A method: its runs (name, x, y), the mean of both numbers, and the intervals of these means."""

    name: str
    runs: tuple[tuple[str, float, float], ...]
    x: float
    y: float
    x_range: Range = (None, None)
    y_range: Range = (None, None)

    @property
    def tip(self) -> str:
        """What is told on hover."""
        lines = [self.name, f"accuracy {number(self.x)} ({interval(self.x_range)})"]
        return "\n".join([*lines, f"gap {number(self.y)} ({interval(self.y_range)})"])


def tradeoff(
    spots: Sequence[Spot],
    frontier: Sequence[str],
    *,
    title: str,
    y_axis: str,
    higher: bool = False,
    width: float = 440,
) -> str:
    """A scatter plot with names at the means; `frontier` names the methods that none beats in both numbers.

    `higher`: the second number is better where it is higher, so the frontier goes round the upper side.

    >>> spots = [Spot("erm", (("seed 0", 0.85, 0.1),), 0.85, 0.1), Spot("gap", (), 0.84, 0.04)]
    >>> tradeoff(spots, ["erm", "gap"], title="t", y_axis="gap").count("<polyline")
    1
    """
    height = 0.78 * width
    xs = [v for spot in spots for v in (spot.x, *spot.x_range, *(x for _, x, _ in spot.runs))]
    ys = [v for spot in spots for v in (spot.y, *spot.y_range, *(y for _, _, y in spot.runs))]
    across = nice_scale(xs, LEFT, width - RIGHT, 5)
    down = nice_scale([*([] if higher else [0.0]), *ys], height - BOTTOM, TOP, 5)
    parts = axes(across, down, y_axis, higher) + _frontier(spots, frontier, across, down, higher)
    parts += [part for i, spot in enumerate(spots) for part in _runs(i, spot, across, down)]
    parts += [part for i, spot in enumerate(spots) for part in mean_mark(i, spot, across, down)]
    return figure(width, height, title, _description(spots), parts + name_labels(spots, across, down))


def axes(
    across: Scale, down: Scale, y_axis: str, higher: bool, x_axis: str = "accuracy", aim: str = ""
) -> list[str]:
    """Grid, ticks, and what is written at the two axes; `aim` says which way is wanted, if not equality."""
    parts = [line(across(x), down.end, across(x), down.start, "grid") for x in across.ticks]
    parts += [
        line(across.start, down(y), across.end, down(y), "axis" if y == 0 else "grid") for y in down.ticks
    ]
    parts += [
        text(across(x), down.start + 16, tick_label(x), "ts", 11, text_anchor="middle") for x in across.ticks
    ]
    parts += [text(LEFT - 6, down(y) + 4, tick_label(y), "ts", 11, text_anchor="end") for y in down.ticks]
    parts.append(text(across.end, down.start + 36, f"{x_axis}  (higher →)", "ts", 12, text_anchor="end"))
    aim = aim or ("higher is nearer to equality ↑" if higher else "lower is nearer to equality ↓")
    return [*parts, text(2, 14, f"{clip(y_axis, across.end - 150, 12)}  ({aim})", "ts", 12)]


def _frontier(
    spots: Sequence[Spot], names: Sequence[str], across: Scale, down: Scale, higher: bool
) -> list[str]:
    """The edge of what was reached: down to the most accurate, then to the left, step by step."""
    places = {spot.name: (spot.x, spot.y) for spot in spots}
    return staircase([places[name] for name in names if name in places], across, down, higher)


def staircase(
    points: Sequence[tuple[float, float]], across: Scale, down: Scale, higher: bool = False
) -> list[str]:
    """The line through points of which none is beaten, in steps: from the most accurate one to the left."""
    ordered = sorted(((across(x), down(y)) for x, y in points), reverse=True)
    if not ordered:
        return []
    corners = [(ordered[0][0], down.start if higher else down.end), ordered[0]]
    for x, y in ordered[1:]:
        corners += [(x, corners[-1][1]), (x, y)]
    corners.append((across.start, corners[-1][1]))
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
    return [mark("polyline", "ref", points=path, fill="none", stroke_width=1.25, stroke_dasharray="4 4",
                 stroke_opacity="0.6")]  # fmt: skip


def _runs(i: int, spot: Spot, across: Scale, down: Scale) -> list[str]:
    tips = [f"{spot.name} · {name}\naccuracy {number(x)}\ngap {number(y)}" for name, x, y in spot.runs]
    return [
        symbol(i, across(x), down(y), tip, opacity=0.3)
        for tip, (_, x, y) in zip(tips, spot.runs, strict=True)
    ]


def mean_mark(i: int, spot: Spot, across: Scale, down: Scale) -> list[str]:
    """A mean with the cross of its two intervals."""
    x, y, style = across(spot.x), down(spot.y), f"o{i % 8}"
    parts = []
    if all(defined(end) for end in spot.x_range):
        ends = [across(float(end)) for end in spot.x_range if end is not None]
        parts.append(line(ends[0], y, ends[1], y, style, stroke_width=2))
    if all(defined(end) for end in spot.y_range):
        ends = [down(float(end)) for end in spot.y_range if end is not None]
        parts.append(line(x, ends[0], x, ends[1], style, stroke_width=2))
    return [*parts, symbol(i, x, y, spot.tip, size=1.6)]


def name_labels(spots: Sequence[Spot], across: Scale, down: Scale) -> list[str]:
    """Names beside their means, where they cover neither each other nor another mark if that can be."""
    taken = [box for spot in spots for box in _crosses(spot, across, down)]
    parts = []
    for spot in sorted(spots, key=lambda spot: down(spot.y)):
        name = clip(spot.name, 120, LABEL)
        room = 1.1 * text_width(name, LABEL)  # bold letters are wider
        box = _place(_crosses(spot, across, down), room, across, down, taken)
        taken.append(box)
        left = box[2] < across(spot.x)
        at, anchor = (box[2], "end") if left else (box[0], "start")
        parts.append(text(at, box[3] - 3, name, "t", LABEL, text_anchor=anchor, font_weight="600"))
    return parts


def _crosses(spot: Spot, across: Scale, down: Scale) -> list[Box]:
    """The boxes that a mean and its two intervals fill: across, then down."""
    x, y = across(spot.x), down(spot.y)
    xs = [across(end) for end in spot.x_range if end is not None and defined(end)]
    ys = [down(end) for end in spot.y_range if end is not None and defined(end)]
    wide = (min([x - 8, *xs]), y - 3, max([x + 8, *xs]), y + 3)
    return [wide, (x - 3, min([y - 8, *ys]), x + 3, max([y + 8, *ys]))]


def _place(cross: Sequence[Box], room: float, across: Scale, down: Scale, taken: Sequence[Box]) -> Box:
    """The first free place around a mark inside the axes: right of it, left, above, below, farther away."""
    (left, top, right, bottom), (start, high, end, low) = cross
    x, y = (start + end) / 2, (top + bottom) / 2
    places = [(right + 4, y - 7), (left - 4 - room, y - 7), (x + 8, y - 20), (x - 8 - room, y - 20)]
    places += [(x - room / 2, high - 16), (x - room / 2, low + 2)]
    places += [(x + 11, y + shift) for shift in (8, -34, 22, -48, 36)]
    boxes = [(one, two, one + room, two + 14) for one, two in places]
    inside = [box for box in boxes if box[0] > across.start and box[2] <= across.end + RIGHT] or boxes
    inside = [box for box in inside if down.end - 10 <= box[1] and box[3] <= down.start + 8] or inside
    free = [box for box in inside if not any(_overlap(box, other) for other in taken)]
    return (free or inside)[0]


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _description(spots: Sequence[Spot]) -> str:
    return "; ".join(f"{spot.name}: accuracy {number(spot.x)}, {number(spot.y)}" for spot in spots)

"""Mean ranks on a line; methods joined by a bar are not told apart (Demšar 2006)."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.report.figures.canvas import clip, figure, line, text
from evenhand.report.figures.scale import Scale, tick_label
from evenhand.report.numbers import number

AXIS, STEP, BAR = 62.0, 24.0, 11.0  # height of the axis, of a name, of a bar


def critical_difference(
    methods: Sequence[str],
    ranks: Sequence[float],
    distance: float | None,
    cliques: Sequence[Sequence[str]],
    *,
    title: str,
    width: float = 760,
) -> str:
    """The diagram: rank 1 on the left, names on both sides, a bar for each clique of two or more.

    >>> svg = critical_difference(["a", "b", "c"], [1.2, 1.9, 2.9], 1.0, [["a", "b"]], title="ranks")
    >>> svg.count('stroke-width="5"'), "a 1.20" in svg
    (1, True)
    """
    order = sorted(range(len(methods)), key=lambda i: ranks[i])
    place = {methods[i]: ranks[i] for i in order}
    bars = [clique for clique in cliques if sum(name in place for name in clique) > 1]
    room = min(170.0, 0.3 * width)
    scale = _scale(len(methods), room, width)
    under = AXIS + 14 + BAR * len(bars)
    half = (len(order) + 1) // 2
    parts = _axis(scale) + _distance(scale, distance) + _bars(bars, place, scale)
    for row, i in enumerate(order[:half]):
        parts += _name(methods[i], ranks[i], scale, under + STEP * (row + 0.6), 0.0, room)
    for row, i in enumerate(reversed(order[half:])):
        parts += _name(methods[i], ranks[i], scale, under + STEP * (row + 0.6), width, room)
    told = "; ".join(f"{methods[i]}: mean rank {number(ranks[i], 2)}" for i in order)
    return figure(width, under + STEP * half + 8, title, told, parts)


def _scale(count: int, room: float, width: float) -> Scale:
    last = max(count, 2)
    step = 1 if last <= 12 else 5
    ticks = tuple(float(x) for x in range(1, last + 1) if x == 1 or x % step == 0)
    return Scale(1.0, float(last), room + 8, width - room - 8, ticks)


def _axis(scale: Scale) -> list[str]:
    parts = [line(scale.start, AXIS, scale.end, AXIS, "ref", stroke_width=1.5)]
    for x in scale.ticks:
        parts.append(line(scale(x), AXIS - 6, scale(x), AXIS, "ref", stroke_width=1.5))
        parts.append(text(scale(x), AXIS - 12, tick_label(x), "ts", 11, text_anchor="middle"))
    parts.append(text(scale.start - 14, AXIS - 12, "mean rank", "ts", 11, text_anchor="end"))
    return parts


def _distance(scale: Scale, distance: float | None) -> list[str]:
    """How far two mean ranks must be apart, as a length of the same scale."""
    if distance is None:
        return []
    length = min(distance / (scale.high - scale.low), 1.0) * (scale.end - scale.start)
    end = scale.start + length
    parts = [line(scale.start, 22, end, 22, "bar", stroke_width=2)]
    parts += [line(x, 17, x, 27, "bar", stroke_width=2) for x in (scale.start, end)]
    cut = "" if distance <= scale.high - scale.low else ", longer than the axis"
    return [
        *parts,
        text(scale.start, 11, f"critical difference {number(distance, 2)}{cut}", "ts", 11),
    ]


def _bars(cliques: Sequence[Sequence[str]], place: dict[str, float], scale: Scale) -> list[str]:
    parts = []
    for row, clique in enumerate(cliques):
        found = [place[name] for name in clique if name in place]
        y = AXIS + 12 + BAR * row
        ends = scale(min(found)) - 5, scale(max(found)) + 5
        parts.append(line(*(ends[0], y, ends[1], y), "bar", stroke_width=5, stroke_linecap="round"))
    return parts


def _name(name: str, rank: float, scale: Scale, y: float, edge: float, room: float) -> list[str]:
    """A name at the edge, with its line down from the axis."""
    left = edge == 0.0
    inner = room if left else edge - room
    shown = clip(name, room - 50, 13)
    parts = [line(scale(rank), AXIS, scale(rank), y, "axis"), line(scale(rank), y, inner, y, "axis")]
    at = inner - 6 if left else inner + 6
    anchor = "end" if left else "start"
    value = number(rank, 2)
    told = f"{shown} {value}" if left else f"{value} {shown}"
    return [*parts, text(at, y + 4.5, told, "t", 13, f"{name}\nmean rank {value}", text_anchor=anchor)]

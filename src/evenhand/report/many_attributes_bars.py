"""A panel of bars: a mean for each method, its 68 % interval thick and its 95 % interval thin."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evenhand.report.figures.canvas import line, mark, text
from evenhand.report.figures.scale import nice_scale, tick_label
from evenhand.report.figures.scatter import symbol
from evenhand.report.numbers import interval, number
from evenhand.report.palette import SERIES

Json = Mapping[str, Any]
Span = tuple[float, float]
OPAQUE, PALE = 0.8, 0.4


def bar_panel(panel: Json, order: Sequence[str], metric: str, across: Span, down: Span) -> list[str]:
    """Bars from zero, in the order of the key; what is undefined has none."""
    bars = panel["bars"]
    ends = [bar[key] for bar in bars for key in ("y", "low95", "high95")]
    y = nice_scale([0.0, *ends], down[1], down[0], 4)
    parts = [line(across[0], y(at), across[1], y(at), "axis" if at == 0 else "grid") for at in y.ticks]
    parts += [text(across[0] - 5, y(at) + 4, tick_label(at), "ts", 10.5, text_anchor="end") for at in y.ticks]
    wide, middles = (across[1] - across[0]) / max(1, len(bars)), list[tuple[float, Json]]()
    for place, bar in enumerate(bars):
        left = across[0] + wide * place + 0.12 * wide
        top, foot = sorted((y(bar["y"]), y(0.0)))
        number_of = order.index(bar["method"])
        style, tip = f"f{number_of % SERIES}", tip_of(bar, bar["method"], metric)
        parts.append(
            mark("rect", style, tip, x=left, y=top, width=0.76 * wide, height=max(0.8, foot - top),
                 stroke_width=0, fill_opacity=OPAQUE if number_of < SERIES else PALE)
        )  # fmt: skip
        middles.append((left + 0.38 * wide, bar))
    return parts + whiskers(middles, y)


def series_mark(place: int, x: float, y: float, tip: str = "", size: float = 1.0) -> str:
    """The mark of a method: colours begin anew after the eighth, hollow; after the sixteenth in other forms.

    >>> "fill-opacity=\\"0\\"" in series_mark(8, 1, 1), "fill-opacity=\\"0\\"" in series_mark(0, 1, 1)
    (True, False)
    >>> series_mark(8, 1, 1).split()[0], series_mark(16, 1, 1).split()[0]
    ('<circle', '<rect')
    """
    made = symbol(place, x, y, tip, size, OPAQUE, place + place // (2 * SERIES))
    return made if place < SERIES else made.replace(f'fill-opacity="{OPAQUE:g}"', 'fill-opacity="0"')


def whiskers(
    points: Sequence[tuple[float, Json]], y: Callable[[float], float], thin: bool = True, style: str = "ref"
) -> list[str]:
    """The intervals of points (place, numbers) as upright lines, one path a level, none where undefined."""
    parts = []
    for key, wide in (("95", 1.0), ("68", 2.8)):
        ends = [(x, point[f"low{key}"], point[f"high{key}"]) for x, point in points if thin or key == "68"]
        path = "".join(f"M{x:.1f} {y(low):.1f}V{y(high):.1f}" for x, low, high in ends if low is not None)
        if path:
            parts.append(mark("path", style, d=path, stroke_width=wide, stroke_opacity="0.75",
                              pointer_events="none"))  # fmt: skip
    return parts


def tip_of(point: Json, name: str, metric: str) -> str:
    """What is told on hover."""
    both = [f"{level} % {interval((point[f'low{level}'], point[f'high{level}']))}" for level in (68, 95)]
    return f"{name}\n{metric} {number(point['y'])}\n{both[0]}\n{both[1]}\n{point['n']} runs"

"""Bars in groups, several panels under one key: a number of every series for every metric, 0 to 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.report.figures.canvas import clip, figure, line, mark, text, text_width
from evenhand.report.figures.scale import Scale, tick_label
from evenhand.report.numbers import defined, number
from evenhand.report.palette import SERIES

LEFT, RIGHT, PANEL, GAP = 30.0, 4.0, 118.0, 46.0
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
UNSEEN = 0.01  # of a bar so low a line is drawn, so that 0 and "not there" differ


@dataclass(frozen=True)
class Bar:
    """A number, its deviation, and what is told on hover; None where there is none."""

    value: float | None
    spread: float | None = None
    tip: str = ""


@dataclass(frozen=True)
class Panel:
    """A title, and for every group a bar of every series."""

    title: str
    groups: tuple[tuple[Bar, ...], ...]


def bars(
    panels: Sequence[Panel], groups: Sequence[str], series: Sequence[str], *, title: str, width: float = 760
) -> str:
    """Panels one below the other; a whisker is the deviation to both sides.

    >>> panel = Panel("a", ((Bar(0.5, 0.1), Bar(None)), (Bar(0.0), Bar(1.0))))
    >>> svg = bars([panel], ["acc", "DP"], ["MLP", "CFAIR"], title="t")
    >>> svg.count('class="f0"') + svg.count('class="f1"')  # two of the key, three bars
    5
    """
    key, top = _key(series, width)
    parts = list(key)
    for place, panel in enumerate(panels):
        y = top + place * (PANEL + GAP)
        parts += _panel(panel, groups, y, width)
    height = top + len(panels) * (PANEL + GAP) + 2
    return figure(width, height, title, _description(panels, groups, series), parts)


def _panel(panel: Panel, groups: Sequence[str], y: float, width: float) -> list[str]:
    down = Scale(0.0, 1.0, y + 16 + PANEL, y + 16, TICKS)
    parts = [text(LEFT, y + 8, panel.title, "t", 12.5)]
    parts += [line(LEFT, down(x), width - RIGHT, down(x), "axis" if x == 0 else "grid") for x in TICKS]
    parts += [text(LEFT - 5, down(x) + 4, tick_label(x), "ts", 10.5, text_anchor="end") for x in TICKS[::2]]
    room = (width - LEFT - RIGHT) / max(1, len(groups))
    for place, (name, group) in enumerate(zip(groups, panel.groups, strict=True)):
        start = LEFT + room * place
        parts.append(
            text(
                start + room / 2, down.start + 14, clip(name, room, 11), "ts", 11, name, text_anchor="middle"
            )
        )
        parts += _group(group, start + room * 0.08, room * 0.84, down)
    return parts


def _group(group: Sequence[Bar], start: float, room: float, down: Scale) -> list[str]:
    wide = room / max(1, len(group))
    parts = []
    for i, bar in enumerate(group):
        if bar.value is None or not defined(bar.value):
            continue
        x, top = start + wide * i, min(down(bar.value), down(UNSEEN))
        parts.append(
            mark("rect", f"f{i % SERIES}", bar.tip, x=x, y=top, width=max(1.0, wide - 1),
                 height=down.start - top, stroke_width=0, fill_opacity=0.85)
        )  # fmt: skip
        if bar.spread is not None and defined(bar.spread) and bar.spread > 0:
            middle = x + (wide - 1) / 2
            foot, head = down(bar.value - bar.spread), down(bar.value + bar.spread)
            parts.append(line(middle, foot, middle, head, "ref", stroke_width=1, pointer_events="none"))
    return parts


def _key(series: Sequence[str], width: float) -> tuple[list[str], float]:
    """Squares with their names, in as many lines as they take; and where they end."""
    parts, x, y = [], LEFT, 12.0
    for i, name in enumerate(series):
        room = text_width(name, 12) + 30
        if x + room > width and x > LEFT:
            x, y = LEFT, y + 19
        parts.append(mark("rect", f"f{i % SERIES}", x=x, y=y - 9, width=11, height=11, stroke_width=0))
        parts.append(text(x + 16, y + 1, name, "t", 12))
        x += room
    return parts, y + 18


def _description(panels: Sequence[Panel], groups: Sequence[str], series: Sequence[str]) -> str:
    told = [
        f"{panel.title}, {group}: " + ", ".join(
            f"{name} {number(bar.value, 2)}" for name, bar in zip(series, bars, strict=False)
        )
        for panel in panels
        for group, bars in zip(groups, panel.groups, strict=True)
    ]  # fmt: skip
    return "; ".join(told[:40])

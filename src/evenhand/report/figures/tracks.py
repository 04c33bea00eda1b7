"""The grid of a figure whose rows are tracks: one mark for all its short lines."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.report.figures.canvas import mark, text, text_width
from evenhand.report.figures.scale import Scale, tick_label


def track_grid(scale: Scale, spans: Sequence[tuple[float, float]]) -> str:
    """A vertical line at every tick, along the tracks only (each a top and a bottom).

    >>> track_grid(Scale(0, 1, 10, 20, (0.0, 1.0)), [(5.0, 15.0)])
    '<path class="grid" stroke="#e2e4e7" d="M10 5V15M20 5V15" fill="none"/>'
    """
    lines = [f"M{scale(x):.5g} {top:.5g}V{bottom:.5g}" for top, bottom in spans for x in scale.ticks]
    return mark("path", "grid", d="".join(lines), fill="none")


def track_ticks(scale: Scale, y: float, width: float, plus: bool = False) -> list[str]:
    """The numbers below the tracks; those at the ends move inwards, so that nothing is cut off.

    >>> "x=\\"0\\"" in track_ticks(Scale(0, 1, 0, 100, (0.0, 1.0)), 9, 100)[0]
    False
    """
    labels = [(scale(x), f"+{tick_label(x)}" if plus and x > 0 else tick_label(x)) for x in scale.ticks]
    return [
        text(min(max(x, half), width - half), y, label, "ts", 11, text_anchor="middle")
        for x, label in labels
        for half in (text_width(label, 11) / 2,)
    ]

"""The grid of a figure whose rows are tracks: one mark for all its short lines."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.report.figures.canvas import mark
from evenhand.report.figures.scale import Scale


def track_grid(scale: Scale, spans: Sequence[tuple[float, float]]) -> str:
    """A vertical line at every tick, along the tracks only (each a top and a bottom).

    >>> track_grid(Scale(0, 1, 10, 20, (0.0, 1.0)), [(5.0, 15.0)])
    '<path class="grid" stroke="#e2e4e7" d="M10 5V15M20 5V15" fill="none"/>'
    """
    lines = [f"M{scale(x):.5g} {top:.5g}V{bottom:.5g}" for top, bottom in spans for x in scale.ticks]
    return mark("path", "grid", d="".join(lines), fill="none")

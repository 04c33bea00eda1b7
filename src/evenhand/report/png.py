"""Figures as bitmaps, through the optional extra `png` (cairosvg)."""

from __future__ import annotations

import importlib


def to_png(svg: str, scale: float = 2.0) -> bytes:
    """The PNG of one of our figures; `scale` is in pixels for each unit of the figure.

    >>> from evenhand.report.figures import forest, ForestRow
    >>> to_png(forest([ForestRow("tpr gap", 0.3, 0.2, 0.4)], title="gaps"))[1:4]  # doctest: +SKIP
    b'PNG'
    """
    try:
        cairosvg = importlib.import_module("cairosvg")
    except ImportError as error:
        raise ImportError("PNG figures need cairosvg: pip install 'evenhand[png]'") from error
    data: bytes = cairosvg.svg2png(bytestring=svg.encode(), scale=scale, background_color="white")
    return data

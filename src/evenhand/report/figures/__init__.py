"""SVG figures of our own: pure functions from numbers to a string, with no drawing library behind them."""

from evenhand.report.figures.canvas import both_widths, clip, figure, mark, text
from evenhand.report.figures.forest import ForestRow, forest
from evenhand.report.figures.heatmap import heatmap
from evenhand.report.figures.legend import diverging_legend
from evenhand.report.figures.scale import Scale, nice_scale
from evenhand.report.figures.scatter import Cloud, ellipse, scatter
from evenhand.report.figures.strip import StripRow, strip
from evenhand.report.figures.tradeoff import Spot, tradeoff

__all__ = [
    "Cloud",
    "ForestRow",
    "Scale",
    "Spot",
    "StripRow",
    "both_widths",
    "clip",
    "diverging_legend",
    "ellipse",
    "figure",
    "forest",
    "heatmap",
    "mark",
    "nice_scale",
    "scatter",
    "strip",
    "text",
    "tradeoff",
]

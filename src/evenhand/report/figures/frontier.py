"""Accuracy against a metric, run by run: pale marks are runs, full ones those of the selected settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from evenhand.report.figures.canvas import figure, text
from evenhand.report.figures.canvas import line as rule
from evenhand.report.figures.scale import Scale, nice_scale
from evenhand.report.figures.tradeoff import (
    BOTTOM,
    LEFT,
    RIGHT,
    TOP,
    Spot,
    axes,
    mean_mark,
    name_labels,
    staircase,
)
from evenhand.report.numbers import defined, number
from evenhand.report.palette import SERIES, attributes

WIDTH, HEIGHT = 470.0, 380.0
MOST_NAMES = 12  # more names than that would cover the marks
# shapes by series, drawn from their middle: square, diamond, triangle; the first is a circle
SHAPES = ("", "m-2.9-2.9h5.8v5.8h-5.8z", "m0-4.1l4.1 4.1-4.1 4.1-4.1-4.1z", "m0-3.9l3.9 7.1h-7.8z")


@dataclass(frozen=True)
class Run:
    """A point: its number in the list of runs, its place, and whether its setting is the selected one."""

    index: int
    x: float
    y: float
    selected: bool = False


@dataclass(frozen=True)
class Mean(Spot):
    """The mean of a setting, told in `words`."""

    words: str = ""

    @property
    def tip(self) -> str:
        """What is told on hover."""
        return self.words or super().tip


@dataclass(frozen=True)
class Trail:
    """All runs of one method, the mean of its selected setting, and the number of its colour and shape."""

    name: str
    runs: tuple[Run, ...]
    mean: Mean | None = None
    series: int = 0


def frontier(
    trails: Sequence[Trail],
    line: Sequence[tuple[float, float]],
    *,
    title: str,
    x_axis: str,
    y_axis: str,
    higher: bool = False,
    aim: str = "",
    ideal: float | None = None,
    named: Sequence[str] = (),
) -> str:
    """A scatter plot of every run; `line` holds the points of the frontier, `named` whom to name if not all.

    `aim` says which way the second number is wanted; `ideal` is marked where that is a value.

    Marks carry only their number (`data-i`), so that twenty thousand of them stay small; the page has a list
    of the runs beside the figure and tells from it what a mark is.

    >>> trail = Trail("erm", (Run(0, 0.85, 0.1, True), Run(1, 0.84, 0.2)), Mean("erm", (), 0.85, 0.1))
    >>> frontier([trail], [(0.85, 0.1)], title="t", x_axis="accuracy", y_axis="gap").count("data-i")
    2
    """
    spots = [trail.mean for trail in trails if trail.mean]
    trails, beyond = _near_the_selected(trails)
    xs = [run.x for trail in trails for run in trail.runs] + [x for spot in spots for x in _xs(spot)]
    ys = [run.y for trail in trails for run in trail.runs] + [y for spot in spots for y in _ys(spot)]
    across = nice_scale(xs, LEFT, WIDTH - RIGHT, 5)
    aimed_at = [ideal] if ideal is not None else [] if higher else [0.0]
    down = nice_scale([*aimed_at, *ys], HEIGHT - BOTTOM, TOP, 5)
    parts = axes(across, down, y_axis, higher, x_axis, aim) + staircase(line, across, down, higher)
    if ideal is not None:
        parts.append(rule(across.start, down(ideal), across.end, down(ideal), "ref", stroke_width=1.25))
    parts += [_runs(trail, across, down) for trail in trails]
    for trail in trails:
        if trail.mean:
            parts.append(_grouped(trail.series, mean_mark(trail.series, trail.mean, across, down)))
    shown = [spot for spot in spots if len(spots) <= MOST_NAMES or spot.name in named]
    if beyond:
        words = f"{beyond:,} pale runs lie outside"
        parts.append(text(LEFT, down.start + 36, words, "ts", 11))
    told = "; ".join(f"{spot.name}: {x_axis} {number(spot.x)}, {number(spot.y)}" for spot in spots)
    return figure(WIDTH, HEIGHT, title, told, parts + name_labels(shown, across, down))


def _near_the_selected(trails: Sequence[Trail]) -> tuple[list[Trail], int]:
    """Without the runs so far away that the selected ones would crowd in a corner; how many those are.

    Far is more than the selected runs' own extent beyond them. Where nothing is selected, all are kept.
    """
    chosen = [run for trail in trails for run in trail.runs if run.selected]
    if not chosen:
        return list(trails), 0
    x_low, x_high = _reach([run.x for run in chosen])
    y_low, y_high = _reach([run.y for run in chosen])

    def near(run: Run) -> bool:
        return run.selected or (x_low <= run.x <= x_high and y_low <= run.y <= y_high)

    kept = [replace(trail, runs=tuple(filter(near, trail.runs))) for trail in trails]
    return kept, sum(len(trail.runs) for trail in trails) - sum(len(trail.runs) for trail in kept)


def _reach(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    span = max(high - low, 0.1)  # a tenth where all are nearly equal
    return low - span, high + span


def _xs(spot: Spot) -> list[float]:
    return [spot.x, *(end for end in spot.x_range if end is not None and defined(end))]


def _ys(spot: Spot) -> list[float]:
    return [spot.y, *(end for end in spot.y_range if end is not None and defined(end))]


def _runs(trail: Trail, across: Scale, down: Scale) -> str:
    """The marks of a method: those of settings that were not selected are pale and drawn first."""
    i = trail.series
    pale = [_point(i, run, across, down) for run in trail.runs if not run.selected]
    full = [_point(i, run, across, down) for run in trail.runs if run.selected]
    colours = "".join(f' {key}="{value}"' for key, value in attributes(f"f{i % SERIES}").items())
    layers = [
        f'<g class="f{i % SERIES}"{colours} fill-opacity="{opacity}" stroke-opacity="0">{"".join(marks)}</g>'
        for opacity, marks in (("0.22", pale), ("0.62", full))
        if marks
    ]
    return f'<g data-series="{i}">{"".join(layers)}</g>' if layers else ""


def _point(i: int, run: Run, across: Scale, down: Scale) -> str:
    x, y = f"{across(run.x):.1f}", f"{down(run.y):.1f}"
    if i % len(SHAPES) == 0:
        return f'<circle data-i="{run.index}" cx="{x}" cy="{y}" r="3.2"/>'
    return f'<path data-i="{run.index}" d="M{x} {y}{SHAPES[i % len(SHAPES)]}"/>'


def _grouped(i: int, parts: Sequence[str]) -> str:
    return f'<g data-series="{i}">{"".join(parts)}</g>'

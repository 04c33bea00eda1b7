"""Runs of each method in a strip, with two spreads: training again, and drawing other test rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.report.figures.canvas import clip, figure, line, mark, text
from evenhand.report.figures.scale import Scale, nice_scale
from evenhand.report.figures.tracks import track_grid, track_ticks
from evenhand.report.numbers import defined, number
from evenhand.report.palette import attributes

WIDTH, STEP, TOP = 440.0, 52.0, 24.0
EDGE = 20.0


@dataclass(frozen=True)
class Spread:
    """The runs of one method: values by seed, standard deviation over seeds, and over test rows alone."""

    label: str
    names: tuple[str, ...]
    values: tuple[float, ...]
    mean: float
    seed_std: float | None = None
    row_std: float | None = None


def seed_variance(rows: Sequence[Spread], *, title: str, over: str = "seeds") -> str:
    """A strip for each method: dots are runs, the dark bar one deviation over seeds, the pale one over rows.

    `over` names what the runs differ in: seeds, or nothing but being "runs".

    >>> row = Spread("erm", ("seed 0", "seed 1"), (0.1, 0.2), 0.15, 0.07, 0.02)
    >>> svg = seed_variance([row], title="runs")
    >>> svg.count("<circle"), "MaxDiff 0.100" in svg
    (2, True)
    """
    held = [
        x
        for row in rows
        for x in (*row.values, *_ends(row.mean, row.row_std), *_ends(row.mean, row.seed_std))
    ]
    scale = nice_scale(held, EDGE, WIDTH - EDGE, 5)
    bottom = TOP + STEP * len(rows)
    centres = [TOP + STEP * i + 38 for i in range(len(rows))]
    parts = [*_key(over), track_grid(scale, [(y - 12, y + 12) for y in centres])]
    for y, row in zip(centres, rows, strict=True):
        parts += _row(row, scale, y, over)
    parts += track_ticks(scale, bottom + 18, WIDTH)
    told = "; ".join(f"{row.label}: mean {number(row.mean)} ± {number(row.seed_std)}" for row in rows)
    return figure(WIDTH, bottom + 26, title, told, parts)


def _ends(mean: float, std: float | None) -> list[float]:
    return [mean - std, mean + std] if std is not None and defined(std) else []


def _key(over: str) -> list[str]:
    return [
        line(2, 8, 26, 8, "ref", stroke_width=2.5),
        text(32, 12, f"± 1 deviation over {over}", "ts", 11),
        line(190, 8, 214, 8, "chance", stroke_width=2.5),
        text(220, 12, "± 1 deviation over test rows alone", "ts", 11),
    ]


def _row(row: Spread, scale: Scale, y: float, over: str) -> list[str]:
    apart = max(row.values) - min(row.values) if row.values else None
    told = f"{number(row.mean)} ± {number(row.seed_std)}  ·  MaxDiff {number(apart)}"
    parts = [
        text(2, y - 19, clip(row.label, 190), "t", 13, row.label),
        text(WIDTH - 2, y - 19, told, "ts", 12, text_anchor="end"),
        _dots(row, scale, y),
    ]
    for std, style, shift, what in (
        (row.seed_std, "ref", 4.0, f"over {over}"),
        (row.row_std, "chance", 9.0, "over test rows alone"),
    ):
        if std is not None and defined(std):
            low, high = scale(row.mean - std), scale(row.mean + std)
            tip = f"{row.label}\nstandard deviation {what}: {number(std, 4)}"
            parts.append(
                mark("line", style, tip, x1=low, y1=y + shift, x2=high, y2=y + shift, stroke_width=2.5)
            )
    return [*parts, line(scale(row.mean), y - 10, scale(row.mean), y + 11, "ref", stroke_width=1.5)]


def _dots(row: Spread, scale: Scale, y: float) -> str:
    colours = "".join(f' {key}="{value}"' for key, value in attributes("dot").items())
    marks = [
        mark("circle", "", f"{row.label} · {name}\n{number(x, 4)}", cx=scale(x), cy=y - 4, r=3.5)
        for name, x in zip(row.names, row.values, strict=False)
    ]
    return f'<g class="dot"{colours} fill-opacity="0.45" stroke-opacity="0">{"".join(marks)}</g>'

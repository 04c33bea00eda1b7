"""Did the worst group gain or did the best one lose? Two arrows a method, from where the base stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.report.figures.canvas import clip, figure, line, mark, text, text_width
from evenhand.report.figures.scale import Scale, nice_scale
from evenhand.report.figures.tracks import track_grid, track_ticks
from evenhand.report.numbers import defined, number

WIDTH, STEP, TOP, EDGE = 440.0, 68.0, 10.0, 14.0
HEAD = 9.0  # length of an arrow's head


def levelling(rows: Sequence[Mapping[str, Any]], *, title: str) -> str:
    """Arrows of the changes; every row has method, worst, worst_change, best, best_change and verdict.

    >>> row = {"method": "gap", "worst": "a", "worst_change": 0.05, "best": "b", "best_change": -0.02,
    ...        "verdict": "worst gained"}
    >>> svg = levelling([row], title="levelling")
    >>> svg.count("<path"), "worst gained" in svg  # the grid and two heads of arrows
    (3, True)
    """
    scale = nice_scale(
        [0.0, *(row.get(f"{which}_change") for row in rows for which in ("worst", "best"))],
        EDGE + 96, WIDTH - EDGE - 50, 4,
    )  # fmt: skip
    bottom = TOP + STEP * len(rows)
    tops = [TOP + STEP * i for i in range(len(rows))]
    parts = [track_grid(scale, [(top + 16, top + 60) for top in tops])]
    for top, row in zip(tops, rows, strict=True):
        parts += [line(scale(0.0), top + 16, scale(0.0), top + 60, "ref"), *_row(row, scale, top)]
    parts += track_ticks(scale, bottom + 14, WIDTH, plus=True)
    told = "; ".join(f"{row['method']}: {row.get('words') or row.get('verdict')}" for row in rows)
    return figure(WIDTH, bottom + 22, title, told, parts)


def _row(row: Mapping[str, Any], scale: Scale, top: float) -> list[str]:
    verdict = str(row.get("verdict") or "")
    name = clip(str(row["method"]), WIDTH - 30 - text_width(verdict, 12), 13)
    parts = [
        text(2, top + 10, name, "t", 13, str(row["method"]), font_weight="600"),
        text(WIDTH - 2, top + 10, verdict, "ts", 12, text_anchor="end"),
    ]
    for which, y, style in (("worst", top + 28, "f0"), ("best", top + 50, "f1")):
        parts += _arrow(row, which, scale, y, style)
    return parts


def _arrow(row: Mapping[str, Any], which: str, scale: Scale, y: float, style: str) -> list[str]:
    change, group = row.get(f"{which}_change"), str(row.get(which) or "")
    tip = f"{row['method']}\n{which} group of the base: {group}\n{number(change, signed=True)}"
    shown = clip(f"{which}: {group}", EDGE + 82, 12)
    parts = [text(2, y + 4, shown, "ts", 12, tip)]
    parts.append(text(WIDTH - 2, y + 4, number(change, signed=True), "t", 12, text_anchor="end"))
    if change is None or not defined(change):
        return parts
    start, end = scale(0.0), scale(change)
    if abs(end - start) < HEAD:  # too short for an arrow
        return [*parts, mark("circle", style, tip, cx=end, cy=y, r=3.5)]
    way = 1.0 if end > start else -1.0
    shaft = line(start, y, end - 6 * way, y, f"o{style[1]}", stroke_width=2.5)
    head = f"M{end:.1f} {y:.1f}l{-HEAD * way:.1f} -5v10z"
    return [*parts, shaft, mark("path", style, tip, d=head)]

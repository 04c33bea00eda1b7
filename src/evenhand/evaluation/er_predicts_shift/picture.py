"""The figure of the study: delta ER against how far the gap moves, a panel for each task and shift."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.evaluation.er_predicts_shift.layout import CHANGE
from evenhand.evaluation.er_predicts_shift.words import rho
from evenhand.report.figures.canvas import clip, figure, line, text
from evenhand.report.figures.scale import Scale, nice_scale, tick_label
from evenhand.report.figures.scatter import symbol

Json = Mapping[str, Any]
Shift = tuple[str, float]
TITLE = "Delta ER on clean rows against how far delta EO moves under shift"
WIDE, HIGH, LEFT, TOP, MOST = 212.0, 170.0, 40.0, 44.0, 5  # of a panel; its margins; panels in a row
FLOOR = 1e-6  # what delta ER is drawn as if it is smaller: its axis is of powers of ten


def picture(body: Json) -> str:
    """An SVG with a dot for every setting of a method (means over splits); rho as the study pools it."""
    tasks, shifts = [row["task"] for row in body["tasks"]], drawn_shifts(body)
    methods = list(dict.fromkeys(_family(point["method"]) for point in body["points"]))
    width, height = LEFT + WIDE * len(shifts), TOP + (HIGH + 48) * len(tasks) + 24
    parts = _key(methods, width)
    for row, task in enumerate(tasks):
        top = TOP + (HIGH + 48) * row
        parts.append(text(8, top + 14, clip(task, width - 16), "t", 13, font_weight="600"))
        for column, shift in enumerate(shifts):
            parts += _panel(body, task, shift, methods, LEFT + WIDE * column, top + 26)
    axes = "across: delta ER on clean rows; up: how far delta EO moves under the shift; means over splits"
    parts.append(text(width / 2, height - 8, clip(axes, width - 16, 12), "ts", 12, text_anchor="middle"))
    told = "; ".join(f"{row['task']}, {row['shift']} {row['severity']:g}: {rho(row)}"
                     for row in body["cells"] if row["outcome"] == CHANGE)  # fmt: skip
    return figure(width, height, TITLE, told, parts)


def drawn_shifts(body: Json) -> list[Shift]:
    """The mildest shift of all, which is the paper's, and the middle severity of every kind.

    >>> rows = [{"shift": "gaussian", "severity": s} for s in (0.03, 0.06, 0.5)]
    >>> drawn_shifts({"by_shift": [*rows, {"shift": "impulse", "severity": 0.1}]})
    [('gaussian', 0.03), ('gaussian', 0.06), ('impulse', 0.1)]
    """
    kinds: dict[str, list[float]] = {}
    for row in body["by_shift"]:
        severities = kinds.setdefault(row["shift"], [])
        if row["severity"] not in severities:
            severities.append(row["severity"])
    first = [(kind, min(severities)) for kind, severities in kinds.items()][:1]
    middle = [(kind, sorted(severities)[len(severities) // 2]) for kind, severities in kinds.items()]
    return list(dict.fromkeys([*first, *middle]))[:MOST]


def _panel(body: Json, task: str, shift: Shift, methods: Sequence[str], left: float, top: float) -> list[str]:
    points = _means(body["points"], task, shift)
    across = _powers([x for _, _, x, _ in points], left + 6, left + WIDE - 48)
    down = nice_scale([0.0, *(y for *_, y in points)], top + HIGH - 20, top + 34, 3)
    found = next((row for row in body["cells"] if (row["task"], row["shift"], row["severity"], row["outcome"])
                  == (task, *shift, CHANGE)), None)  # fmt: skip
    parts = [
        text(left, top + 10, clip(f"{shift[0]} {shift[1]:g}", WIDE - 20, 11), "t", 11),
        text(left, top + 25, f"rho {rho(found)}" if found else "not measured", "ts", 11),
    ]
    for y in down.ticks:
        parts.append(line(across.start, down(y), across.end, down(y), "axis" if y == 0 else "grid"))
        parts.append(text(left, down(y) + 4, tick_label(y), "ts", 10, text_anchor="end"))
    for x in across.ticks:
        parts.append(line(across(x), down.start, across(x), down.start + 4, "axis"))
        label = tick_label(10**x) if -3 <= x <= 3 else f"1e{x:.0f}"
        parts.append(text(across(x), down.start + 16, label, "ts", 10, text_anchor="middle"))
    for model, method, x, y in points:
        tip = f"{model}\ndelta ER {10**x:.4f}\nmoves by {y:.3f}"
        parts.append(symbol(methods.index(_family(method)), across(x), down(y), tip, 0.6))
    return parts


def _means(points: Sequence[Json], task: str, shift: Shift) -> list[tuple[str, str, float, float]]:
    """Setting, method, power of ten of delta ER and change, each a mean over splits."""
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for point in points:
        for kind, severity, _, change in point["shifts"]:
            if point["task"] == task and (kind, severity) == shift:
                found.setdefault((point["model"], point["method"]), []).append((point["er"], change))
    return [
        (*who, math.log10(max(FLOOR, sum(er for er, _ in pairs) / len(pairs))),
         sum(change for _, change in pairs) / len(pairs))
        for who, pairs in found.items()
    ]  # fmt: skip


def _family(method: str) -> str:
    """What a method shares colour and mark with: "erm of other widths" is erm."""
    return method.split(" ")[0]


def _powers(values: Sequence[float], start: float, end: float) -> Scale:
    """An axis from one whole power of ten to another, with at most five ticks."""
    low, high = math.floor(min(values, default=0.0)), math.ceil(max(values, default=1.0))
    high = max(high, low + 1)
    step = math.ceil((high - low) / 4)
    return Scale(low, high, start, end, tuple(float(x) for x in range(low, high + 1, step)))


def _key(methods: Sequence[str], width: float) -> list[str]:
    parts, x, y = [], 10.0, 14.0
    for number, method in enumerate(methods):
        room = 30 + 7.0 * len(method)
        if x + room > width:
            x, y = 10.0, y + 18
        parts += [symbol(number, x + 4, y - 4, method), text(x + 14, y, method, "ts", 11)]
        x += room
    return parts

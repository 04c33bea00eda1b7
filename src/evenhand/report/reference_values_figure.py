"""Public values and ours as dumbbells: a row for each model under each problem, a column for each metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.report.figures.canvas import figure, line, mark, text
from evenhand.report.figures.scale import Scale, nice_scale, tick_label
from evenhand.report.numbers import number

Json = Mapping[str, Any]
METRICS = ("s3.accuracy.mean", "acc_up", "eqodd")
NARROW = ("s3.accuracy.mean", "eqodd")
LEFT, GAP, ROW, HEAD, TOP = 104.0, 22.0, 15.0, 28.0, 58.0
PUBLIC, TEST, VALIDATION = "public", "ours, chosen on test (95 % over seeds)", "chosen on validation"


def dumbbells(body: Json, width: float = 760) -> str:
    """Hollow: public. Full, with its interval over seeds: ours chosen on test. Bar: chosen on validation."""
    metrics = METRICS if width > 500 else NARROW
    rows = {(row["task"], row["grouping"], row["model"], row["metric"]): row for row in _first_net(body)}
    problems = list(dict.fromkeys(key[:2] for key in rows))
    models = {
        problem: list(dict.fromkeys(key[2] for key in rows if key[:2] == problem)) for problem in problems
    }
    height = TOP + sum(HEAD + ROW * len(own) for own in models.values()) + 26
    scales = _scales(rows, metrics, width)
    parts = _key(width) + _grid(body, scales, height)
    y = TOP
    for problem in problems:
        parts.append(text(0, y + 14, f"{problem[0]}, by {problem[1]}", "t", 12.5, font_weight=600))
        y += HEAD
        for model in models[problem]:
            parts.append(text(8, y + 4, body["models"][model], "ts", 11.5))
            for metric, across in scales.items():
                parts += _pair(body, rows.get((*problem, model, metric)), across, y)
            y += ROW
    return figure(width, height, f"{body['name']}: public values and ours", _told(body), parts)


def _first_net(body: Json) -> list[Json]:
    return [row for row in body["rows"] if row["net"] == body["net"]]


def _scales(
    rows: Mapping[tuple[str, str, str, str], Json], metrics: Sequence[str], width: float
) -> dict[str, Scale]:
    """An axis for each metric that holds every value of it, public or ours."""
    room = (width - LEFT - GAP * (len(metrics) - 1) - 12) / len(metrics)
    found = {}
    for place, metric in enumerate(metrics):
        own = [row for key, row in rows.items() if key[3] == metric]
        values = [row["public"] for row in own]
        values += [row[key]["mean"] for row in own for key in ("oracle", "validation") if row[key]]
        start = LEFT + place * (room + GAP)
        found[metric] = nice_scale([*values, 1.0], start, start + room, 4 if room > 150 else 2)
    return found


def _grid(body: Json, scales: Mapping[str, Scale], height: float) -> list[str]:
    parts = []
    for metric, across in scales.items():
        parts.append(text(across.start, TOP - 14, body["metrics"][metric], "t", 12.5, font_weight=600))
        for x in across.ticks:
            parts.append(line(across(x), TOP - 4, across(x), height - 20, "grid"))
            parts.append(text(across(x), height - 5, tick_label(x), "ts", 10.5, text_anchor="middle"))
    return parts


def _pair(body: Json, row: Json | None, across: Scale, y: float) -> list[str]:
    if row is None:
        return []
    public, ours, own = across(row["public"]), row["oracle"], row["validation"]
    tip = _tip(body, row)
    parts = []
    if ours:
        low, high = across(ours["mean"] - ours["reach"]), across(ours["mean"] + ours["reach"])
        parts.append(line(public, y, across(ours["mean"]), y, "axis", stroke_width=3, stroke_opacity=0.55))
        parts.append(line(low, y, high, y, "bar", stroke_width=1.2))
    if own:
        x = across(own["mean"])
        parts.append(line(x, y - 5, x, y + 5, "chance", stroke_width=2))
    if ours:
        parts.append(mark("circle", "dot", tip, cx=across(ours["mean"]), cy=y, r=3.6))
    parts.append(mark("circle", "hollow", tip, cx=public, cy=y, r=3.6, stroke_width=1.5))
    return parts


def _tip(body: Json, row: Json) -> str:
    name = f"{body['models'][row['model']]} · {body['metrics'][row['metric']]}"
    head = f"{name}\npublic {number(row['public'], 2)}"
    ours = f"\nours, test {number(row['oracle']['mean'])}" if row["oracle"] else "\nnot run"
    own = f"\nours, validation {number(row['validation']['mean'])}" if row["validation"] else ""
    return head + ours + own


def _key(width: float) -> list[str]:
    """What the three marks are; in two lines on a narrow figure."""
    second = 64.0
    third = (330.0, 10.0) if width > 500 else (0.0, 27.0)
    return [
        mark("circle", "hollow", cx=6, cy=10, r=3.6, stroke_width=1.5), text(14, 14, PUBLIC, "t", 12),
        line(second, 10, second + 18, 10, "bar", stroke_width=1.2),
        mark("circle", "dot", cx=second + 9, cy=10, r=3.6), text(second + 24, 14, TEST, "t", 12),
        line(third[0] + 6, third[1] - 5, third[0] + 6, third[1] + 5, "chance", stroke_width=2),
        text(third[0] + 14, third[1] + 4, VALIDATION, "t", 12),
    ]  # fmt: skip


def _told(body: Json) -> str:
    near = body["overall"]
    return f"{near['compared']} values compared, mean absolute difference {number(near['size'])}"

"""Power over the number of runs: a line for each method, and the chance that is wanted.

Beside a name stands how many runs of each side are needed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.report.figures.canvas import clip, figure, line, mark, text
from evenhand.report.figures.scale import Scale
from evenhand.report.palette import SERIES

WIDTH, PLOT, LEFT, TOP, BOTTOM = 560.0, 250.0, 44.0, 34.0, 44.0
RIGHT = 170.0  # room for names
STEP = 15.0  # between names
TICKS = (2, 4, 8, 16, 32, 64, 128)
SHARES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
Json = Mapping[str, Any]


def power_figure(body: Json) -> str:
    """The curves of all comparisons of the first problem that has some; runs on a scale of doublings.

    >>> points = [{"runs": n, "power": p, "low": p, "high": p} for n, p in ((2, 0.1), (16, 0.9), (128, 1.0))]
    >>> line = {"problem": "adult / sex / mlp", "method": "gdro", "base": "erm", "curve": points}
    >>> asked = {"metric": "tpr.gap", "difference": 0.01, "power": 0.8, "test": "welch"}
    >>> svg = power_figure({**asked, "comparisons": [line]})
    >>> svg.count("<polyline"), "gdro" in svg
    (1, True)
    """
    drawn = [entry for entry in body["comparisons"] if entry["curve"]]
    drawn = [entry for entry in drawn if entry["problem"] == drawn[0]["problem"]]
    across = Scale(math.log2(TICKS[0]), math.log2(TICKS[-1]), LEFT, WIDTH - RIGHT, TICKS)
    down = Scale(0.0, 1.0, TOP + PLOT, TOP, SHARES)
    parts = _axes(across, down, body)
    drawn.sort(key=lambda entry: -sum(point["power"] for point in entry["curve"]))  # as the names stand
    for place, entry in enumerate(drawn):
        parts += [_line(entry, place, across, down), *_name(entry, place)]
    height = max(TOP + PLOT + BOTTOM, TOP + STEP * len(drawn) + 20)
    where = drawn[0]["problem"] if drawn else ""
    told = f"{body['metric']}, a difference of {body['difference']:g}, {where}"
    return figure(WIDTH, height, f"Power over runs: {told}", _words(drawn), parts)


def _axes(across: Scale, down: Scale, body: Json) -> list[str]:
    parts = [line(across.start, down(y), across.end, down(y), "grid") for y in SHARES]
    parts += [text(LEFT - 6, down(y) + 4, f"{y:.0%}", "ts", 11, text_anchor="end") for y in SHARES]
    for runs in TICKS:
        x = across(math.log2(runs))
        parts.append(line(x, down.start, x, down.start + 4, "axis"))
        parts.append(text(x, down.start + 17, str(runs), "ts", 11, text_anchor="middle"))
    wanted = down(body["power"])
    parts.append(
        line(across.start, wanted, across.end, wanted, "ref", stroke_width=1, stroke_dasharray="3 4")
    )
    parts.append(text(across.end, down.start + 35, "runs of each side", "ts", 12, text_anchor="end"))
    what = f"chance to find a difference of {body['difference']:g} in {body['metric']} ({body['test']})"
    return [*parts, text(2, 14, clip(what, WIDTH - 4, 12), "ts", 12)]


def _look(place: int) -> dict[str, float | str]:
    """Lines beyond the eight colours are dashed."""
    return {"stroke_width": 1.75, **({"stroke_dasharray": "5 3"} if place >= SERIES else {})}


def _line(entry: Json, place: int, across: Scale, down: Scale) -> str:
    points = " ".join(f"{across(math.log2(p['runs'])):.1f},{down(p['power']):.1f}" for p in entry["curve"])
    tip = f"{entry['method']} against {entry['base']}"
    return mark("polyline", f"o{place % SERIES}", tip, points=points, fill="none", **_look(place))


def _name(entry: Json, place: int) -> list[str]:
    """The strongest at the top, each with a piece of its line and the runs that it needs."""
    y, x = TOP + STEP * place, WIDTH - RIGHT + 12
    needed = "" if entry.get("runs") is None else f": {entry['runs']:g}"
    name = clip(f"{entry['method']}{needed}", RIGHT - 38, 12)
    return [line(x, y, x + 18, y, f"o{place % SERIES}", **_look(place)), text(x + 24, y + 4, name, "t", 12)]


def _words(drawn: Sequence[Json]) -> str:
    told = []
    for entry in drawn:
        powers = ", ".join(f"{point['runs']} runs {point['power']:.0%}" for point in entry["curve"])
        told.append(f"{entry['method']}: {powers}")
    return "; ".join(told)

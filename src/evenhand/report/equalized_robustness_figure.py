"""S4's Figure 3: accuracy against ΔEO as weights are swept, on clean rows and under both noises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.report.figures.canvas import figure, line, mark, text
from evenhand.report.figures.scale import Scale, nice_scale, tick_label
from evenhand.report.figures.scatter import symbol
from evenhand.report.numbers import number

Json = Mapping[str, Any]
TITLES = {
    "test": "clean test rows",
    "gaussian 0.03": "Gaussian noise 0.03",
    "uniform 0.03": "uniform noise 0.03",
}
LEFT, GAP, HEAD, TALL, FOOT, LINE = 44.0, 34.0, 34.0, 230.0, 44.0, 20.0


def figures(body: Json) -> dict[str, str]:
    """Figure 3 of every swept task, by the name of its file."""
    tasks = dict.fromkeys(one["task"] for one in body["curves"])
    return {f"figure-3-{task}": trade_off(body, task) for task in tasks}


def trade_off(body: Json, task: str, width: float = 760) -> str:
    """A panel for each kind of rows, side by side or one below the other; a line for each sweep."""
    own = [one for one in body["curves"] if one["task"] == task]
    parts_of = list(dict.fromkeys(one["part"] for one in own))
    names = list(dict.fromkeys(one["words"] for one in own))
    across = width > 500
    columns = len(parts_of) if across else 1
    room = (width - LEFT * columns - GAP * (columns - 1) - 18) / columns
    low, high = _ends(own)
    key, used = _key(names, width)
    parts, height = list(key), used
    for place, part in enumerate(parts_of):
        left = LEFT + (place * (room + LEFT + GAP) if across else 0)
        top = used + HEAD + (0 if across else place * (TALL + HEAD + FOOT))
        x = nice_scale([point["x"] for point in _points(own)], left, left + room, 4 if room > 200 else 3)
        y = nice_scale([low, high], top + TALL, top, 5)
        parts += _panel([one for one in own if one["part"] == part], names, x, y, TITLES.get(part, part))
        height = top + TALL + FOOT
    title = f"Figure 3: accuracy against ΔEO, {body['tasks'].get(task, task)}"
    return figure(width, height, title, _told(own), parts)


def _points(own: Sequence[Json]) -> list[Json]:
    return [point for one in own for point in one["points"]]


def _ends(own: Sequence[Json]) -> tuple[float, float]:
    ys = [point["y"] for point in _points(own)]
    return 0.0, max(ys, default=1.0)


def _panel(own: Sequence[Json], names: Sequence[str], x: Scale, y: Scale, title: str) -> list[str]:
    parts = [text(x.start, y.end - 16, title, "t", 12.5, font_weight=600)]
    parts += [line(x(tick), y.end, x(tick), y.start, "grid") for tick in x.ticks]
    parts += [line(x.start, y(tick), x.end, y(tick), "grid") for tick in y.ticks]
    parts += [text(x(tick), y.start + 15, tick_label(tick), "ts", 10.5, text_anchor="middle")
              for tick in x.ticks]  # fmt: skip
    parts += [text(x.start - 5, y(tick) + 4, tick_label(tick), "ts", 10.5, text_anchor="end")
              for tick in y.ticks]  # fmt: skip
    parts.append(text(x.end, y.start + 32, "accuracy →", "ts", 11, text_anchor="end"))
    parts.append(text(x.start, y.start + 32, "ΔEO ↓", "ts", 11))
    for one in own:
        parts += _curve(one, names.index(one["words"]), x, y)
    return parts


def _curve(one: Json, series: int, x: Scale, y: Scale) -> list[str]:
    places = [(x(point["x"]), y(point["y"])) for point in one["points"]]
    path = " ".join(f"{a:.1f},{b:.1f}" for a, b in places)
    drawn = [mark("polyline", f"o{series % 8}", points=path, fill="none", stroke_width=1.5,
                  stroke_opacity="0.7")] if len(places) > 1 else []  # fmt: skip
    marks = [
        symbol(series, a, b, _tip(one, point), opacity=1.0)
        for (a, b), point in zip(places, one["points"], strict=True)
    ]
    return drawn + marks


def _tip(one: Json, point: Json) -> str:
    weights = f"alpha {point['alpha']:g}, gamma {point['gamma']:g}"
    numbers = f"accuracy {number(point['x'])}, ΔEO {number(point['y'])}"
    return f"{one['words']}\n{weights}\n{numbers}\n{point['n']} splits"


def _key(names: Sequence[str], width: float) -> tuple[list[str], float]:
    """What the marks are, in as many columns as there is room for; and the height it takes."""
    columns = 3 if width > 500 else 1
    parts = []
    for place, name in enumerate(names):
        left, top = 6 + (place % columns) * width / columns, 10 + (place // columns) * LINE
        parts += [symbol(place, left, top, name), text(left + 12, top + 4, name, "t", 11.5)]
    return parts, -(-len(names) // columns) * LINE


def _told(own: Sequence[Json]) -> str:
    return f"{len(_points(own))} settings, each the mean over its splits"

"""The runs of a problem as points of its frontier figures, and the list from which the page tells them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.report.figures.frontier import Mean, Run, Trail, frontier
from evenhand.report.numbers import defined, interval, number
from evenhand.report.study_body import better, head, keys_of, metrics_of, setting_words, words

Json = Mapping[str, Any]
MOST_POINTS = 3000  # in one figure; beyond that single runs cannot be seen or pointed at any more
MOST_MARKS = 60_000  # in the page, over all its frontier figures


@dataclass(frozen=True)
class Points:
    """What is drawn for a problem: each run, or (`means`) each setting by the mean of its runs."""

    points: tuple[Json, ...]
    means: bool
    runs: int


def points_of(body: Json, problem: Json) -> Points:
    """The runs, or the means of the settings where there are too many runs for the figure or the page."""
    figures = max(1, len(body["problems"]) * len(metrics_of(body)))
    runs = problem["points"]
    if len(runs) <= min(MOST_POINTS, MOST_MARKS // figures):
        return Points(tuple(runs), False, len(runs))
    return Points(tuple(setting_means(runs, keys_of(body))), True, len(runs))


def setting_means(runs: Sequence[Json], keys: Sequence[str]) -> list[dict[str, Any]]:
    """One point for each method and setting: the mean of the defined values.

    >>> runs = [{"method": "a", "setting": "", "seed": seed, "values": {"acc": seed}} for seed in (0, 1)]
    >>> found = setting_means(runs, ["acc"])[0]
    >>> found["values"], found["seed"]
    ({'acc': 0.5}, 'mean of 2 runs')
    """
    together: dict[tuple[str, str], list[Json]] = {}
    for run in runs:
        together.setdefault((run["method"], setting_words(run["setting"])), []).append(run)
    return [
        {
            "method": method,
            "setting": setting,
            "seed": f"mean of {len(found)} run{'s' if len(found) > 1 else ''}",
            "selected": any(run.get("selected") for run in found),
            "values": {key: _mean([run["values"].get(key) for run in found]) for key in keys},
        }
        for (method, setting), found in together.items()
    ]


def _mean(values: Sequence[Any]) -> float | None:
    known = [float(x) for x in values if defined(x)]
    return sum(known) / len(known) if known else None


def run_list(body: Json, problem: Json, points: Points) -> str:
    """The runs in short, as JSON that is safe inside a page: names once, numbers with four digits."""
    keys = keys_of(body)
    methods = [entry["method"] for entry in problem["methods"]]
    methods += sorted({point["method"] for point in points.points} - set(methods))
    settings = sorted({setting_words(point["setting"]) for point in points.points})
    of_method, of_setting = ({name: i for i, name in enumerate(names)} for names in (methods, settings))
    rows = [
        [
            *(of_method[point["method"]], of_setting[setting_words(point["setting"])], point["seed"]),
            int(bool(point.get("selected"))),
            *(_rounded(point["values"].get(key)) for key in keys),
        ]
        for point in points.points
    ]
    kept = {"keys": [head(key) for key in keys], "methods": methods, "settings": settings, "runs": rows}
    return json.dumps(kept, separators=(",", ":")).replace("<", "\\u003c").replace("&", "\\u0026")


def _rounded(x: Any) -> float | None:
    return round(x, 4) if defined(x) else None


def frontier_figure(body: Json, problem: Json, points: Points, key: str) -> str:
    """The figure of one metric."""
    accuracy = body["accuracy"]
    by_method: dict[str, list[Run]] = {entry["method"]: [] for entry in problem["methods"]}
    for i, point in enumerate(points.points):
        x, y = point["values"].get(accuracy), point["values"].get(key)
        if defined(x) and defined(y):
            run = Run(i, float(x), float(y), bool(point.get("selected")))
            by_method.setdefault(point["method"], []).append(run)
    means = {entry["method"]: _mean_of(entry, accuracy, key) for entry in problem["methods"]}
    series = body["series"]
    trails = [Trail(name, tuple(runs), means.get(name), series[name]) for name, runs in by_method.items()]
    higher = better(body, key) == "higher"
    line = unbeaten([(p["x"], p["y"]) for p in problem["pareto"].get(key) or []], higher)
    return frontier(
        trails, line, title=f"{words(accuracy).capitalize()} against {words(key)}", x_axis=words(accuracy),
        y_axis=head(key), higher=higher,
        named=[*(problem["frontier"].get(key) or []), body["base"]],
    )  # fmt: skip


def unbeaten(points: Sequence[tuple[Any, Any]], higher: bool) -> list[tuple[float, float]]:
    """Those points that none of the others beats in both numbers: a set chosen elsewhere may hold others.

    >>> unbeaten([(0.9, 0.2), (0.8, 0.3), (0.7, 0.1), (0.6, None)], higher=False)
    [(0.9, 0.2), (0.7, 0.1)]
    """
    sign = -1.0 if higher else 1.0
    kept: list[tuple[float, float]] = []
    known = [(float(x), float(y)) for x, y in points if defined(x) and defined(y)]
    for x, y in sorted(known, key=lambda point: (-point[0], sign * point[1])):
        if not kept or sign * y < sign * kept[-1][1]:
            kept.append((x, y))
    return kept


def _mean_of(entry: Json, accuracy: str, key: str) -> Mean | None:
    x, y = entry["numbers"].get(accuracy) or {}, entry["numbers"].get(key) or {}
    if not defined(x.get("mean")) or not defined(y.get("mean")):
        return None
    ends = [(found.get("low"), found.get("high")) for found in (x, y)]
    told = [entry["method"], *filter(None, [setting_words(entry["setting"])])]
    told += [f"{words(accuracy)} {number(x['mean'])} ({interval(ends[0])})"]
    told += [f"{head(key)} {number(y['mean'])} ({interval(ends[1])})", f"mean of {entry['n']} seeds"]
    return Mean(entry["method"], (), x["mean"], y["mean"], ends[0], ends[1], "\n".join(told))


def has_points(problem: Json, accuracy: str, key: str) -> bool:
    """Whether there is anything to draw.

    >>> has_points({"points": [{"values": {"acc": 0.8, "tpr.gap": None}}]}, "acc", "tpr.gap")
    False
    """
    return any(
        defined(point["values"].get(accuracy)) and defined(point["values"].get(key))
        for point in problem["points"]
    )

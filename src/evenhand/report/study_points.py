"""The runs of a problem as points of its frontier figures, and the list from which the page tells them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.report.figures.frontier import Mean, Run, Trail, frontier
from evenhand.report.numbers import UNDEFINED, defined, interval, number
from evenhand.report.run_words import IDENTICAL, run_name, run_word, runs_word
from evenhand.report.study_body import better, head, ideal, keys_of, metrics_of, setting_words, words

Json = Mapping[str, Any]
MOST_POINTS = 3000  # in one figure; beyond that single runs cannot be seen or pointed at any more
AIMS = {"lower": "lower is better ↓", "higher": "higher is better ↑"}
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
    identical = run_word(body) == IDENTICAL  # named here, as the page calls a bare number a seed
    rows = [
        [
            *(
                of_method[point["method"]],
                of_setting[setting_words(point["setting"])],
                run_name(body, point["seed"]) if identical else point["seed"],
            ),
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
    accuracy, series = body["accuracy"], body["series"]
    means = {entry["method"]: _mean_of(body, entry, accuracy, key) for entry in problem["methods"]}
    runs = _runs_by_method(problem, points, accuracy, key)
    trails = [Trail(name, tuple(found), means.get(name), series[name]) for name, found in runs.items()]
    ahead = problem["frontier"].get(key) or []
    way, aim = better(body, key), ideal(body, key)
    line = [(mean.x, mean.y) for name in ahead if (mean := means.get(name))] if way and len(runs) > 1 else []
    return frontier(
        trails, line, title=f"{words(accuracy).capitalize()} against {words(key)}", x_axis=words(accuracy),
        y_axis=head(key), higher=way == "higher", ideal=aim,
        aim=AIMS.get(way) or ("no direction is wanted" if aim is None else f"wanted near {aim:g}"),
        named=[*ahead, body["base"]],
    )  # fmt: skip


def _runs_by_method(problem: Json, points: Points, accuracy: str, key: str) -> dict[str, list[Run]]:
    """The points of each method, those of the setting that speaks for the metric marked as selected."""
    own = {entry["method"]: (entry["per_metric"] or {}).get(key) for entry in problem["methods"]}
    found: dict[str, list[Run]] = {method: [] for method in own}
    for i, point in enumerate(points.points):
        x, y, method = point["values"].get(accuracy), point["values"].get(key), point["method"]
        if defined(x) and defined(y):
            chosen = own.get(method)
            selected = _label(point) == chosen["label"] if chosen else bool(point.get("selected"))
            found.setdefault(method, []).append(Run(i, float(x), float(y), selected))
    return found


def _label(point: Json) -> str:
    """Method and setting of a run, as the label of a setting has them."""
    setting = setting_words(point["setting"])
    return f"{point['method']} ({setting})" if setting else str(point["method"])


def _mean_of(body: Json, entry: Json, accuracy: str, key: str) -> Mean | None:
    """Where a method stands, by the setting that was selected, or selected for this metric."""
    own = (entry["per_metric"] or {}).get(key) or {}
    x = own.get("accuracy") or entry["numbers"].get(accuracy) or {}
    y = entry["numbers"].get(key) or {}
    if not defined(x.get("mean")) or not defined(y.get("mean")):
        return None
    ends = [(found.get("low"), found.get("high")) for found in (x, y)]
    setting, n = setting_words(own.get("setting") or entry["setting"]), own.get("n") or entry["n"]
    told = [entry["method"], *filter(None, [setting])]
    told += [_told(name, found) for name, found in ((words(accuracy), x), (head(key), y))]
    told += [f"mean of {n} {runs_word(body)}" if n != 1 else "one run"]
    return Mean(entry["method"], (), x["mean"], y["mean"], ends[0], ends[1], "\n".join(told))


def _told(name: str, found: Json) -> str:
    spread = interval((found.get("low"), found.get("high")))
    return f"{name} {number(found['mean'])}" + (f" ({spread})" if spread != UNDEFINED else "")


def has_points(problem: Json, accuracy: str, key: str) -> bool:
    """Whether there is anything to draw.

    >>> has_points({"points": [{"values": {"acc": 0.8, "tpr.gap": None}}]}, "acc", "tpr.gap")
    False
    """
    return any(
        defined(point["values"].get(accuracy)) and defined(point["values"].get(key))
        for point in problem["points"]
    )

"""The dictionary of a study made safe to draw (nothing missing, no NaN), and what its things are called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.report.definitions import BETTER, define
from evenhand.report.names import isolated, rate_head
from evenhand.report.numbers import defined, without_nan
from evenhand.report.tradeoff import spelled
from evenhand.report.verdict_tradeoff import column_head, short

Json = Mapping[str, Any]
SHOWN = ("lower", "higher")  # the verdicts of a comparison that is significant
NOT_ENOUGH = "not enough runs to tell"

# fmt: off
DEFAULTS: dict[str, Any] = {
    "name": "study", "title": "", "about": "", "created": None, "evenhand": None, "spec": {}, "metrics": [],
    "accuracy": "acc", "base": "", "confidence": 0.95, "part": "test", "selection": {}, "tests": {},
    "problems": [], "ranks": {}, "leaders": [], "variance": [], "cost": [], "spearman": [], "settings": [],
    "environment": {}, "notes": [], "budget": {}, "state": {}, "equal_runs": False,
}
STATE = {"planned": 0, "done": 0, "failed": 0, "waiting": 0, "finished": True, "failures": []}
BUDGET: dict[str, Any] = {"equal": None, "run": "seed", "words": "", "seconds": None, "methods": []}
SELECTION = {"rule": "", "metric": "", "part": "", "oracle": False, "words": ""}
PROBLEM: dict[str, Any] = {
    "task": "", "grouping": "", "net": "", "groups": [], "classes": [], "n": None, "methods": [],
    "frontier": {}, "pareto": {}, "points": [],
}
METHOD: dict[str, Any] = {
    "setting": {}, "label": "", "seeds": [], "n": 0, "failed": 0, "numbers": {}, "per_metric": None,
    "single": None, "against": None, "rates": {}, "per_class": {}, "levelling": None, "seconds": {},
    "peak_memory": None,
}
# fmt: on


def completed(study: Json) -> dict[str, Any]:
    """The study with every key that the page asks for; a study in its first minute has few of them.

    >>> completed({"kind": "study", "state": {"planned": 4}})["state"]["done"]
    0
    """
    body = {**DEFAULTS, **{key: value for key, value in without_nan(study).items() if value is not None}}
    for key, defaults in (("state", STATE), ("budget", BUDGET), ("selection", SELECTION)):
        body[key] = {**defaults, **body[key]}
    body["tests"] = {"test": "", "correction": "", "words": "", **body["tests"]}
    body["environment"] = {"versions": {}, "devices": [], "hosts": None, **body["environment"]}
    body["problems"] = [
        {**PROBLEM, **one, "methods": [{**METHOD, **entry} for entry in one.get("methods") or []]}
        for one in body["problems"]
    ]
    return {**body, "series": series_of(body)}


def keys_of(body: Json) -> list[str]:
    """Accuracy first, then every metric of the study.

    >>> keys_of({"accuracy": "acc", "metrics": [{"key": "acc"}, {"key": "tpr.gap"}]})
    ['acc', 'tpr.gap']
    """
    return [
        body["accuracy"],
        *(entry["key"] for entry in body["metrics"] if entry["key"] != body["accuracy"]),
    ]


def metrics_of(body: Json) -> list[str]:
    """The metrics beside accuracy."""
    return keys_of(body)[1:]


def head(key: str) -> str:
    """A metric over a narrow column.

    >>> head("acc"), head("tpr.gap"), head("accuracy.worst")
    ('Accuracy', 'TPR gap', 'Worst accuracy')
    """
    rate, _, which = key.partition(".")
    if which in ("worst", "best"):
        shown = rate_head(rate)
        return f"{which.capitalize()} {shown if shown.isupper() else shown.lower()}"
    return "Accuracy" if key == "acc" else column_head(key)


def words(key: str) -> str:
    """A metric in a sentence.

    >>> words("acc"), words("tpr.gap")
    ('accuracy', 'true positive rate gap')
    """
    return "accuracy" if key == "acc" else short(key)


def better(body: Json, key: str) -> str:
    """Which way a metric is wanted: "lower", "higher", or "" where that is not a direction.

    >>> better({"metrics": [{"key": "x", "better": "higher"}]}, "x"), better({"metrics": []}, "tpr.gap")
    ('higher', 'lower')
    """
    found = _entry(body, key).get("better") or define(key).better
    return found if found in SHOWN else ""


def ideal(body: Json, key: str) -> float | None:
    """The value that a metric is wanted near to, where it is neither to be low nor to be high.

    >>> ideal({"metrics": [{"key": "x", "better": "nearer", "ideal": 1.0}]}, "x")
    1.0
    """
    entry = _entry(body, key) or vars(define(key))
    return float(entry["ideal"]) if entry.get("better") == "nearer" and defined(entry.get("ideal")) else None


def wanted(body: Json, key: str, mean: Any, moved: Json | None) -> int:
    """Whether a method that came to `mean` moved a metric the wanted way (1), the other (-1), or neither.

    >>> wanted({"metrics": []}, "tpr.gap", 0.1, {"verdict": "lower", "difference": -0.2})
    1
    >>> body = {"metrics": [{"key": "x", "better": "nearer", "ideal": 1.0}]}
    >>> wanted(body, "x", 1.5, {"verdict": "higher", "difference": 0.6})
    -1
    """
    verdict, way, aim = (moved or {}).get("verdict"), better(body, key), ideal(body, key)
    if not moved or verdict not in SHOWN:
        return 0
    if way:
        return 1 if verdict == way else -1
    if aim is None or not (defined(mean) and defined(moved.get("difference"))):
        return 0
    return 1 if abs(mean - aim) < abs(mean - moved["difference"] - aim) else -1


def _entry(body: Json, key: str) -> Json:
    return next((one for one in body["metrics"] if one["key"] == key), {})


def definition(body: Json, key: str) -> str:
    """What is told over the head of a column: name, formula, ideal."""
    entry = _entry(body, key)
    if not entry.get("name"):
        return define(key).text
    aim = BETTER.get(entry.get("better") or "", "")
    return "\n".join(part for part in (entry["name"], entry.get("formula") or "", aim) if part)


def problem_name(body: Json, problem: Json) -> str:
    """A problem in words: the task, the grouping, and the network where there are several.

    >>> one = {"task": "adult", "grouping": "sex", "net": "mlp"}
    >>> problem_name({"problems": [one]}, one)
    'adult by sex'
    """
    several = len({one["net"] for one in body["problems"]}) > 1
    by = f" by {isolated(problem['grouping'])}" if problem["grouping"] not in ("", "all") else ""
    return f"{isolated(problem['task'])}{by}{', ' + problem['net'] if several else ''}"


def names_by_id(body: Json) -> dict[str, str]:
    """The name of each problem by its id."""
    return {str(one["id"]): problem_name(body, one) for one in body["problems"]}


def series_of(body: Json) -> dict[str, int]:
    """The number of each method's colour and shape: the same in every figure, in the order of the study.

    >>> series_of({"budget": {"methods": [{"method": "erm"}]}, "problems": []})
    {'erm': 0}
    """
    names = [entry["method"] for entry in body["budget"]["methods"]]
    for problem in body["problems"]:
        names += [entry["method"] for entry in problem["methods"]]
        names += [point["method"] for point in problem["points"]]
    return {name: place for place, name in enumerate(dict.fromkeys(names))}


def setting_words(setting: Any) -> str:
    """A setting in a line; nothing where nothing is varied.

    >>> setting_words({"lam": 0.5}), setting_words({}), setting_words("lam = 1")
    ('lam = 0.5', '', 'lam = 1')
    """
    if not isinstance(setting, Mapping):
        return str(setting or "")
    return ", ".join(f"{key} = {_short(value)}" for key, value in setting.items())


def _short(value: Any) -> str:
    """Drawn values have seventeen digits; four tell which one it was."""
    return f"{value:.4g}" if isinstance(value, float) else spelled(value)

"""Gates for continuous integration: conditions such as `tpr.gap.high>0.1` that must not hold.

A condition names a metric, optionally one of its fields, a sign and a number. A number that is undefined
fails the gate: what cannot be measured cannot be cleared.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.errors import InputError
from evenhand.evaluation.options import unknown_metric
from evenhand.evaluation.regression import Change, against
from evenhand.metrics.catalogue import CATALOGUE

Json = Mapping[str, Any]
FIELDS = (
    "value",
    "low",
    "high",
    "lower_bound",
    "upper_bound",
    "worst_bound",
    "with_small",
    "chance",
    "chance_p",
)
FORM = re.compile(r"\s*(?P<name>[^<>=\s]+)\s*(?P<sign>>=|<=|>|<)\s*(?P<limit>[^<>=\s]+)\s*")
EXAMPLE = 'write it in quotation marks as KEY>NUMBER, such as "tpr.gap.high>0.1"'
SIGNS: dict[str, Callable[[float, float], bool]] = {
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
}


@dataclass(frozen=True)
class Condition:
    """A condition that fails the gate when it holds; `model` is an alternative of a comparison."""

    text: str
    key: str
    field: str
    sign: str
    limit: float
    model: str | None = None

    def judge(self, value: float | None, reason: str = "") -> Check:
        """Whether the gate fails; it does when there is no value."""
        if value is None or math.isnan(value):
            return Check(self.text, None, True, f"undefined: {reason or 'no value'}")
        holds = SIGNS[self.sign](value, self.limit)
        return Check(self.text, value, holds, "the condition holds" if holds else "")


@dataclass(frozen=True)
class Check:
    """What became of one condition."""

    condition: str
    value: float | None
    failed: bool
    reason: str = ""


def parse(text: str) -> Condition:
    """The condition that a text states; the longest known key wins, since keys have dots themselves.

    >>> parse("tpr.gap.high > 0.1")
    Condition(text='tpr.gap.high > 0.1', key='tpr.gap', field='high', sign='>', limit=0.1, model=None)
    >>> parse("acc_u.label_attr<0.5").key
    'acc_u.label_attr'
    """
    name, sign, limit = split(text)
    key, field = resolve(name, CATALOGUE, lambda key: FIELDS)
    return Condition(text, key, field, sign, limit)


def split(text: str) -> tuple[str, str, float]:
    """Name, sign and number of a condition.

    >>> split("dp>=.1")
    ('dp', '>=', 0.1)
    """
    found = FORM.fullmatch(text)
    if found is None:
        lost = " (unquoted, the shell takes > for itself)" if not set("<>=") & set(text) else ""
        raise InputError(f"the condition '{text}' cannot be read{lost}; {EXAMPLE}")
    try:
        limit = float(found["limit"])
    except ValueError:
        limit = math.nan
    if not math.isfinite(limit):
        raise InputError(f"'{found['limit']}' in the condition '{text}' is not a number; {EXAMPLE}")
    return found["name"], found["sign"], limit


def resolve(name: str, known: Collection[str], fields_of: Callable[[str], Sequence[str]]) -> tuple[str, str]:
    """Key and field of a dotted name; without a field, the first that the key has.

    >>> resolve("fpr.worst", CATALOGUE, lambda key: FIELDS)
    ('fpr.worst', 'value')
    """
    parts = name.split(".")
    for size in range(len(parts), 0, -1):
        key, field = ".".join(parts[:size]), ".".join(parts[size:])
        if key not in known:
            continue
        fields = fields_of(key)
        if field and field not in fields:
            raise InputError(f"'{key}' has no '{field}' to put a condition on; it has {', '.join(fields)}")
        return key, field or fields[0]
    family = sorted(key for key in known if key.startswith(f"{name}."))
    raise InputError(unknown_metric(name, family or list(known)))


def check(conditions: Sequence[Condition], audit: Json) -> list[Check]:
    """Judge the conditions by the dictionary of an audit."""
    return [_check(condition, audit) for condition in conditions]


def _check(condition: Condition, audit: Json) -> Check:
    metric = audit["metrics"].get(condition.key)
    if metric is None:
        needs = CATALOGUE[condition.key].needs if condition.key in CATALOGUE else "other data"
        raise InputError(f"the metric '{condition.key}' was not measured: it needs {_HOW.get(needs, needs)}")
    return condition.judge(*_value(condition, metric, audit))


_HOW = {
    "scores": "scores; name a score column",
    "two models": "two models; 'evenhand compare' measures it",
    "several runs": "several runs; 'evenhand compare' measures it",
    "model": "the model, not its predictions alone; evenhand.equalized_robustness measures it",
}


def _value(condition: Condition, metric: Json, audit: Json) -> tuple[float | None, str]:
    """The number that a field names, and why there is none."""
    value, field = metric.get("value"), condition.field
    why = "; ".join(metric.get("undefined") or ()) or "not defined for these rows"
    if value is None or field == "value":
        return value, why
    if field.endswith("_bound"):
        return _bound(condition, metric, audit)
    found = metric.get(field)
    if field == "with_small" and found is None:
        left_out = [group["name"] for group in audit["groups"] if group.get("excluded") and group["n"]]
        return (None, "not measured over several runs") if left_out else (value, "")
    missing = {"low": "it has no interval", "high": "it has no interval", "with_small": why}
    return found, missing.get(field, "its chance level was not measured")


def _bound(condition: Condition, metric: Json, audit: Json) -> tuple[float | None, str]:
    """A bound over what the rows of unknown group could be; the value itself when every group is known."""
    if not audit.get("unknown"):
        return metric["value"], ""
    bounds = metric.get("bounds")
    if bounds is None or None in bounds:
        return None, "it has no bounds over the rows of unknown group"
    low, high = bounds
    if condition.field == "worst_bound":
        row = CATALOGUE[condition.key]
        if row.better == "nearer":
            return max((low, high), key=lambda end: abs(end - row.ideal)), ""
        return (low if row.better == "higher" else high), ""
    return (high if condition.field == "upper_bound" else low), ""


def summary(checks: Sequence[Check], changes: Sequence[Change] = (), **facts: Any) -> dict[str, Any]:
    """The gates as JSON says them, under "gate".

    >>> summary([Check("dp>0.1", 0.2, True)])["failed"]
    True
    """
    worse = [change for change in changes if change.regressed]
    body: dict[str, Any] = {"failed": any(entry.failed for entry in checks) or bool(worse)}
    body["conditions"] = [vars(entry) for entry in checks]
    body["against"] = {**facts, "changes": [vars(change) for change in changes]} if facts else None
    return body


__all__ = [
    "FIELDS",
    "Change",
    "Check",
    "Condition",
    "against",
    "check",
    "parse",
    "resolve",
    "split",
    "summary",
]

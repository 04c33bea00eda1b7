"""Has a metric become worse than in an earlier audit, by more than the rows can explain?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.errors import InputError
from evenhand.metrics.catalogue import CATALOGUE
from evenhand.metrics.metric import Metric

Json = Mapping[str, Any]
# The headline: gaps and worst groups, which is what a reader of a report sees first.
WATCHED = (
    *(
        f"{rate}.gap"
        for rate in ("selection", "tpr", "fpr", "ppv", "accuracy", "balanced_accuracy", "auc", "ece")
    ),
    *(f"{rate}.worst" for rate in ("tpr", "accuracy", "auc")),
)
# what must be equal for two audits to be comparable, and how a message calls it
ALIKE = {
    "task": "the kind of task",
    "classes": "the classes",
    "positive": "the positive class",
    "grouping": "the group columns",
    "weighted": "the use of weights",
}


@dataclass(frozen=True)
class Change:
    """One metric then and now; `worse_by` is positive when it moved in the worse direction."""

    key: str
    old: float | None
    new: float | None
    worse_by: float | None
    regressed: bool
    reason: str = ""


def against(old: Json, new: Json, tolerance: float = 0.0, keys: Sequence[str] = ()) -> list[Change]:
    """Compare two audits (dictionaries): the headline metrics, and those in `keys`.

    A metric has regressed when it moved in the worse direction by more than `tolerance` and its old value
    lies outside the new interval, or when it had a value and has none now. An audit made by another version
    of evenhand will do; one of other groups or classes will not.
    """
    if tolerance < 0:
        raise InputError(f"the tolerance must not be negative, and {tolerance} is")
    refuse_other(old, new)
    watched = [key for key in dict.fromkeys((*WATCHED, *keys)) if key in new["metrics"] and key in CATALOGUE]
    found = [
        _change(CATALOGUE[key], old["metrics"].get(key), new["metrics"][key], tolerance) for key in watched
    ]
    return [change for change in found if change is not None]


def refuse_other(old: Json, new: Json) -> None:
    """Both must be audits of the same classes and groups."""
    if old.get("kind", "audit") != "audit" or "metrics" not in old or "groups" not in old:
        raise InputError(
            "the earlier file does not hold an audit; give one that 'evenhand audit --json' wrote"
        )
    for part, called in ALIKE.items():
        if part in old and old[part] != new[part]:
            raise InputError(
                f"the earlier audit differs in {called}: then {_said(old[part])}, now {_said(new[part])}"
            )
    then, today = ((audit.get("method") or {}).get("convention", "strict") for audit in (old, new))
    if then != today:
        raise InputError(f"the earlier audit was made with the convention '{then}', this one with '{today}'")
    before, now = ([group["name"] for group in audit["groups"] if group["n"]] for audit in (old, new))
    for names, others, when in (
        (before, now, "only in the earlier audit"),
        (now, before, "only in this one"),
    ):
        missing = [name for name in names if name not in others]
        if missing:
            raise InputError(f"the groups differ from those of the earlier audit: {_said(missing)} {when}")


def _said(values: object) -> str:
    if not isinstance(values, list):
        return "none" if values is None else str(values)
    more = f" and {len(values) - 5} more" if len(values) > 5 else ""
    return ", ".join(str(value) for value in values[:5]) + more


def _change(row: Metric, before: Json | None, now: Json, tolerance: float) -> Change | None:
    """The change of one metric; None for one without a better direction."""
    if row.better == "none":
        return None
    old, new = (before or {}).get("value"), now["value"]
    if old is None:
        return Change(row.key, None, new, None, False, "it had no value before")
    if new is None:
        why = "; ".join(now.get("undefined") or ()) or "not defined for these rows"
        return Change(row.key, old, None, None, True, f"undefined: {why}")
    worse_by = _worse_by(row, old, new)
    low, high = now.get("low"), now.get("high")
    surprising = low is None or high is None or not low <= old <= high
    regressed = worse_by > tolerance and surprising
    inside = worse_by > tolerance and not surprising
    return Change(
        row.key, old, new, worse_by, regressed, "the old value lies in the new interval" if inside else ""
    )


def _worse_by(row: Metric, old: float, new: float) -> float:
    if row.better == "nearer":
        return abs(new - row.ideal) - abs(old - row.ideal)
    return old - new if row.better == "higher" else new - old

"""The findings of an audit in plain sentences.

They say what was measured and how sure it is, never that a model is "fair" or "biased": which gap matters,
and how large a one is acceptable, is for those to decide who know what the predictions are used for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.report.caveats import small_groups, undefined_rates, unknown_rows
from evenhand.report.headline import beyond_chance, ranked_gaps, short_label
from evenhand.report.names import isolated
from evenhand.report.numbers import UNDEFINED, defined, interval, number, probability

Json = Mapping[str, Any]


def audit_sentences(audit: Json) -> list[str]:
    """Two to five sentences: the largest gaps, chance, small groups, unknown rows, what is undefined.

    >>> gap = {"value": 0.31, "low": 0.22, "high": 0.4, "decided_by": ["female", "male"]}
    >>> gap |= {"chance": 0.1, "chance_p": 0.001}
    >>> women = {"name": "female", "n": 50, "rates": {"tpr": 0.9}}
    >>> men = {"name": "male", "n": 60, "rates": {"tpr": 0.59}}
    >>> print(*audit_sentences({"n": 110, "groups": [women, men], "metrics": {"tpr.gap": gap}}), sep="\\n")
    The true positive rate differs by 0.310 (95% interval 0.220 to 0.400) between female (highest) and male
    (lowest); this is more than chance alone explains: with the group labels dealt at random, 95 of 100 gaps
    stay under 0.100 (p = 0.001).
    Every main rate is defined in both groups, and every row has a known group.
    """
    sentences = [
        _largest(audit),
        _next(audit),
        small_groups(audit),
        unknown_rows(audit),
        undefined_rates(audit),
    ]
    found = [sentence for sentence in sentences if sentence]
    if len(found) < 2:
        names = "both groups" if len(audit["groups"]) == 2 else f"all {len(audit['groups'])} groups"
        found.append(f"Every main rate is defined in {names}, and every row has a known group.")
    return found


def _confidence(audit: Json) -> str:
    confidence = (audit.get("method") or {}).get("confidence") or 0.95
    return f"{confidence * 100:g}"


def _largest(audit: Json) -> str:
    ranked = ranked_gaps(audit["metrics"])
    if len(audit["groups"]) < 2:
        return "All rows with a known group are in one group, so that there is nothing to compare."
    if not ranked:
        return "No gap between groups could be computed; the reasons stand in the table of metrics."
    metric = audit["metrics"][ranked[0]]
    rate = short_label(ranked[0])
    if metric["value"] == 0:
        return f"The {rate} is the same in all groups, and no other headline rate differs either."
    tail = ", the largest of the headline gaps" if len(ranked) > 1 else ""
    size = f"{number(metric['value'])}{_averaged(audit, metric)}{_interval(audit, metric)}"
    return f"The {rate} differs by {size}{_between(audit, metric)}{tail}{_chance(audit, ranked[0], metric)}."


def _averaged(audit: Json, metric: Json) -> str:
    """Over several classes a gap is the mean of the gaps of the classes."""
    return " on average over the classes" if _in_class(audit, metric) else ""


def _in_class(audit: Json, metric: Json) -> bool:
    return audit.get("task") in {"multiclass", "multilabel"} and metric.get("decided_in") is not None


def _interval(audit: Json, metric: Json) -> str:
    spread = interval((metric.get("low"), metric.get("high")))
    return "" if spread == UNDEFINED else f" ({_confidence(audit)}% interval {spread})"


def _between(audit: Json, metric: Json) -> str:
    by = metric.get("decided_by") or []
    if len(by) != 2:
        return ""
    of_class = f", most in “{isolated(str(metric['decided_in']))}”" if _in_class(audit, metric) else ""
    return f"{of_class} between {isolated(by[0])} (highest) and {isolated(by[1])} (lowest)"


def _chance(audit: Json, key: str, metric: Json) -> str:
    beyond = beyond_chance(key, metric)
    if beyond is None:
        return ""
    p = f" ({probability(metric['chance_p'])})" if defined(metric.get("chance_p")) else ""
    told = (
        "this is more than chance alone explains"
        if beyond
        else "a gap of this size can come from chance alone"
    )
    level = f"{_confidence(audit)} of 100 gaps stay under {number(metric['chance'])}{p}"
    return f"; {told}: with the group labels dealt at random, {level}"


def _next(audit: Json) -> str:
    ranked = [key for key in ranked_gaps(audit["metrics"])[1:3] if audit["metrics"][key]["value"] > 0]
    told = [_brief(key, audit["metrics"][key]) for key in ranked]
    if not told:
        return ""
    second = f", the {short_label(ranked[1])} {told[1]}" if len(told) > 1 else ""
    return f"The {short_label(ranked[0])} differs {told[0]}{second}."


def _brief(key: str, metric: Json) -> str:
    spread, by = interval((metric.get("low"), metric.get("high"))), metric.get("decided_by") or []
    beyond = beyond_chance(key, metric)
    details = [] if spread == UNDEFINED else [spread]
    details += [f"{isolated(by[0])} against {isolated(by[1])}"] if len(by) == 2 else []
    if beyond is not None:
        details.append(f"{'above' if beyond else 'within'} the chance level of {number(metric['chance'])}")
    return f"by {number(metric['value'])}" + (f" ({'; '.join(details)})" if details else "")

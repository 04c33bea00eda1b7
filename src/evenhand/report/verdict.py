"""The findings of an audit in plain sentences.

They say what was measured and how sure it is, never that a model is "fair" or "biased": which gap matters,
and how large a one is acceptable, is for those to decide who know what the predictions are used for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.report.headline import ranked_gaps
from evenhand.report.names import isolated, listed, main_rates, rate_name
from evenhand.report.numbers import UNDEFINED, count, defined, interval, number, percent, probability

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
    Every headline rate is defined in both groups, and every row has a known group.
    """
    sentences = [_largest(audit), _next(audit), _small(audit), _unknown(audit), _undefined(audit)]
    found = [sentence for sentence in sentences if sentence]
    if len(found) < 2:
        names = "both groups" if len(audit["groups"]) == 2 else f"all {len(audit['groups'])} groups"
        found.append(f"Every headline rate is defined in {names}, and every row has a known group.")
    return found


def _largest(audit: Json) -> str:
    ranked = ranked_gaps(audit["metrics"])
    if len(audit["groups"]) < 2:
        return "All rows with a known group are in one group, so that there is nothing to compare."
    if not ranked:
        return "No gap between groups could be computed; the reasons stand in the table of metrics."
    metric = audit["metrics"][ranked[0]]
    if metric["value"] == 0:
        return f"The {_rate(ranked[0])} is the same in all groups, and no other headline rate differs either."
    tail = ", the largest of the headline gaps" if len(ranked) > 1 else ""
    size = f"{_estimate(audit, metric)}{_between(metric)}{tail}"
    return f"The {_rate(ranked[0])} differs by {size}{_chance(metric)}."


def _next(audit: Json) -> str:
    ranked = [key for key in ranked_gaps(audit["metrics"])[1:3] if audit["metrics"][key]["value"] > 0]
    told = [_brief(key, audit["metrics"][key]) for key in ranked]
    if not told:
        return ""
    second = f", the {_rate(ranked[1])} {told[1]}" if len(told) > 1 else ""
    return f"The {_rate(ranked[0])} differs {told[0]}{second}."


def _brief(key: str, metric: Json) -> str:
    spread, by, beyond = (
        interval((metric.get("low"), metric.get("high"))),
        metric.get("decided_by") or [],
        _beyond_chance(metric),
    )
    details = [] if spread == UNDEFINED else [spread]
    details += [f"{isolated(by[0])} against {isolated(by[1])}"] if len(by) == 2 else []
    details += (
        []
        if beyond is None
        else [f"{'above' if beyond else 'within'} the chance level of {number(metric['chance'])}"]
    )
    return f"by {number(metric['value'])}" + (f" ({'; '.join(details)})" if details else "")


def _rate(key: str) -> str:
    return rate_name(key.partition(".")[0])


def _estimate(audit: Json, metric: Json) -> str:
    confidence = (audit.get("method") or {}).get("confidence", 0.95)
    spread = interval((metric.get("low"), metric.get("high")))
    return number(metric["value"]) + (
        "" if spread == UNDEFINED else f" ({confidence * 100:g}% interval {spread})"
    )


def _between(metric: Json) -> str:
    by = metric.get("decided_by") or []
    if len(by) != 2:
        return ""
    of_class = (
        f" in class {isolated(str(metric['decided_in']))}" if metric.get("decided_in") is not None else ""
    )
    return f" between {isolated(by[0])} (highest) and {isolated(by[1])} (lowest){of_class}"


def _beyond_chance(metric: Json) -> bool | None:
    if not defined(metric.get("chance")) or not defined(metric.get("value")):
        return None
    return bool(metric["value"] > metric["chance"])


def _chance(metric: Json) -> str:
    beyond = _beyond_chance(metric)
    if beyond is None:
        return ""
    p = f" ({probability(metric['chance_p'])})" if defined(metric.get("chance_p")) else ""
    verdict = (
        "this is more than chance alone explains"
        if beyond
        else "a gap of this size can come from chance alone"
    )
    level = f"95 of 100 gaps stay under {number(metric['chance'])}{p}"
    return f"; {verdict}: with the group labels dealt at random, {level}"


def _small(audit: Json) -> str:
    small = [group for group in audit["groups"] if group.get("small") or group.get("excluded")]
    if not small:
        return ""
    excluded = [group for group in small if group.get("excluded")]
    names = listed(f"{group['name']} (n = {count(group['n'])})" for group in small)
    fate = (
        "left out of the comparisons"
        if len(excluded) == len(small)
        else "small, and rates there are uncertain"
    )
    sentence = (
        f"The group{'' if len(small) == 1 else 's'} {names} {'is' if len(small) == 1 else 'are'} {fate}"
    )
    for key in ranked_gaps(audit["metrics"])[:1] if excluded else []:
        with_small = audit["metrics"][key].get("with_small")
        if defined(with_small):
            them = "it" if len(small) == 1 else "them"
            sentence += f"; with {them} the {_rate(key)} gap would be {number(with_small)}"
    return f"{sentence}."


def _unknown(audit: Json) -> str:
    unknown = audit.get("unknown") or 0
    if not unknown:
        return ""
    sentence = f"{count(unknown)} {'row has' if unknown == 1 else 'rows have'} no known group"
    sentence += f" ({percent(unknown / audit['n'])} of all)" if audit.get("n") else ""
    for key in ranked_gaps(audit["metrics"])[:1]:
        bounds = interval(audit["metrics"][key].get("bounds"))
        if bounds != UNDEFINED:
            sentence += f"; whichever groups they belong to, the {_rate(key)} gap lies within {bounds}"
    return f"{sentence}."


def _undefined(audit: Json) -> str:
    groups = audit["groups"]
    missing = {
        key: [g["name"] for g in groups if not defined(g["rates"].get(key))] for key in main_rates(audit)
    }
    cases = [(key, names) for key, names in missing.items() if names]
    if not cases:
        return ""
    key, names = max(cases, key=lambda case: len(case[1]))
    others = f" (and {len(cases) - 1} more of the main rates in some group)" if len(cases) > 1 else ""
    shown = f"undefined is shown as {UNDEFINED}, never as 0"
    return f"The {rate_name(key)} is undefined for {listed(names)}{others}: {shown}."

"""What a reader must know before using the numbers: small groups, unknown rows, undefined rates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.report.headline import ranked_gaps, short_label
from evenhand.report.names import listed, main_rates, rate_name
from evenhand.report.numbers import UNDEFINED, count, defined, interval, number, percent

Json = Mapping[str, Any]


def small_groups(audit: Json) -> str:
    """A sentence on groups that are left out, small or empty; nothing when there are none.

    >>> small_groups({"groups": [{"name": "a", "n": 3, "excluded": True}], "metrics": {}})
    'The group a (n = 3) is left out of the comparisons.'
    """
    filled = [group for group in audit["groups"] if group["n"]]
    left_out = [group for group in filled if group.get("excluded")]
    small = [group for group in filled if group.get("small") and not group.get("excluded")]
    empty = len(audit["groups"]) - len(filled)
    parts = (
        [f"{_the_groups(left_out)} left out of the comparisons{_with_them(audit, left_out)}"]
        if left_out
        else []
    )
    parts += [f"{_the_groups(small)} small, and the rates there are uncertain"] if small else []
    parts += [f"{empty} {'group has' if empty == 1 else 'groups have'} no rows at all"] if empty else []
    sentence = "; ".join([*parts[:1], *(part[0].lower() + part[1:] for part in parts[1:])])
    return f"{sentence}." if sentence else ""


def _the_groups(groups: Sequence[Json]) -> str:
    names = listed((f"{group['name']} (n = {count(group['n'])})" for group in groups), limit=2)
    return f"The group {names} is" if len(groups) == 1 else f"The groups {names} are"


def _with_them(audit: Json, groups: Sequence[Json]) -> str:
    for key in ranked_gaps(audit["metrics"])[:1]:
        with_small = audit["metrics"][key].get("with_small")
        if defined(with_small) and with_small != audit["metrics"][key]["value"]:
            them = "it" if len(groups) == 1 else "them"
            return f" (with {them} the {short_label(key)} gap would be {number(with_small)})"
    return ""


def unknown_rows(audit: Json) -> str:
    """A sentence on rows without a known group, and what they could change.

    >>> unknown_rows({"n": 40, "unknown": 1, "metrics": {}})
    '1 row has no known group (2.5% of all).'
    """
    unknown = audit.get("unknown") or 0
    if not unknown:
        return ""
    sentence = f"{count(unknown)} {'row has' if unknown == 1 else 'rows have'} no known group"
    sentence += f" ({percent(unknown / audit['n'])} of all)" if audit.get("n") else ""
    for key in ranked_gaps(audit["metrics"])[:1]:
        bounds = interval(audit["metrics"][key].get("bounds"))
        if bounds != UNDEFINED:
            sentence += f"; whichever groups they belong to, the {short_label(key)} gap lies within {bounds}"
    return f"{sentence}."


def undefined_rates(audit: Json) -> str:
    """A sentence on main rates that some group with rows lacks.

    >>> undefined_rates({"groups": [{"name": "a", "n": 3, "rates": {"tpr": None}},
    ...                             {"name": "b", "n": 3, "rates": {"tpr": 0.5}}]})
    'The true positive rate is undefined for a: undefined is shown as –, never as 0.'
    """
    filled = [group for group in audit["groups"] if group["n"]]
    missing = {
        key: [g["name"] for g in filled if not defined(g["rates"].get(key))] for key in main_rates(audit)
    }
    cases = [(key, names) for key, names in missing.items() if names]
    if not cases:
        return ""
    key, names = max(cases, key=lambda case: len(case[1]))
    others = f", and {len(cases) - 1} more of the main rates for some group" if len(cases) > 1 else ""
    shown = f"undefined is shown as {UNDEFINED}, never as 0"
    return f"The {rate_name(key)} is undefined for {listed(names)}{others}: {shown}."

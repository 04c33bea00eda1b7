"""Whom an alternative hurt: the classes and groups that paid or gained, as rows and as a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.report.names import isolated, listed
from evenhand.report.numbers import interval, number
from evenhand.report.told_apart import most_p, told_from_zero

Json = Mapping[str, Any]
KINDS = {"classes": "class", "groups": "group", "cells": "class in group"}
NAMED = 3  # of those that paid
NOT_SHOWN = "not shown"


def paid_rows(comparison: Json) -> list[dict[str, Any]]:
    """Every class and group of every alternative, and classes within groups of which something is shown."""
    found = [
        {"model": model, "kind": kind, **one}
        for model, paid in (comparison.get("paid") or {}).items()
        for key, kind in KINDS.items()
        for one in paid.get(key) or ()
        if key != "cells" or one["verdict"] != NOT_SHOWN
    ]
    return sorted(found, key=_order)


def _order(row: Json) -> tuple[bool, bool, float]:
    """What is shown first, classes and groups before classes within groups, the largest loss first."""
    return row["verdict"] == NOT_SHOWN, row["kind"] == KINDS["cells"], row["difference"] or 0.0


def pair_rows(comparison: Json) -> list[dict[str, Any]]:
    """CEV and SDE of every alternative within every group, and how many classes are left out of them."""
    return [
        {"model": model, **one, "skipped": one["cev"]["skipped"]}
        for model, paid in (comparison.get("paid") or {}).items()
        for one in paid.get("groups") or ()
        if one.get("cev")
    ]


def paid_sentence(comparison: Json) -> str:
    """Who surely lost by the alternative that hurt most, and by which others; or that nobody is shown to.

    >>> cat = {"name": "cat", "difference": -0.2, "verdict": "paid"}
    >>> dog = {"name": "dog", "difference": -0.1, "verdict": "paid"}
    >>> paid_sentence({"paid": {"small": {"classes": [cat]}, "tiny": {"classes": [dog]}}})
    'Paid for small: class “cat” (−0.200). For tiny 1 is shown to have, most “dog” (−0.100).'
    """
    paid = comparison.get("paid") or {}
    if not any(entry.get("classes") for entry in paid.values()):
        return ""
    by = {model: _payers(entry) for model, entry in paid.items()}
    model = min(by, key=lambda name: min((one["difference"] for _, one in by[name]), default=0.0))
    if not by[model]:
        return _nobody_alone(comparison)
    told = [f"{kind} “{isolated(str(one['name']))}” ({number(one['difference'], signed=True)})"
            for kind, one in by[model][:NAMED]]  # fmt: skip
    more = len(by[model]) - NAMED
    first = f"Paid for {isolated(model)}: {', '.join(told)}{f' and {more} more' if more > 0 else ''}."
    return " ".join([first, *_others({name: found for name, found in by.items() if name != model})])


def _others(by: Mapping[str, list[tuple[str, Json]]]) -> list[str]:
    """How many paid for each of the other alternatives, and who most; for which nobody is shown to have."""
    told = []
    for model, found in sorted(by.items(), key=lambda pair: -len(pair[1])):
        if found:
            worst = found[0][1]
            most = f"“{isolated(str(worst['name']))}” ({number(worst['difference'], signed=True)})"
            are = "1 is" if len(found) == 1 else f"{len(found)} are"
            told.append(f"For {isolated(model)} {are} shown to have, most {most}.")
    spared = [isolated(model) for model, found in by.items() if not found]
    if spared:
        told.append(f"For {listed(spared)} nobody is shown to have.")
    return told


def _nobody_alone(comparison: Json) -> str:
    """That nobody is shown to have lost; and where all rows together are, that their loss is somebody's.

    >>> acc = {"difference": -0.1, "low": -0.12, "high": -0.08, "p": 0.001}
    >>> print(_nobody_alone({"differences": {"small": {"acc": acc}}}).split("But ")[1].split(":")[0])
    accuracy over all rows fell by 0.100 (0.080 to 0.120) with small
    """
    most = most_p(comparison)
    found = {
        model: own["acc"] for model, own in (comparison.get("differences") or {}).items() if "acc" in own
    }
    fell = {model: one for model, one in found.items() if told_from_zero(one, most) and one["high"] < 0}
    nobody = "No class or group{} is shown to have lost by an alternative."
    if not fell:
        return nobody.format("")
    model = min(fell, key=lambda name: fell[name]["difference"])
    one = fell[model]
    size = f"{number(-one['difference'])} ({interval((-one['high'], -one['low']))})"
    return (
        f"{nobody.format(' alone')} But accuracy over all rows fell by {size} with {isolated(model)}: those "
        "who lost have too few rows each, or lost too little, to be told from chance."
    )


def _payers(entry: Json) -> list[tuple[str, Json]]:
    found = [
        (KINDS[key], one)
        for key in ("classes", "groups")
        for one in entry.get(key) or ()
        if one["verdict"] == "paid"
    ]
    return sorted(found, key=lambda pair: pair[1]["difference"])

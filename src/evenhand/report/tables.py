"""Coloured tables: groups against rates, classes against groups, one attribute against another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.report.headline import GAPS, present
from evenhand.report.names import rate_head, rate_name, rates_present, why_undefined
from evenhand.report.numbers import UNDEFINED, defined, interval, number
from evenhand.report.palette import step_from_reference

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Cell:
    """One coloured cell: its text, the class of its colour and what is told on hover."""

    text: str
    colour: str
    note: str = ""


def rate_cell(group: Json, key: str, overall: Json) -> Cell:
    """The cell of a group's rate, coloured by its distance from the rate of all rows.

    >>> group = {"n": 5, "rates": {"tpr": 0.5}, "intervals": {"tpr": [0.4, 0.6]}}
    >>> rate_cell(group, "tpr", {"rates": {"tpr": 0.8}})
    Cell(text='0.500', colour='b4', note='interval 0.400 to 0.600')
    """
    value = group["rates"].get(key)
    if not defined(value):
        return Cell(UNDEFINED, "na", why_undefined(key, group))
    reference = None if group.get("excluded") else overall["rates"].get(key)
    spread = interval((group.get("intervals") or {}).get(key))
    distance = value - reference if defined(reference) else None
    return Cell(
        number(value),
        step_from_reference(distance or 0.0),
        f"interval {spread}" if spread != UNDEFINED else "",
    )


def rates_table(groups: Sequence[Json], overall: Json) -> dict[str, Any]:
    """Groups against rates, with all rows at the top."""
    keys = rates_present([*groups, overall])
    largest = max([1, *(group["n"] for group in groups)])
    rows = [
        {
            "group": group,
            "share": group["n"] / largest,
            "cells": [rate_cell(group, key, overall) for key in keys],
        }
        for group in sorted(groups, key=lambda group: not group["n"])  # those without rows at the end
    ]
    heads = [{"key": key, "head": rate_head(key), "name": rate_name(key)} for key in keys]
    return {"heads": heads, "rows": rows, "overall": [rate_cell(overall, key, overall) for key in keys]}


def class_table(audit: Json, key: str = "tpr") -> dict[str, Any] | None:
    """Classes against groups for one rate, the classes with the widest gap first."""
    groups = [group for group in audit["groups"] if (group.get("per_class") or {}).get(key)]
    if not groups or (len(audit["classes"]) < 3 and audit["task"] != "multilabel"):
        return None
    reference = (audit["overall"].get("per_class") or {}).get(key) or [None] * len(audit["classes"])
    rows = []
    for i, name in enumerate(audit["classes"]):
        values = [group["per_class"][key][i] for group in groups]
        known = [x for x in values if defined(x)]
        gap = max(known) - min(known) if len(known) > 1 else None
        cells = [_class_cell(x, reference[i], key) for x in values]
        rows.append({"class": name, "overall": number(reference[i]), "gap": gap, "cells": cells})
    rows.sort(key=lambda row: -(row["gap"] if row["gap"] is not None else -1.0))
    return {"groups": [group["name"] for group in groups], "rows": rows, "rate": rate_name(key)}


def class_gaps(audit: Json) -> dict[str, Any] | None:
    """The headline gaps of each class by itself (a metric's value is their mean); None for two classes."""
    keys = [key for key in present(audit["metrics"], GAPS) if audit["metrics"][key].get("per_class")]
    if not keys or audit["task"] == "binary":
        return None
    columns = [audit["metrics"][key]["per_class"] for key in keys]
    rows = [(name, [column[i] for column in columns]) for i, name in enumerate(audit["classes"])]
    return {"heads": [rate_head(key.partition(".")[0]) for key in keys], "keys": keys, "rows": rows}


def _class_cell(value: float | None, reference: float | None, key: str) -> Cell:
    if not defined(value) or value is None:
        return Cell(UNDEFINED, "na", why_undefined(key, {"n": 1}).replace("the positive label", "this class"))
    distance = value - reference if reference is not None and defined(reference) else 0.0
    return Cell(number(value), step_from_reference(distance))


def crossing(audit: Json, key: str) -> dict[str, Any] | None:
    """Two attributes against each other for one rate, each alone at the margin; else None."""
    alone = audit.get("attributes") or {}
    if len(audit["grouping"]) != 2 or any(name not in alone for name in audit["grouping"]):
        return None
    first, second = audit["grouping"]
    overall = audit["overall"]
    by_levels = {
        (g["levels"].get(first), g["levels"].get(second)): g for g in audit["groups"] if g.get("levels")
    }
    rows = []
    for group in alone[first]["groups"]:
        inner = [by_levels.get((group["name"], other["name"])) for other in alone[second]["groups"]]
        cells = [rate_cell(g, key, overall) if g else Cell(UNDEFINED, "na", "no such group") for g in inner]
        ns = [g["n"] if g else 0 for g in inner]
        rows.append(
            {
                "name": group["name"],
                "cells": list(zip(cells, ns, strict=True)),
                "alone": (rate_cell(group, key, overall), group["n"]),
            }
        )
    bottom = [(rate_cell(group, key, overall), group["n"]) for group in alone[second]["groups"]]
    return {
        "key": key,
        "rate": rate_name(key),
        "first": first,
        "second": second,
        "rows": rows,
        "bottom": bottom,
        "columns": [group["name"] for group in alone[second]["groups"]],
        "corner": (rate_cell(overall, key, overall), audit["n"]),
    }

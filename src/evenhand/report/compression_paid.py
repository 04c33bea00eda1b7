"""Whom compression hurt: classes, groups and classes within groups, each with its change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.report.compression_names import PRINTED, where
from evenhand.report.numbers import UNDEFINED, defined, interval, number, probability
from evenhand.report.study_tables import Table

Json = Mapping[str, Any]
MOST_LISTED = 20  # classes or groups on a page
DIGITS = {"cev": 4, "sde": 3, "cev_norm": 5, "sde_norm": 4}


def paid_table(study: Json, problem: Json, kind: str, chosen: Sequence[Json] | None = None) -> Table:
    """Classes, groups or cells: share answered rightly before and after, the change, and its p."""
    paid = _once(problem["paid"], kind) if chosen is None else chosen
    rows = [_payment(row, one, kind) for row in paid for one in _listed(row[kind], chosen is not None)]
    heads = ("Method", "Level", "By", kind.capitalize(), "Rows", "Base", "Compressed", "Change", "Interval",
             "Holm's p", "Verdict")  # fmt: skip
    more = ("CEV", "SDE", "CEV norm.", "SDE norm.", "Skipped") if kind == "groups" else ()
    title = {"classes": "Which classes paid", "groups": "Which groups paid", "cells": "Classes within groups"}
    return Table(f"{title[kind]}{where(study, problem)}", (*heads, *more), tuple(rows))


def _listed(entries: Sequence[Json], on_page: bool) -> Sequence[Json]:
    """All of them; of many, a page lists those that paid or gained."""
    if not on_page or len(entries) <= MOST_LISTED:
        return entries
    return [one for one in entries if one["verdict"] != "not shown"]


def _once(paid: Sequence[Json], kind: str) -> list[Json]:
    """Classes are the same whatever the grouping: those of the first one."""
    first = paid[0]["grouping"] if paid else ""
    return [row for row in paid if kind != "classes" or row["grouping"] == first]


def _payment(row: Json, one: Json, kind: str) -> tuple[Any, ...]:
    by = "" if kind == "classes" else row["grouping"]
    found = (
        row["method"], row["level"], by, one["name"], one["n"], one["base"], one["value"],
        number(one["difference"], signed=True), interval((one["low"], one["high"]), signed=True),
        probability(one["p"]), one["verdict"],
    )  # fmt: skip
    if kind != "groups":
        return found
    return (*found, *(_pair(one[key], digits) for key, digits in DIGITS.items()), one["cev"]["skipped"])


def _pair(found: Json, digits: int) -> str:
    if not defined(found["value"]):
        return UNDEFINED
    ends = interval((found["low"], found["high"]), digits)
    return number(found["value"], digits) + ("" if ends == UNDEFINED else f" ({ends})")


def payers(problem: Json, method: str, level: str, kind: str) -> list[Json]:
    """The classes or groups that paid by a method, the largest loss first."""
    rows = [row for row in _once(problem["paid"], kind) if (row["method"], row["level"]) == (method, level)]
    found = [one for row in rows for one in row[kind] if one["verdict"] == "paid"]
    return sorted(found, key=lambda one: one["difference"])


def shown_paid(problem: Json, level: str) -> list[Json]:
    """What the page shows of a level: pruning alone, or the first method."""
    rows = [row for row in problem["rows"] if row["level"] == level]
    first = next((row for row in rows if row["role"] == "pruning"), rows[0] if rows else None)
    if first is None:
        return []
    return [row for row in problem["paid"] if (row["method"], row["level"]) == (first["method"], level)]


def paid_sentence(problem: Json, row: Json) -> str:
    """Whom a method hurt at a level, in a sentence."""
    told = []
    for kind in ("classes", "groups"):
        found = payers(problem, row["method"], row["level"], kind)
        each = [f"{one['name']} ({number(one['difference'], signed=True)})" for one in found[:4]]
        more = f" and {len(found) - 4} more" if len(found) > 4 else ""
        told.append(f"{kind} {', '.join(each)}{more}" if found else f"no {kind}")
    level = f" at {row['level']}" if row["level"] else ""
    return f"{PRINTED.get(row['role'], row['method'])}{level}: paid by {'; '.join(told)}."

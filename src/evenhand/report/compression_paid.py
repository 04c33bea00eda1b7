"""Whom compression hurt: classes, groups and classes within groups, each with its change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.report.compression_names import PRINTED, where
from evenhand.report.numbers import defined, interval, number, p_value
from evenhand.report.study_tables import Table

Json = Mapping[str, Any]
MOST_LISTED = 20  # classes or groups on a page
DIGITS = {"cev": 3, "sde": 3, "cev_norm": 5, "sde_norm": 4}


TITLES = {"classes": "Which classes paid", "groups": "Which groups paid", "cells": "Classes within groups"}
WHOM = {"classes": "Class", "groups": "Group", "cells": "Class in group"}
HEADS = ("Change", "Interval", "Holm's p", "Verdict", "Rows", "Base", "Compressed")
PAIRS = ("CEV", "Interval", "SDE", "Interval", "CEV norm.", "SDE norm.", "Skipped")


def paid_table(study: Json, problem: Json, kind: str) -> Table:
    """Classes, groups or cells of all methods as plain numbers, for a file; every end has a column."""
    pairs = tuple(DIGITS) if kind == "groups" else ()
    rows = [
        (row["method"], row["level"], "" if kind == "classes" else row["grouping"], one["name"],
         *(one[key] for key in COLUMNS), *(one[key][end] for key in pairs for end in ENDS),
         *((one["cev"]["skipped"],) if pairs else ()))
        for row in _once(problem["paid"], kind) for one in row[kind]
    ]  # fmt: skip
    more = (*(f"{key} {end}" for key in pairs for end in ENDS), *(("skipped",) if pairs else ()))
    heads = ("method", "level", "by", WHOM[kind].lower(), *COLUMNS, *more)
    return Table(f"{TITLES[kind]}{where(study, problem)}", heads, tuple(rows))


COLUMNS = ("n", "base", "value", "difference", "low", "high", "p", "verdict")
ENDS = ("value", "low", "high")


def page_tables(study: Json, problem: Json, level: str) -> list[Table]:
    """What a page shows of a level: who paid for pruning alone, and CEV and SDE within the groups."""
    shown = shown_paid(problem, level)
    if not shown:
        return []
    of = f": {shown[0]['method']}{where(study, problem, level)}"
    classes = [(one["name"], *_payment(one)) for one in _listed(shown[0]["classes"])]
    every = [(row["grouping"], one) for row in shown for one in _listed(row["groups"])]
    groups = [(by, one["name"], *_payment(one)) for by, one in every]
    known = any(defined(one[key]["value"]) for _, one in every for key in ("cev", "sde"))
    within = [(by, one["name"], one["n"], *_pairs(one)) for by, one in every] if known else []
    found = [
        Table(f"{TITLES['classes']}{of}", (WHOM["classes"], *HEADS), tuple(classes)),
        Table(f"{TITLES['groups']}{of}", ("By", WHOM["groups"], *HEADS), tuple(groups)),
        Table(f"CEV and SDE within the groups{of}", ("By", "Group", "Rows", *PAIRS), tuple(within), WITHIN),
    ]
    return [table for table in found if table.rows]


WITHIN = (
    "Compressed against base on the rows of the group alone. Skipped: classes without a relative change "
    "there (no rows, or no error of the base); a group that is made of one class has neither number."
)


def _listed(entries: Sequence[Json]) -> Sequence[Json]:
    """All of them; of many, those that paid or gained."""
    if len(entries) <= MOST_LISTED:
        return entries
    return [one for one in entries if one["verdict"] != "not shown"]


def _once(paid: Sequence[Json], kind: str) -> list[Json]:
    """Classes are the same whatever the grouping: those of the first one."""
    first = paid[0]["grouping"] if paid else ""
    return [row for row in paid if kind != "classes" or row["grouping"] == first]


def _payment(one: Json) -> tuple[Any, ...]:
    return (
        number(one["difference"], signed=True), interval((one["low"], one["high"]), signed=True),
        p_value(one["p"]), one["verdict"], one["n"], number(one["base"]), number(one["value"]),
    )  # fmt: skip


def _pairs(one: Json) -> tuple[Any, ...]:
    """CEV and SDE each with its interval, then their normalised forms, whose intervals are in the file."""
    found = []
    for key in ("cev", "sde"):
        ends = (one[key]["low"], one[key]["high"]) if defined(one[key]["value"]) else None
        found += [number(one[key]["value"], 3), interval(ends, 2)]
    norms = (number(one[key]["value"], DIGITS[key]) for key in ("cev_norm", "sde_norm"))
    return (*found, *norms, one["cev"]["skipped"])


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

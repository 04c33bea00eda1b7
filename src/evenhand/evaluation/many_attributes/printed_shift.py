"""S4's Tables 4 and 5 beside ours in the same shape: gaps on clean faces, under noise and under impulses.

They are CelebA's at 128 pixels; delta ER, which a study of S1's does not measure, is left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evenhand.evaluation.equalized_robustness.printed import Printed, printed
from evenhand.evaluation.many_attributes.layout import PART
from evenhand.evaluation.many_attributes.runs import Runs, Structure

NAN = float("nan")
TABLES = {"attractive, chubby": 4, "attractive, eyeglasses": 5}  # the task of a study: S4's table
METHODS = {"erm": "normal"}  # what S4 calls it, where that is another name
NOT_MEASURED = "delta_er"
TOLD = {"acc": "accuracy", "delta_eopp": "ΔEOpp", "delta_eo": "ΔEO"}
Column = tuple[str, str]  # part or shift, metric


def shift_tables(runs: Runs) -> list[dict[str, Any]]:
    """One for each network that a study has on the task of a table."""
    return [_table(runs, track, TABLES[track[0]]) for track in runs.tracks if track[0] in TABLES]


def _table(runs: Runs, track: tuple[str, str], number: int) -> dict[str, Any]:
    theirs = {(one.method, one.part, one.metric): one for one in printed(number)}
    columns = [column for column in dict.fromkeys((part, metric) for _, part, metric in theirs)
               if column[1] != NOT_MEASURED]  # fmt: skip
    where = runs.of(track)[0]
    rows = [
        {"method": runs.shown(method), "cells": [
            _cell(runs, where, method, column, theirs.get((METHODS.get(method, method), *column)))
            for column in columns
        ]}
        for method in runs.methods
        if runs.values(where, method, "acc")
    ]  # fmt: skip
    names = [_name(*column) for column in columns]
    return {"title": f"Table {number} of S4", "track": runs.track_name(track), "columns": names,
            "keys": names, "rows": rows}  # fmt: skip


def _name(part: str, metric: str) -> str:
    """What a column is called.

    >>> _name("test", "acc"), _name("gaussian 0.08", "delta_eo")
    ('accuracy', 'ΔEO, gaussian 0.08')
    """
    return TOLD[metric] if part == PART else f"{TOLD[metric]}, {part}"


def _cell(
    runs: Runs, where: Structure, method: str, column: Column, theirs: Printed | None
) -> dict[str, float | None]:
    part, metric = column
    if part == PART:
        found = runs.values(where, method, metric)
    else:
        kind, severity = part.rsplit(" ", 1)
        found = runs.under(where, method, (kind, float(severity)), metric)
    ours = list(found.values())
    return {
        "mean": float(np.mean(ours)) if ours else NAN,
        "std": float(np.std(ours, ddof=1)) if len(ours) > 1 else NAN,
        "printed": theirs.value if theirs else NAN,
        "printed_std": theirs.deviation if theirs else NAN,
    }

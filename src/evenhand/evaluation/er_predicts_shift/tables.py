"""The correlations of the study as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.evaluation.er_predicts_shift.layout import LEVEL, OUTCOMES, PREDICTORS
from evenhand.evaluation.er_predicts_shift.pooling import PARTIAL, PLAIN
from evenhand.evaluation.er_predicts_shift.words import rho
from evenhand.report.numbers import UNDEFINED
from evenhand.report.study_tables import Table

Json = Mapping[str, Any]
COLUMNS = [(outcome, kind) for outcome in OUTCOMES for kind in (PLAIN, PARTIAL)]
HEADS = tuple(f"{'level' if outcome == LEVEL else 'change'}{'' if kind == PLAIN else ', partial'}"
              for outcome, kind in COLUMNS)  # fmt: skip
NOTE = (
    "Spearman's rho with 95 % intervals over splits and settings. Level: delta EO under shift; change: how "
    "far it is from that on clean rows. Partial: delta EO and accuracy on clean rows held fixed."
)


def pooled_table(body: Json) -> Table:
    """What each number on clean rows foretells, over all tasks and shifts."""
    rows = [(PREDICTORS[key], *_across(body["pooled"], predictor=key)) for key in PREDICTORS]
    return Table("Pooled", ("On clean rows", *HEADS), tuple(rows), NOTE)


def task_table(body: Json) -> Table:
    """The same for each task."""
    tasks = dict.fromkeys(row["task"] for row in body["by_task"])
    rows = [
        (task, PREDICTORS[key], *_across(body["by_task"], task=task, predictor=key))
        for task in tasks for key in PREDICTORS
    ]  # fmt: skip
    return Table("Tasks", ("Task", "On clean rows", *HEADS), tuple(rows), NOTE)


def shift_table(body: Json) -> Table:
    """Delta ER under each shift, over the tasks."""
    shifts = dict.fromkeys((row["shift"], row["severity"]) for row in body["by_shift"])
    rows = [
        (shift, f"{severity:g}", *_across(body["by_shift"], shift=shift, severity=severity))
        for shift, severity in shifts
    ]
    return Table("Shifts", ("Shift", "Severity", *HEADS), tuple(rows), NOTE)


def cell_table(body: Json) -> Table:
    """Delta ER on each task under each shift."""
    cells = dict.fromkeys((row["task"], row["shift"], row["severity"]) for row in body["cells"])
    rows = []
    for task, shift, severity in cells:
        found = {row["outcome"]: rho(row) for row in body["cells"]
                 if (row["task"], row["shift"], row["severity"]) == (task, shift, severity)}  # fmt: skip
        rows.append((task, shift, f"{severity:g}", *(found[outcome] for outcome in OUTCOMES)))
    return Table("Cells", ("Task", "Shift", "Severity", "level", "change"), tuple(rows), NOTE)


def _across(rows: list[Json], **place: Any) -> list[str]:
    """The cells of one line."""
    found = {
        (row["outcome"], row["kind"]): rho(row)
        for row in rows
        if all(row[name] == value for name, value in place.items())
    }
    return [found.get(column, UNDEFINED) for column in COLUMNS]

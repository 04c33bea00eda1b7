"""The numbers of the study as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.evaluation.ci_mnist_marks.layout import BASE, BESIDE, COLOURS, MARKS, METHODS, SHOWN
from evenhand.evaluation.ci_mnist_marks.words import moved
from evenhand.report.numbers import interval, number, probability
from evenhand.report.study_tables import Table

Json = Mapping[str, Any]


def added_table(body: Json, base: bool) -> Table:
    """What the marks add to the MLP (`base`), or to the other methods."""
    rows = [
        (COLOURS[row["colours"]], METHODS[row["method"]], row["words"],
         *(moved(row["numbers"][key]) for key in SHOWN))
        for row in body["added"]
        if (row["method"] == BASE) == base
    ]  # fmt: skip
    note = (
        "With these marks less with fewer, paired over seeds; Student's intervals of 95 %, each for itself."
    )
    return Table("Added", ("clr", "Model", "Added", *SHOWN.values()), tuple(rows), note)


def level_table(body: Json) -> Table:
    """The chosen model of every method on every task."""
    rows = [
        (COLOURS[row["colours"]], MARKS[row["marks"]], METHODS[row["method"]], row["setting"],
         *(_level(row["numbers"][key]) for key in SHOWN))
        for row in body["levels"]
    ]  # fmt: skip
    note = (
        "Means over seeds with Student's intervals of 95 %; EqOdd is 1 where both colours are treated alike."
    )
    return Table("Levels", ("clr", "Marks", "Model", "Setting", *SHOWN.values()), tuple(rows), note)


def _level(found: Json) -> str:
    return f"{number(found['mean'])} ({interval((found['low'], found['high']))})"


def fall_table(body: Json) -> Table:
    """How far the MLP falls on blue digits, for all marks."""
    rows = [(MARKS[row["marks"]], moved(row), row["n"]) for row in body["falls"]]
    return Table(
        "Falls", ("Marks", "up-acc of the MLP at (0.001, 0.001) less at (0.5, 0.5)", "Seeds"), tuple(rows)
    )


def recovery_table(body: Json) -> Table:
    """Each method less the MLP where blue is rare."""
    rows = [
        (MARKS[row["marks"]], METHODS[row["method"]], row["setting"], moved(row), row["n"],
         probability(row["p"]), probability(row["corrected"]), number(row["share"], 2),
         "yes" if row["recovers"] else "not shown", *(moved(row["beside"][key]) for key in BESIDE))
        for row in body["recovery"]
    ]  # fmt: skip
    heads = ("Marks", "Model", "Setting", "up-acc less the MLP's", "Seeds", "p", "p, Holm", "Of the fall",
             "Gains on the MLP", *(f"{SHOWN[key]} less the MLP's" for key in BESIDE))  # fmt: skip
    note = "At (0.001, 0.001). Holm's correction is over the methods at the same marks."
    return Table("Recovery", heads, tuple(rows), note)


def unchosen_table(body: Json) -> Table:
    """Every setting for itself, nothing chosen."""
    rows = [
        (MARKS[row["marks"]], METHODS[row["method"]], f"{len(row['gaining'])} of {row['settings']}",
         "; ".join(row["gaining"]) or "none")
        for row in body["unchosen"]
    ]  # fmt: skip
    note = (
        "At (0.001, 0.001), up-acc. Holm's correction is over all settings of all methods at the same marks."
    )
    return Table("Unchosen", ("Marks", "Model", "Settings that gain on the MLP", "Which"), tuple(rows), note)

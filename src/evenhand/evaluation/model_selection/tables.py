"""The zoo as S2's Table 2, its similar pairs, and every cell of the matrices, as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.evaluation.model_selection.layout import MATRICES
from evenhand.report.numbers import UNDEFINED, interval, number
from evenhand.report.spread_table import spread_table, spread_view
from evenhand.report.study_tables import Table

Json = Mapping[str, Any]
DECIMALS = {"Top-1": 4, "Top-5": 4, "Change of top-1": 4, "CEV norm.": 4}  # of the tables over runs


def zoo_table(task: Json) -> Table:
    """Index, model, top-1 with its interval over seeds, top-5, size of an input, parameters (S2, Table 2)."""
    size = "x".join(str(side) for side in task["inputs"]) or UNDEFINED
    rows = [
        (
            index, row["model"], f"{number(row['top1'], 4)} ({interval((row['low'], row['high']), 4)})",
            number(row["top5"], 4), number(row["worst"]), size,
            row["parameters"],
        )
        for index, row in enumerate(task["models"])
    ]  # fmt: skip
    return Table(
        "zoo",
        ("Index", "Model", "Top-1", "Top-5", "Recall of the worst class", "Input", "Parameters"),
        tuple(rows),
    )


def pair_table(task: Json) -> Table:
    """Similar models: how much more CEV, SDE and recall in its worst class the first has."""
    heads = (
        "First", "Second", "CEV, first less second", "p (Holm)", "SDE, first less second", "p (Holm)",
        "Singled out", "Its worst class is worse", "Worst recall, first less second",
    )  # fmt: skip
    rows = [
        (
            pair["first"], pair["second"], _difference(pair, "cev"), number(pair["p_holm"]["cev"]),
            _difference(pair, "sde"), number(pair["p_holm"]["sde"]), pair["singled_out"] or UNDEFINED,
            UNDEFINED if pair["worse"] is None else "yes" if pair["worse"] else "no",
            _difference(pair, "worst"),
        )
        for pair in task["pairs"]
    ]  # fmt: skip
    return Table("pairs", heads, tuple(rows))


def cell_table(body: Json) -> Table:
    """Every cell of every matrix, mean over seeds."""
    rows = [
        (
            task["task"], base["model"], other["model"],
            *(task["matrices"][key][i][j] for key in MATRICES),
        )
        for task in body["tasks"]
        for i, base in enumerate(task["models"])
        for j, other in enumerate(task["models"])
        if i != j
    ]  # fmt: skip
    return Table("cells", ("task", "row", "column", *MATRICES), tuple(rows))


def runs_table(body: Json) -> Table:
    """Mean, deviation and range over seeds of every number, with all digits: what the file holds."""
    lines = [
        {"model": line["model"], "against": line["against"], "task": task["task"], **line}
        for task in body["tasks"]
        for part in task["runs"].values()
        for line in part
    ]
    return spread_table(lines)


def runs_view(task: Json, part: str) -> Table:
    """The same of one part of the page, to be read: "models", "cells", "pairs" or "agreement"."""
    alone = part in ("models", "agreement")
    return spread_view(task["runs"][part], decimals=DECIMALS, without="against" if alone else "")


def _difference(pair: Json, key: str) -> str:
    ends = interval((pair[f"{key}_low"], pair[f"{key}_high"]), signed=True)
    return f"{number(pair[key], signed=True)} ({ends})"

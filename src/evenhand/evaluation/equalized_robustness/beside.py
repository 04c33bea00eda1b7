"""Ours beside what the paper prints: mean and deviation over splits, the printed number, the difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evenhand.evaluation.equalized_robustness.arms import Arm, Runs
from evenhand.evaluation.equalized_robustness.layout import BESIDE, MAIN_TABLES, METHODS, columns, head
from evenhand.evaluation.equalized_robustness.printed import Printed, printed
from evenhand.evaluation.study.numbers import sample_std

NAN = float("nan")


@dataclass(frozen=True)
class Cell:
    """A number of ours by seed, and what the paper prints in its place, if it prints anything."""

    values: Mapping[int, float] = field(default_factory=dict)
    printed: Printed | None = None

    @property
    def mean(self) -> float:
        """Over splits; NaN without a run."""
        return float(np.mean(list(self.values.values()))) if self.values else NAN

    def to_dict(self) -> dict[str, Any]:
        """As a report reads it; `difference` is ours less the paper's."""
        told = self.printed
        known = np.array(list(self.values.values()), dtype=np.float64)
        return {
            "mean": self.mean, "std": sample_std(known), "n": len(known),
            "printed": None if told is None else told.value,
            "printed_std": None if told is None else told.deviation,
            "note": "" if told is None else told.note,
            "difference": None if told is None else self.mean - told.value,
            "values": {str(seed): value for seed, value in sorted(self.values.items())},
        }  # fmt: skip


def main_table(runs: Runs, table: int) -> dict[str, Any]:
    """Tables 1, 2, 3, 8 and 9: a row for each method, those that the paper lacks last."""
    task, severity = MAIN_TABLES[table]
    told = {(one.method, one.part, one.metric): one for one in printed(table)}
    rows = [
        {"method": method, "cells": [
            Cell(runs.values(Arm.of(task, method), metric, part), told.get((method, part, metric))).to_dict()
            for part, metric in columns(severity)
        ]}
        for method in (*METHODS, *BESIDE)
    ]  # fmt: skip
    heads = [
        {"part": part, "metric": metric, "name": head(part, metric)} for part, metric in columns(severity)
    ]
    return {"table": table, "task": task, "severity": severity, "heads": heads, "rows": rows}


def cells_of(runs: Runs, table: int) -> list[dict[str, Any]]:
    """Tables 6 and 7: every printed number with ours, in the paper's order."""
    return [
        {"alpha": one.alpha, "gamma": one.gamma, "h": one.h, "part": one.part, "metric": one.metric,
         "name": head(one.part, one.metric),
         **Cell(runs.values(one.arm, one.metric, one.part), one).to_dict()}
        for one in printed(table)
    ]  # fmt: skip


def nearness(tables: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """How far ours lie from the paper's, by metric: mean difference and mean size of it."""
    found: dict[str, list[float]] = {}
    for table in tables:
        for row in table["rows"]:
            for column, cell in zip(table["heads"], row["cells"], strict=True):
                if cell["difference"] is not None and not np.isnan(cell["difference"]):
                    found.setdefault(column["metric"], []).append(cell["difference"])
    return [
        {"metric": metric, "n": len(values), "mean": float(np.mean(values)),
         "size": float(np.mean(np.abs(values)))}
        for metric, values in found.items()
    ]  # fmt: skip

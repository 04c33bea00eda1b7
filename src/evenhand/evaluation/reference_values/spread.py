"""Mean, deviation and range over seeds of every number of ours that stands beside a public one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evenhand.evaluation.reference_values.beside import Beside
from evenhand.evaluation.reference_values.public import METRICS, MODELS
from evenhand.evaluation.study.run_spread import ORACLE, run_spread


def spread_lines(rows: Sequence[Beside], part: str) -> list[dict[str, Any]]:
    """A line for each public value that has runs of ours: chosen on test, then on `part`."""
    found = []
    for row in rows:
        told = row.reference
        for ours, chosen_on in ((row.oracle, ORACLE), (row.validation, part)):
            if ours is not None:
                place = {"model": MODELS[told.model], "task": told.task, "group": told.grouping,
                         "network": row.net, "chosen on": chosen_on}  # fmt: skip
                found.append(run_spread(place, METRICS[told.metric], ours.values.values()))
    return found

"""What varies: how many runs that were made alike ended in the same weights, and in the same answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.evaluation.fixed_seed.trained import Trained, facts
from evenhand.evaluation.replay.published import METRICS
from evenhand.evaluation.replay.rows import Row
from evenhand.study.frame import Frame


def varying_rows(frame: Frame, trained: Trained) -> list[Row]:
    """A row for each technique: runs, different weights (by digest) and different outcomes among them.

    `weights` is None where digests are missing. `shares` names techniques that read the same networks, run by
    run: their training was done once.
    """
    digests = {one: facts(frame, rows, "weights") for one, rows in trained.rows.items()}
    return [
        {
            "technique": one, "runs": len(found),
            "weights": len(set(found)) if all(found) else None,
            "outcomes": different(trained, one),
            "shares": [other for other, theirs in digests.items()
                       if other != one and all(found) and theirs == found],
        }
        for one, found in digests.items()
    ]  # fmt: skip


def different(trained: Trained, technique: str) -> int:
    """How many different outcomes the runs have, over all metrics and classes and the performance.

    Runs that are equal in all of these may still differ in scores.
    """
    columns: list[FloatArray] = [trained.bias[technique, metric] for metric in METRICS]
    every = np.column_stack([*columns, trained.performance[technique]])
    return len({run.tobytes() for run in np.nan_to_num(every, nan=-1.0)})


def devices_of(frame: Frame, trained: Sequence[Trained]) -> dict[str, list[str]]:
    """The devices and the versions of torch that made the runs, and the precision they were trained in."""
    rows = [row for one in trained for found in one.rows.values() for row in found.tolist()]
    columns = frame.columns
    recipes = [columns["spec"][row].get("recipe") or {} for row in rows]
    return {
        "devices": _different(columns["device"][row] for row in rows),
        "torch": _different((columns["versions"][row] or {}).get("torch", "unknown") for row in rows),
        "precision": _different(recipe.get("precision", "float32") for recipe in recipes),
    }  # fmt: skip


def machines_of(frame: Frame, rows: Array) -> list[str]:
    """The devices with their libraries that made these runs: runs of two of them are not identical."""
    versions = [(found or {}).get("torch", "unknown") for found in facts(frame, rows, "versions")]
    devices = facts(frame, rows, "device")
    return _different(f"{device}, torch {torch}" for device, torch in zip(devices, versions, strict=True))


def _different(values: Any) -> list[str]:
    return sorted({str(value) for value in values})

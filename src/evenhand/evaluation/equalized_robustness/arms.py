"""Arm: what was trained, whatever the study calls it; `Runs`: a number of every seed of an arm.

A study makes a run once, and a setting of a sweep that is also the method itself stands under the method's
name. Runs are therefore found by what they are: task, method, weights, kernels, size of the batches.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.evaluation.equalized_robustness.layout import BATCH, CLEAN, COMMON_BATCH, KEYS
from evenhand.study.frame import Frame
from evenhand.study.frame_blocks import StoreLike

BySeed = dict[int, float]
NUMBERS = ("delta_er", "curvature")  # taken of the model itself, not of its predictions


@dataclass(frozen=True)
class Arm:
    """A method with its weights on a task; a field that the method does not have is 1 (or "default")."""

    task: str
    method: str
    alpha: float = 1.0
    gamma: float = 1.0
    h: float = 1.0
    kernels: str = "default"
    batch: int = COMMON_BATCH

    @classmethod
    def of(cls, task: str, method: str, **changes: Any) -> Arm:
        """The study's own setting of a method but for what is given; None changes nothing.

        >>> Arm.of("adult-sex", "cuma-alpha-only") == Arm("adult-sex", "cuma", gamma=0.0, batch=256)
        True
        """
        given = {name: value for name, value in changes.items() if value is not None}
        if method == "cuma-alpha-only":
            method, given = "cuma", {"gamma": 0.0, **given}
        return cls(task, method, **{"batch": BATCH.get(task, COMMON_BATCH), **given})


class Runs:
    """The finished runs of a store by arm."""

    def __init__(self, frame_or_store: Frame | StoreLike) -> None:
        self.frame = Frame.open(frame_or_store)
        self._columns: dict[tuple[str, str], FloatArray] = {}

    @cached_property
    def _rows(self) -> Mapping[Arm, list[int]]:
        found: dict[Arm, list[int]] = {}
        columns = self.frame.columns
        for row in range(self.frame.n):
            spec = columns["spec"][row]
            if self.frame.done[row] and spec.get("method") in KEYS:
                found.setdefault(_arm(str(columns["task"][row]), spec), []).append(row)
        return found

    def rows(self, arms: Iterable[Arm]) -> set[int]:
        """The finished runs of some arms."""
        return {row for arm in arms for row in self._rows.get(arm, ())}

    def arms(self, task: str, method: str) -> list[Arm]:
        """All arms of a method on a task of which a run is done, in the study's order."""
        return [arm for arm in self._rows if (arm.task, arm.method) == (task, method)]

    def values(self, arm: Arm, metric: str, part: str = CLEAN) -> BySeed:
        """A number of each seed of an arm, where it is defined; noise is averaged over its draws."""
        rows = self._rows.get(arm)
        if not rows:
            return {}
        values, seeds = self._column(metric, part), self.frame.columns["seed"]
        return {int(seeds[row]): float(values[row]) for row in rows if np.isfinite(values[row])}

    def groups(self, task: str) -> tuple[str, ...]:
        """The names of the groups that a task protects; none where it was not run."""
        wanted = [row for arm, rows in self._rows.items() if arm.task == task for row in rows]
        return self.frame.rates(CLEAN, "acc", wanted)[0] if wanted else ()

    def _column(self, metric: str, part: str) -> FloatArray:
        if (metric, part) not in self._columns:
            self._columns[metric, part] = self._read(metric, part)
        return self._columns[metric, part]

    def _read(self, metric: str, part: str) -> FloatArray:
        if metric.split(".")[0] in NUMBERS:
            return self.frame.number(metric)
        if part == CLEAN:
            return self.frame.values(CLEAN, metric)
        kind, _, severity = part.rpartition(" ")
        if (kind, float(severity)) not in self._shifts:
            return np.full(self.frame.n, np.nan)
        return self.frame.mean_over_draws(kind, float(severity), metric)

    @cached_property
    def _shifts(self) -> set[tuple[str, float]]:
        return {(kind, severity) for kind, severity, _ in self.frame.shifted(CLEAN)}


def _arm(task: str, spec: Mapping[str, Any]) -> Arm:
    fields = spec["fields"]
    alpha, gamma, h = (float(fields.get(name, 1.0)) for name in ("alpha", "gamma", "h"))
    kernels, batch = str(fields.get("kernels", "default")), int(spec["recipe"]["batch_size"])
    return Arm(task, KEYS[spec["method"]], alpha, gamma, h, kernels, batch)

"""The numbers of the study by seed: of the chosen setting of each method, and of every setting."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.arrays import Array
from evenhand.evaluation.ci_mnist.layout import UNPRIVILEGED
from evenhand.evaluation.ci_mnist_marks.layout import (
    CHOICE,
    SHOWN,
)
from evenhand.study.frame import Frame
from evenhand.study.select import TEST, select

BySeed = Mapping[int, float]


@dataclass(frozen=True)
class Model:
    """A chosen setting on one task: its metrics on test by seed, and among how many it was chosen."""

    setting: Mapping[str, Any]
    chosen_among: int
    values: Mapping[str, BySeed]


Models = Mapping[tuple[str, str], Model]  # by task and method


def chosen_models(frame: Frame) -> Models:
    """The setting of every method on every task that the rule chooses; tasks without a finished one lack."""
    return {
        (frame.layout.problems[choice.problem].task, choice.method): Model(
            choice.candidate.setting, choice.runners_up + 1, _metrics(frame, choice.rows)
        )
        for choice in select(frame, CHOICE).choices
    }


def every_setting(frame: Frame, task: str) -> Iterator[tuple[str, Mapping[str, Any], BySeed]]:
    """Method, setting and accuracy on blue digits by seed of everything that a task was trained with."""
    for candidate in frame.layout.candidates:
        if frame.layout.problems[candidate.problem].task == task:
            rows = candidate.rows[frame.done[candidate.rows]]
            yield candidate.method, candidate.setting, _by_seed(frame, rows, UNPRIVILEGED)


def _metrics(frame: Frame, rows: Array) -> dict[str, BySeed]:
    return {key: _by_seed(frame, rows, key) for key in SHOWN}


def _by_seed(frame: Frame, rows: Array, key: str) -> BySeed:
    """A metric on test of the runs where it is defined."""
    values = frame.values(TEST, key)
    return {
        int(frame.columns["seed"][row]): float(values[row])
        for row in rows.tolist()
        if np.isfinite(values[row])
    }

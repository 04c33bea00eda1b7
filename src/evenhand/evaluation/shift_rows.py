"""The rows of a part under a shift: what every run predicts for them, and how often each row counts.

A shift of inputs changes what the networks are given, row by row; the rows stay. A shift of rows draws the
rows anew with replacement, so that a row counts several times or not at all; its inputs stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from evenhand.arrays import Array
from evenhand.data.shift_registry import find_shift
from evenhand.data.shifts import shift_inputs, shift_rows, white_of
from evenhand.data.task import Scaling, Task
from evenhand.evaluation.fitted_subject import part_groups, part_scores, predictions
from evenhand.groups import Groups
from evenhand.metrics.counts import Counts
from evenhand.train.trained import scores_of

if TYPE_CHECKING:
    from torch import Tensor

    from evenhand.evaluation.fitted import Fitted

PIECE = 4096  # rows that are shifted and scored at a time
FEW = 64  # rows on which two draws of a shift are compared


@dataclass(frozen=True)
class Sample:
    """The rows of one task and the runs that are measured on them: all, or `run` alone."""

    task: Task
    part: str
    groups: Groups
    run: int | None = None

    @property
    def y(self) -> Array:
        """The labels `[N]`, or `[N, L]`."""
        return np.asarray(self.task.y[self.task.rows(self.part)])

    def sizes(self, draw: Draw) -> Array:
        """How many rows each group has in a draw."""
        ids = self.groups.ids + 1  # unknown ones come first, and are cut off
        return np.bincount(ids, draw.weights, minlength=self.groups.n_groups + 1)[1:]

    def counts(self, draw: Draw) -> list[Counts]:
        """The counts of each run."""
        n_classes = None if self.task.multi_label else self.task.n_classes
        found = Counts.from_predictions(
            self.y, draw.guesses, self.groups.ids, n_classes, self.groups.n_groups, draw.weights
        )
        return [found[run] for run in range(len(draw.guesses))]


@dataclass(frozen=True)
class Draw:
    """What the runs predict, `[R, N]` or `[R, N, L]`, and how often each row counts `[N]` (None: once)."""

    guesses: Array = field(repr=False)
    weights: Array | None = field(default=None, repr=False)

    def of(self, rows: Array) -> Draw:
        """The same for some of the rows."""
        return Draw(self.guesses[:, rows], None if self.weights is None else self.weights[rows])


def samples_of(fitted: Fitted, part: str) -> list[Sample]:
    """One sample with all runs, or one for each run that has a task of its own."""
    several = len(fitted.tasks) > 1
    return [
        Sample(task, part, part_groups(task, fitted.protect, part), place if several else None)
        for place, task in enumerate(fitted.tasks)
    ]


def clean_draw(fitted: Fitted, sample: Sample) -> Draw:
    """The rows as they are."""
    scores = part_scores(fitted, sample.task, sample.part, sample.run)
    return Draw(predictions(scores, sample.task.multi_label))


def shifted_draw(fitted: Fitted, sample: Sample, shift: str, severity: float, seed: int, clean: Draw) -> Draw:
    """The rows under a shift of this severity; `seed` decides what it draws."""
    task, part = sample.task, sample.part
    if find_shift(shift)[0].acts_on == "rows":
        drawn = shift_rows(shift, task, part, severity, seed=seed, protect=fitted.protect)
        return Draw(clean.guesses, how_often(np.asarray(drawn), np.asarray(task.rows(part))))
    rows, found = task.rows(part), []
    for start in range(0, len(rows), PIECE):
        ids = sample.groups.ids[start : start + PIECE]
        x = shifted_inputs(fitted, sample, rows[start : start + PIECE], shift, severity, seed)
        found.append(scores_of(fitted.models, (Scaling(),), x, ids, sample.run))  # they are scaled already
    return Draw(predictions(np.concatenate(found, axis=1), task.multi_label))


def shifted_inputs(
    fitted: Fitted, sample: Sample, rows: Tensor, shift: str, severity: float, seed: int
) -> Tensor:
    """Some rows scaled as the networks see them, then shifted on their device."""
    from torch import Tensor

    task, stack = sample.task, fitted.models[0].predictor.stack
    scaling = fitted.scalings[sample.run or 0 if len(fitted.scalings) > 1 else 0]
    raw = task.x[rows] if isinstance(task.x, Tensor) else task.x.take(rows)
    x = scaling(raw.to(stack.device)).to(stack.dtype)
    return shift_inputs(shift, x, severity, seed=seed, rows=rows, scaling=scaling, white=white_of(task))


def draws_nothing(fitted: Fitted, sample: Sample, shift: str, severity: float) -> bool:
    """Whether a shift does the same for every seed, as a blur does: a second draw would tell nothing."""
    if find_shift(shift)[0].acts_on == "rows":
        return False
    few = sample.task.rows(sample.part)[:FEW]
    one, other = (shifted_inputs(fitted, sample, few, shift, severity, seed) for seed in (0, 1))
    return one.equal(other)


def how_often(drawn: Array, rows: Array) -> Array:
    """How often each of `rows` is among the drawn ones.

    >>> how_often(np.array([7, 3, 7]), np.array([3, 5, 7])).tolist()
    [1.0, 0.0, 2.0]
    """
    order = np.argsort(rows)
    places = order[np.searchsorted(rows, drawn, sorter=order)]
    return np.bincount(places, minlength=len(rows)).astype(np.float64)


def counts_of(samples: Sequence[Sample], draws: Sequence[Sequence[Draw]]) -> Counts:
    """Counts `[R * D, ...]` of D draws for each sample, the draws of one run beside each other."""
    tables = []
    for sample, own in zip(samples, draws, strict=True):
        each = [sample.counts(draw) for draw in own]
        tables += [draw[run] for run in range(len(own[0].guesses)) for draw in each]
    return Counts.stack(tables)

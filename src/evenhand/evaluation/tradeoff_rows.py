"""What the sample of test rows alone does to a difference between two fits: both are resampled together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.errors import InputError
from evenhand.evaluation.joint import Joint
from evenhand.evaluation.options import Options
from evenhand.evaluation.paired_errors import view_of
from evenhand.metrics.metric import Metric
from evenhand.metrics.undefined import mean_defined

if TYPE_CHECKING:
    from evenhand.evaluation.fitted import Fitted

MOST_DRAWS = 1 << 26  # cells that are drawn over all replicates: beyond this there are fewer replicates
FEWEST = 100


def guesses_of(fitted: Fitted, part: str) -> Array | None:
    """Predicted classes `[R, N]` of one task's rows; None where rows are not resampled together.

    That is so for several labels a row, and where each run has test rows of its own: there the spread over
    the runs already holds what the sample of rows does.
    """
    from evenhand.evaluation.fitted_subject import part_scores, predictions

    if fitted.multi_label or len(fitted.tasks) != 1:
        return None
    return predictions(part_scores(fitted, fitted.tasks[0], part), False)


def row_reaches(
    fitted: Fitted,
    part: str,
    base: Array | None,
    other: Array | None,
    metrics: Sequence[Metric],
    options: Options,
) -> dict[str, float]:
    """Half the width of each metric's interval over resampled rows, the runs held as they are.

    What is resampled is the difference of the means over the runs: all runs of both see the same rows.
    """
    from evenhand.evaluation.fitted_subject import part_groups

    if base is None or other is None or not options.replicates:
        return {metric.key: float("nan") for metric in metrics}
    task = fitted.tasks[0]
    groups, y = part_groups(task, fitted.protect, part), np.asarray(task.y[task.rows(part)])
    sizes = np.bincount(groups.ids[groups.ids >= 0], minlength=groups.n_groups)
    chosen = np.flatnonzero(sizes >= max(options.min_count, 1))
    joint = joint_of_runs(y, np.concatenate([base, other]), groups.ids, groups.n_groups, task.n_classes)
    replicates = max(min(FEWEST, options.replicates), min(options.replicates, MOST_DRAWS // len(joint.rows)))

    def differences(weights: FloatArray | None) -> dict[str, FloatArray]:
        views = [view_of(joint, run, weights, chosen, options) for run in range(len(base) + len(other))]
        found = {metric.key: np.stack([metric(view) for view in views]) for metric in metrics}
        return {
            key: mean_defined(values[len(base) :], axis=0) - mean_defined(values[: len(base)], axis=0)
            for key, values in found.items()
        }

    draws = [differences(weights) for weights in joint.draw(replicates, np.random.default_rng(options.seed))]
    observed = differences(None)
    errors = {key: np.concatenate([draw[key] for draw in draws]) - observed[key] for key in observed}
    return {key: _reach(error, options.confidence) for key, error in errors.items()}


def _reach(errors: FloatArray, confidence: float) -> float:
    known = np.abs(errors[np.isfinite(errors)])
    return float(np.quantile(known, confidence)) if len(known) > len(errors) // 2 else float("nan")


def joint_of_runs(y: Array, runs: Array, ids: Array, n_groups: int, n_classes: int) -> Joint:
    """The distinct rows of many models `[M, N]`: models mostly agree, so there are far fewer than N.

    >>> y, runs = np.array([0, 1, 1, 1]), np.array([[0, 1, 1, 0], [0, 1, 1, 1], [0, 1, 1, 1]])
    >>> joint_of_runs(y, runs, np.zeros(4, dtype=int), 1, 2).rows.tolist()
    [1, 1, 2]
    """
    code = np.where(ids < 0, n_groups, ids).astype(np.int64)
    for part in (y, *runs):  # numbered anew each time, so that the codes of many models fit
        code = np.unique(code * n_classes + part, return_inverse=True)[1]
    _, first, rows = np.unique(code, return_index=True, return_counts=True)
    group = np.where(ids < 0, n_groups, ids)[first]
    return Joint(group, y[first], runs[:, first], rows, rows.astype(np.float64), n_groups, n_classes)


def check_alike(fits: Sequence[Fitted], part: str) -> None:
    """Refuse fits that were not made for the same rows and groups: their numbers would not be comparable."""
    first = fits[0]
    for fitted in fits:
        if not fitted.tasks:
            raise InputError("a fit that was loaded has no task to be measured on; fit it again")
        if fitted.protect != first.protect or fitted.classes != first.classes:
            raise InputError(
                "the fits have other classes or protect other attributes; compare fits of one task"
            )
        if len(fitted.tasks) != len(first.tasks):
            raise InputError("the fits have not the same number of tasks; compare fits of one task")
        for mine, theirs in zip(fitted.tasks, first.tasks, strict=True):
            if mine is not theirs and not _same_rows(mine, theirs, part):
                raise InputError(
                    "the fits have other test rows; compare fits of one task, prepared in one way"
                )


def _same_rows(mine: object, theirs: object, part: str) -> bool:
    labels = [np.asarray(task.y[task.rows(part)]) for task in (mine, theirs)]  # type: ignore[attr-defined]
    ids = [task.groups().ids[np.asarray(task.rows(part))] for task in (mine, theirs)]  # type: ignore[attr-defined]
    return np.array_equal(labels[0], labels[1]) and np.array_equal(ids[0], ids[1])

"""The two rows that S0 prints of every technique and metric: its variance over runs, and its tests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenhand.arrays import FloatArray, as_array
from evenhand.errors import InputError
from evenhand.metrics.undefined import mean_defined
from evenhand.statistics.comparing import Convention
from evenhand.statistics.effects import cohens_d
from evenhand.statistics.outcome import ALPHA, NAN
from evenhand.statistics.tests import levene_relative, mann_whitney
from evenhand.statistics.variance import spread, widest_class


@dataclass(frozen=True)
class VarianceRow:
    """S0 B1: the mean over classes over the runs, and the class whose MaxDiff is the largest.

    `class_` is None where the values have no classes.
    """

    mean: float
    max: float
    min: float
    max_diff: float
    stdev: float
    class_: int | None
    class_max_diff: float
    class_stdev: float


@dataclass(frozen=True)
class TestRow:
    """S0 B2: did the bias of a technique change against its base, by how much, and did its variance?"""

    base_mean: float
    mean: float
    p: float
    direction: str
    d: float
    levene_p: float
    variance_direction: str

    __test__ = False


def variance_row(values: object) -> VarianceRow:
    """Spread over runs of values `[R, K]` of each class (or `[R]`), as S0 reports it (B1).

    Overall: the mean over the classes of each run (undefined classes left out), then MaxDiff = max - min and
    the population deviation over the runs. Per class: the class with the largest MaxDiff.

    >>> row = variance_row([[0.1, 0.5], [0.2, 0.8], [0.3, 0.5]])
    >>> round(row.mean, 6), round(row.max_diff, 6), row.class_, round(row.class_max_diff, 6)
    (0.4, 0.2, 1, 0.3)
    """
    runs = _runs(values)
    found = spread(overall(runs))
    of_class: tuple[int | None, float, float] = (None, NAN, NAN)
    if runs.ndim == 2 and not np.isnan(runs).all():
        place, widest = widest_class(runs)
        of_class = (place, float(widest.maxdiff), float(widest.std))
    mean, top, bottom = float(found.mean), float(found.max), float(found.min)
    return VarianceRow(mean, top, bottom, float(found.maxdiff), float(found.std), *of_class)


def change_row(
    base: object, other: object, convention: Convention = "artifact", alpha: float = ALPHA
) -> TestRow:
    """Tests of the runs `[R, K]` (or `[R]`) of a technique against those of its base (S0 B2).

    "artifact": Mann-Whitney with the side chosen by the means, normal approximation; "plain": two-sided,
    exact where it can be. Levene on mean-normalised values and Cohen's d are the same in both. S0 prints d
    only where the direction is significant; here it is always given.

    >>> row = change_row([[0.30], [0.32], [0.31], [0.35]], [[0.21], [0.20], [0.24], [0.22]])
    >>> row.direction, round(row.p, 4), round(row.d, 3), row.variance_direction
    ('-', 0.0152, 5.264, 'NS')
    """
    a, b = overall(_runs(base)), overall(_runs(other))
    moved = (
        mann_whitney(a, b, "posthoc", alpha)
        if convention == "artifact"
        else mann_whitney(a, b, alpha=alpha, method="auto")
    )
    varied = levene_relative(a, b, alpha)
    return TestRow(
        float(spread(a).mean), float(spread(b).mean), moved.p, moved.label, cohens_d(a, b), varied.p,
        varied.label
    )  # fmt: skip


test_row = change_row  # its other name; importing it under this one makes pytest take it for a test


def overall(runs: FloatArray) -> FloatArray:
    """The number of each run: the plain mean over its defined classes.

    >>> overall(np.array([[0.1, 0.3], [0.5, np.nan]])).tolist()
    [0.2, 0.5]
    """
    return runs if runs.ndim == 1 else mean_defined(runs, axis=1)


def _runs(values: object) -> FloatArray:
    runs = np.asarray(as_array(values), dtype=np.float64)
    if runs.ndim not in (1, 2) or not runs.size:
        raise InputError(f"the values must be runs, or runs by classes, not an array {runs.shape}")
    return runs

"""Where does the spread over runs come from: from training again, or from the rows of the test set?

A run's number is truth + training + rows. "Training" is how far this run's network is from the average one,
were the test set endless; "rows" is the error of a finite test set. Over runs measured on **the same rows**,
part of that error is shared by all runs and does not spread them; only the rest (each network errs on rows of
its own) does. With c the correlation of the row errors of two runs,

    variance over runs   = training + (1 - c) rows          measured on the same rows
    variance over runs   = training + rows                  each run on rows of its own (c = 0)
    variance of one run  = training + rows                  another seed and another test set

so the plain variance over runs is neither the training's (too large) nor a run's (too small).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenhand.arrays import FloatArray, as_array
from evenhand.errors import InputError
from evenhand.metrics.undefined import divide
from evenhand.statistics.outcome import NAN
from evenhand.statistics.samples import numbers


@dataclass(frozen=True)
class VarianceSplit:
    """Variances: `observed` over the runs (ddof 1), `rows` of a run's row error, `training` without it.

    `training` is NaN where the correlation is unknown; it then lies between `training_low` (c = 0) and
    `training_high` (c = 1, the observed one). `total` is a run's on another seed and other rows, `share` the
    training's part of it.
    """

    runs: int
    observed: float
    rows: float
    correlation: float
    training: float
    training_low: float
    training_high: float

    @property
    def total(self) -> float:
        """Variance of a single run: another seed, another test set."""
        return self.training + self.rows

    @property
    def share(self) -> float:
        """Share of the total that comes from training again."""
        return float(divide(self.training, self.total))


def split_variance(values: object, row_std: object, correlation: float | None = None) -> VarianceSplit:
    """Split the variance of the runs' values `[R]`, given the deviation of each by its rows (a bootstrap's).

    `correlation` of the row errors between runs: 0 if every run had a test set of its own; 1 would be
    networks that all err on the same rows; None if it is unknown, as it is from counts alone.
    `split_from_draws` finds it. A training variance that comes out below 0 is 0.

    >>> found = split_variance([0.80, 0.82, 0.84], [0.01, 0.01, 0.01], correlation=0.5)
    >>> round(found.observed, 6), round(found.training, 6), round(found.share, 4)
    (0.0004, 0.00035, 0.7778)
    >>> found = split_variance([0.80, 0.82, 0.84], 0.01)
    >>> round(found.training_low, 6), round(found.training_high, 6), found.training
    (0.0003, 0.0004, nan)
    """
    known = numbers(values)
    known = known[~np.isnan(known)]
    errors = numbers(row_std)
    errors = errors[~np.isnan(errors)]
    rows = float((errors**2).mean()) if len(errors) else NAN
    observed = float(np.var(known, ddof=1)) if len(known) > 1 else NAN
    low = float(np.maximum(observed - rows, 0.0))
    c = NAN if correlation is None else correlation
    training = float(np.maximum(observed - (1 - c) * rows, 0.0))
    return VarianceSplit(len(known), observed, rows, c, training, low, observed)


def split_from_draws(values: object, draws: object) -> VarianceSplit:
    """Split the variance of runs on the same rows, given draws `[B, R]` of one bootstrap of these rows.

    Every draw must resample the same rows for all runs; then the errors of a draw, draw - value, show how far
    the runs move together. (1 - c) rows is their mean variance within a draw, rows that over the draws.

    >>> rng = np.random.default_rng(0)
    >>> shared, own = rng.normal(size=(2000, 1)), rng.normal(size=(2000, 3))
    >>> found = split_from_draws([0.80, 0.82, 0.84], [0.80, 0.82, 0.84] + 0.01 * shared + 0.01 * own)
    >>> round(found.correlation, 1), round(found.rows, 4)
    (0.5, 0.0002)
    """
    known, drawn = numbers(values), np.asarray(as_array(draws), dtype=np.float64)
    if drawn.ndim != 2 or drawn.shape[1] != len(known):
        raise InputError(f"the draws must be draws by {len(known)} runs, not an array {drawn.shape}")
    defined = ~np.isnan(known)
    errors = drawn[:, defined] - known[defined]
    errors = errors[~np.isnan(errors).any(axis=1)]
    if len(errors) < 2 or errors.shape[1] < 2:
        return split_variance(known, NAN)
    rows, own = _row_variance(errors), float(errors.var(axis=1, ddof=1).mean() - _offsets(errors))
    correlation = float(1 - divide(own, rows))
    return split_variance(known, np.sqrt(rows), correlation)


def _row_variance(errors: FloatArray) -> float:
    return float(errors.var(axis=0, ddof=1).mean())


def _offsets(errors: FloatArray) -> float:
    """A resampled number may be off on average (a gap is); that is no spread between the runs."""
    return float(errors.mean(axis=0).var(ddof=1))

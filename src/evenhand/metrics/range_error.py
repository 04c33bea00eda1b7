"""How wrong a gap, a worst or a best value can be: intervals for maxima and minima over groups.

Resampling a gap and reading off percentiles fails where it matters: the largest of several noisy rates is too
large, and the largest of their resampled copies is larger still. With 8 groups whose rates are truly equal a
percentile interval never covers 0 (see docs/intervals.md).

So the *errors of the rates* are resampled, e_g = rate*_g - rate_g, and combined over the groups that could
hold the maximum or the minimum. With H the groups that may be the highest, L those that may be the lowest:

    observed gap - true gap <= max_H e - min_L e        true gap - observed gap <= max_L e - min_H e

A group belongs to H unless no replicate brings it up to the observed highest: the moment selection of
D. Andrews and G. Soares, Econometrica 2010. When one group is clearly the highest and one clearly the lowest,
this is the ordinary interval of their difference.
"""

from __future__ import annotations

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.metrics.undefined import divide, index_of_largest, max_defined, mean_defined, min_defined

TINY = 1e-12


def range_deviations(
    observed: FloatArray, errors: FloatArray, how: str, lowest: bool
) -> tuple[FloatArray, FloatArray]:
    """Draws `[R, K]` of how far the truth lies below and above the observed gap, worst or best value.

    `observed [K, G]` are the rates, `errors [R, K, G]` their resampled errors.

    >>> errors = np.array([[[0.1, -0.1]], [[-0.1, 0.0]]])
    >>> down, up = range_deviations(np.array([[0.9, 0.2]]), errors, "gap", False)
    >>> down.round(3).tolist(), up.round(3).tolist()
    ([[0.2], [-0.1]], [[-0.2], [0.1]])
    """
    highest, lowest_ones = candidates(observed, errors)
    high, low = np.where(highest, errors, np.nan), np.where(lowest_ones, errors, np.nan)
    if how == "gap":
        return max_defined(high) - min_defined(low), max_defined(low) - min_defined(high)
    extreme = low if lowest else high
    return max_defined(extreme), -min_defined(extreme)


def candidates(observed: FloatArray, errors: FloatArray) -> tuple[Array, Array]:
    """Which groups may truly be the highest, and which the lowest, `[K, G]` each.

    A group may be the highest if in some replicate its error against the observed highest bridges the
    distance between the two.
    """
    top, bottom = (index_of_largest(side)[..., None] for side in (observed, -observed))
    behind, above = _reach(_of(errors, top) - errors), _reach(errors - _of(errors, bottom))
    return max_defined(observed)[..., None] - observed <= behind, observed - min_defined(observed)[
        ..., None
    ] <= above


def _reach(errors: FloatArray) -> FloatArray:
    """The farthest that an error goes: the largest of the replicates, or 3.5 deviations if those are few."""
    return np.fmax(max_defined(errors, axis=0), 3.5 * np.sqrt(mean_defined(errors * errors, axis=0)))


def _of(errors: FloatArray, group: Array) -> FloatArray:
    return np.take_along_axis(errors, np.broadcast_to(group, (*errors.shape[:-1], 1)), axis=-1)


def ratio_deviations(
    observed: FloatArray, centre: FloatArray, drawn: FloatArray
) -> tuple[FloatArray, FloatArray] | None:
    """The same for the ratio lowest / highest, by way of logarithms; None where a rate is not above 0."""
    if bool((observed <= 0).any()) or bool((centre <= 0).any()):
        return None
    highest, lowest_ones = candidates(observed, drawn - centre)
    errors = np.log(np.maximum(drawn, TINY)) - np.log(centre)  # a replicate may well draw a rate of 0
    high, low = np.where(highest, errors, np.nan), np.where(lowest_ones, errors, np.nan)
    down = max_defined(high) - min_defined(low)  # how much the range of the logarithms may be too large, and
    up = max_defined(low) - min_defined(high)  # too small: the ratio itself errs the other way
    ratio = divide(min_defined(observed), max_defined(observed))
    return ratio * (1 - np.exp(-up)), np.minimum(ratio * np.exp(np.minimum(down, 50.0)), 1.0) - ratio

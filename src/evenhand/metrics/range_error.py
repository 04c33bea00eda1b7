"""How wrong a gap, a worst or a best value can be: intervals for maxima and minima over groups.

Resampling a gap and reading off percentiles fails where it matters: the largest of several noisy rates is too
large, and the largest of their resampled copies is larger still. With 8 groups whose rates are truly equal a
percentile interval never covers 0 (see docs/intervals.md).

So the *errors of the rates* are resampled, e_g = rate*_g - rate_g, and combined over the groups that could
hold the maximum or the minimum. With H the groups that may be the highest, L those that may be the lowest:

    observed gap - true gap <= max_H e - min_L e        true gap - observed gap <= max_L e - min_H e

A group belongs to H when its rate is within the almost-sure range q of the highest, q being the 99.5 %
quantile of max e - min e: the moment selection of D. Andrews and G. Soares, Econometrica 2010. When one group
is clearly the highest and one clearly the lowest, this is the ordinary interval of their difference.
"""

from __future__ import annotations

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.metrics.undefined import divide, max_defined, min_defined

SURE = 0.995
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
    reach = _quantile(max_defined(errors) - min_defined(errors), SURE)[..., None]
    high = _only(errors, observed >= max_defined(observed)[..., None] - reach)
    low = _only(errors, observed <= min_defined(observed)[..., None] + reach)
    if how == "gap":
        return max_defined(high) - min_defined(low), max_defined(low) - min_defined(high)
    extreme = low if lowest else high
    return max_defined(extreme), -min_defined(extreme)


def ratio_deviations(
    observed: FloatArray, centre: FloatArray, drawn: FloatArray
) -> tuple[FloatArray, FloatArray] | None:
    """The same for the ratio lowest / highest, by way of logarithms; None where a rate is not above 0."""
    if bool((observed <= 0).any()) or bool((centre <= 0).any()):
        return None
    errors = np.log(np.maximum(drawn, TINY)) - np.log(centre)  # a replicate may well draw a rate of 0
    down, up = range_deviations(np.log(observed), errors, "gap", False)
    ratio = divide(min_defined(observed), max_defined(observed))
    return ratio * (1 - np.exp(-up)), np.minimum(ratio * np.exp(np.minimum(down, 50.0)), 1.0) - ratio


def _only(errors: FloatArray, chosen: Array) -> FloatArray:
    return np.where(chosen, errors, np.nan)


def _quantile(values: FloatArray, level: float) -> FloatArray:
    """Quantile over the replicates (the first axis), undefined ones left out; NaN where all are."""
    replaced = np.where(np.isnan(values), -np.inf, values)
    found = np.quantile(replaced, level, axis=0, method="higher")
    return np.where(np.isinf(found) & (found < 0), np.nan, found)

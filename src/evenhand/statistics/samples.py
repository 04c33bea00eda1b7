"""The values of runs as the tests take them: defined ones only, and in pairs where the seeds are shared."""

from __future__ import annotations

import numpy as np

from evenhand.arrays import FloatArray, as_array
from evenhand.errors import InputError
from evenhand.statistics.variance import significant


def numbers(values: object) -> FloatArray:
    """Any list or column of numbers as one flat array of floats; None is NaN."""
    return np.asarray(as_array(values), dtype=np.float64).ravel()


def sample(values: object, fewest: int = 2) -> FloatArray:
    """The defined values of the runs; a run whose value is undefined takes no part.

    >>> sample([0.1, float("nan"), 0.3]).tolist()
    [0.1, 0.3]
    """
    known = numbers(values)
    known = known[~np.isnan(known)]
    if len(known) < fewest:
        raise InputError(f"a test needs at least {fewest} defined values in each sample, not {len(known)}")
    return known


def pairs(base: object, other: object, fewest: int = 0) -> tuple[FloatArray, FloatArray]:
    """The values of both sides where both are defined: the same place is the same seed.

    >>> [side.tolist() for side in pairs([0.1, 0.2, None], [0.3, float("nan"), 0.5])]
    [[0.1], [0.3]]
    """
    a, b = numbers(base), numbers(other)
    if len(a) != len(b):
        raise InputError(f"pairs need as many values on both sides, not {len(a)} and {len(b)}")
    both = ~(np.isnan(a) | np.isnan(b))
    if both.sum() < fewest:
        raise InputError(f"a test needs at least {fewest} pairs of defined values, not {both.sum()}")
    return a[both], b[both]


def rounded(values: FloatArray) -> FloatArray:
    """S0 reads directions off values of 4 significant digits, which matters only where they tie."""
    return np.array([significant(value) for value in values.tolist()])


def constant(values: FloatArray) -> bool:
    """Whether all values are the same number."""
    return bool((values == values[:1]).all())


def finite(*sides: FloatArray) -> bool:
    """Whether no value is infinite (an unsmoothed ratio may be): means and variances need that."""
    return all(bool(np.isfinite(side).all()) for side in sides)


def without_noise(values: FloatArray) -> FloatArray:
    """Values with their last few bits dropped, so that 0.3 - 0.2 and 0.2 - 0.1 tie.

    >>> len(set(without_noise(np.array([0.3 - 0.2, 0.2 - 0.1])).tolist()))
    1
    """
    scale = float(np.max(np.abs(values), initial=0.0))
    return values if scale == 0 else np.round(values / scale, 11) * scale

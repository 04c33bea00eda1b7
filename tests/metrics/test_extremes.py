"""The largest and smallest defined entry: numpy's nanmax and nanmin along any axis, short or long."""

import warnings

import numpy as np
import pytest

from evenhand.metrics.undefined import FEW, max_defined, min_defined

WAYS = {"max": (max_defined, np.nanmax), "min": (min_defined, np.nanmin)}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("size", [1, 2, FEW, FEW + 1, 50])
@pytest.mark.parametrize("axis", [-1, 0, 1, -2])
def test_they_are_numpys(way, size, axis):
    ours, numpys = WAYS[way]
    shape = [7, 5, 3]
    shape[axis] = size
    values = np.random.default_rng(size).normal(size=shape)
    values[np.random.default_rng(0).random(shape) < 0.4] = np.nan
    before = values.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # numpy warns where all are NaN
        wanted = numpys(values, axis=axis)
    assert np.array_equal(ours(values, axis), wanted, equal_nan=True)
    assert np.array_equal(values, before, equal_nan=True)


@pytest.mark.parametrize("way", WAYS)
def test_of_nothing_there_is_none(way):
    ours, _ = WAYS[way]
    assert np.isnan(ours(np.zeros((3, 0)))).tolist() == [True] * 3
    assert np.isnan(ours(np.full((2, 4), np.nan))).tolist() == [True] * 2
    assert ours(np.array([2.0, np.inf, -np.inf])) in (np.inf, -np.inf)

"""Deviations by matrix products are those of the differences; limits along a grid are on the safe side."""

import numpy as np
import pytest

from evenhand.metrics.error_moments import Errors
from evenhand.metrics.range_change import PLACES, along


def draws(seed=0, replicates=300, classes=3, numbers=7):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(replicates, classes, 1)) + 0.3 * rng.normal(size=(replicates, classes, numbers))


def deviation(errors):
    return np.sqrt((errors**2).mean(axis=0))


def test_deviations_are_those_of_the_differences():
    a, b = draws(), draws(seed=1)
    first, second, place = Errors.of(a), Errors.of(b), np.array([[2], [0], [6]])
    assert np.allclose(first.spread, deviation(a))
    assert np.allclose(first.moved(second), deviation(a - b))
    chosen = np.stack([b[:, k, place[k]] for k in range(3)], axis=1)
    assert np.allclose(second.at(place), chosen)
    assert np.allclose(first.apart(second, place), deviation(a - chosen))
    assert np.allclose(first.columns(np.array([1, 4])).moved(second.columns(np.array([1, 4]))),
                       deviation(a - b)[:, [1, 4]])  # fmt: skip


def test_what_is_equal_is_not_apart():
    a = draws()
    first = Errors.of(a)
    assert (first.moved(Errors.of(a.copy())) == 0).all()
    apart = first.apart(first, np.array([[1], [1], [1]]))
    assert (apart[:, 1] == 0).all()
    assert (np.delete(apart, 1, axis=1) > 0).all()


def test_what_is_never_defined_has_no_deviation_and_touches_no_other():
    a = draws()
    a[:, 0, 3] = np.nan
    found, whole = Errors.of(a), Errors.of(draws())
    assert np.isnan(found.spread[0, 3])
    assert np.isnan(found.moved(whole)[0, 3])
    assert np.allclose(np.delete(found.spread, 3, axis=1), np.delete(whole.spread, 3, axis=1))


def test_what_is_undefined_in_some_draws_has_the_deviation_of_the_others():
    a = draws(replicates=4000)
    a[::4, 1, 2] = np.nan
    found = Errors.of(a)
    assert found.spread[1, 2] == pytest.approx(np.sqrt(np.nanmean(a[:, 1, 2] ** 2)))
    exact = np.sqrt(np.nanmean((a[:, 1, 2] - a[:, 1, 0]) ** 2))
    assert exact <= found.apart(found, np.zeros((3, 1), dtype=int))[1, 2]  # rather too much than too little


def test_a_least_line_along_a_grid_is_close_and_never_too_high():
    rng = np.random.default_rng(0)
    units, values, spreads = rng.normal(size=(1000, 4)), rng.normal(size=(4, 50)), rng.random((4, 50))
    units[7, 2] = np.nan

    def least(u):
        return (values - u * spreads).min(axis=-1)

    exact, found = least(units[..., None]), along(units, least)
    assert np.isnan(found[7, 2])
    known = ~np.isnan(units)
    assert (found[known] <= exact[known] + 1e-12).all()
    assert np.abs(found - exact)[known].max() < 0.03
    assert np.array_equal(along(units[:PLACES], least), least(units[:PLACES, :, None]), equal_nan=True)
    assert np.allclose(along(np.zeros((100, 4)), least), least(np.zeros((100, 4, 1))))

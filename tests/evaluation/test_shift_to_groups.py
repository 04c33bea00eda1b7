"""CEV and SDE in an audit: the model on all rows against itself on one group (S2, Table 4)."""

import math

import numpy as np
import pytest

import evenhand
from evenhand.metrics.counts import Counts
from evenhand.metrics.pair_tables import all_to_group

KEYS = ("cev", "sde", "cev_norm", "sde_norm")


def sample(n=400, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y, g = rng.integers(0, classes, n), rng.integers(0, 3, n)
    p = np.where(rng.random(n) < np.array([0.9, 0.7, 0.8])[g], y, rng.integers(0, classes, n))
    return y, p, g


def test_the_largest_value_and_the_group_that_has_it():
    y, p, g = sample()
    expected = all_to_group(Counts.from_predictions(y, p, g))
    found = evenhand.audit(y, p, g, replicates=100).metrics
    for key in KEYS:
        assert found[key].value == pytest.approx(np.nanmax(expected[key]))
        assert found[key].decided_by == (str(np.nanargmax(expected[key])),)
        assert found[key].low <= found[key].value <= found[key].high


def test_two_classes_make_cev_half_of_sde_squared():
    y, p, g = sample(classes=2)
    found = evenhand.audit(y, p, g, replicates=0).metrics
    assert found["cev"].value == pytest.approx(found["sde"].value ** 2 / 2)
    assert math.isnan(found["cev"].low)


def test_the_base_holds_rows_of_unknown_group_and_small_groups_do_not_count():
    y, p, g = sample()
    g = np.where(np.arange(400) < 40, -1, g)
    g[40:43] = 3
    expected = all_to_group(Counts.from_predictions(y, p, g))["sde"]
    found = evenhand.audit(y, p, g, min_count=10, replicates=0).metrics["sde"]
    assert found.value == pytest.approx(np.nanmax(expected[:3]))


def test_a_perfect_model_has_no_relative_change():
    y, _, g = sample()
    found = evenhand.audit(y, y, g, replicates=20).metrics["cev"]
    assert math.isnan(found.value)
    assert found.undefined == ("every class has an error rate of 0, or none, over all rows",)


def test_it_is_left_out_when_not_asked_for():
    y, p, g = sample()
    assert "cev" not in evenhand.audit(y, p, g, metrics=["dp"], replicates=0).metrics
    assert set(evenhand.audit(y, p, g, metrics=["cev"], replicates=0).metrics) == {"cev"}


def test_no_group_large_enough_is_told():
    y, p, g = sample()
    found = evenhand.audit(y, p, g, min_count=10_000, replicates=0).metrics
    assert math.isnan(found["cev"].value)
    assert found["cev"].undefined == ("no group has enough rows",)

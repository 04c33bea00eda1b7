"""Weights that are missing, negative, zero, huge or tiny."""

import math

import numpy as np
import pytest

import evenhand


@pytest.mark.parametrize("wrong", [np.nan, -1.0, np.inf])
def test_weights_that_are_none_are_refused_by_row(rows, assert_refused, wrong):
    y, p, g = rows
    weights = np.ones(60)
    weights[3] = wrong
    for call in (
        lambda: evenhand.audit(y, p, g, weights=weights),
        lambda: evenhand.audit(np.stack([y, p], 1), np.stack([p, p], 1), g, weights=weights),
        lambda: evenhand.compare(y, {"a": p, "b": y}, groups=g, weights=weights),
    ):
        assert_refused(call, "row 3", "finite and not negative")


def test_the_row_of_a_wrong_weight_is_that_of_the_user(rows, assert_refused):
    """Row 3 of the user's column, even if earlier rows are left out."""
    y, p, g = rows
    some, weights = y.astype(float), np.ones(60)
    some[0], weights[3] = np.nan, -1
    assert_refused(lambda: evenhand.audit(some, p, g, weights=weights), "row 3")


def test_a_group_without_weight_is_there_but_has_no_rates(rows):
    y, p, g = rows
    found = evenhand.audit(y, p, g, weights=(g == "a").astype(float), replicates=50)
    assert [group.n for group in found.groups] == [(g == "a").sum(), (g == "b").sum()]
    assert math.isnan(found.groups[1].rates["accuracy"])
    assert math.isnan(found.metrics["tpr.gap"].value)
    assert found.groups[0].rates["accuracy"] == pytest.approx(np.mean((y == p)[g == "a"]))


def test_no_weight_at_all(rows):
    y, p, g = rows
    found = evenhand.audit(y, p, g, weights=np.zeros(60), replicates=20)
    assert math.isnan(found.metrics["acc"].value)
    both = evenhand.compare(y, {"a": p, "b": y}, groups=g, weights=np.zeros(60), replicates=20)
    assert math.isnan(both.accuracy["a"])
    assert math.isnan(both.disagreement["b"])


@pytest.mark.parametrize("scale", [1e-300, 1e-12, 1e12, 1e100, 1e160, 1e300])
def test_the_scale_of_weights_does_not_matter(rows, scale):
    y, p, g = rows
    weights = np.random.default_rng(0).integers(1, 5, 60)
    plain = evenhand.audit(y, p, g, weights=weights, replicates=100)
    found = evenhand.audit(y, p, g, weights=weights * scale, replicates=100)
    for key in ("tpr.gap", "dp", "acc", "f1.worst", "mcc.gap", "ba", "selection.spread"):
        assert found.metrics[key].value == pytest.approx(plain.metrics[key].value), key
    width, before = (one.metrics["acc"].high - one.metrics["acc"].low for one in (found, plain))
    assert width == pytest.approx(before, rel=0.3)
    pair = evenhand.compare(y, {"a": p, "b": 1 - p}, groups=g, weights=weights * scale, replicates=20)
    assert pair.accuracy["a"] == pytest.approx(plain.metrics["acc"].value)


def test_one_row_that_outweighs_all_others(rows):
    y, p, g = rows
    weights = np.ones(60)
    weights[0] = 1e9
    found = evenhand.audit(y, p, g, weights=weights, replicates=200)
    assert found.metrics["acc"].value == pytest.approx(float(y[0] == p[0]), abs=1e-6)
    assert found.metrics["acc"].low <= found.metrics["acc"].value <= found.metrics["acc"].high
    # everything hangs on one row: the interval says so, or a warning does
    assert found.metrics["acc"].low < 0.99 or any("weight" in note for note in found.warnings)


def test_weights_of_any_kind(rows):
    y, p, g = rows
    counts = np.random.default_rng(1).integers(1, 4, 60)
    values = {
        evenhand.audit(y, p, g, weights=weights, replicates=0).metrics["tpr.gap"].value
        for weights in (
            counts,
            counts.astype(np.uint8),
            counts.astype(np.float32),
            counts.tolist(),
            counts * 1.0,
        )
    }
    assert len(values) == 1
    booleans = evenhand.audit(y, p, g, weights=counts > 1, replicates=0).metrics["acc"].value
    assert booleans == pytest.approx(np.mean((y == p)[counts > 1]))

"""Correlations over runs: SciPy, brute force, coverage, and S3's Figure 11."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evenhand.statistics import correlate, correlation_matrix, knob_correlations, knob_strength

OF_SCIPY = {"spearman": stats.spearmanr, "pearson": stats.pearsonr, "kendall": stats.kendalltau}
columns = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=8, max_size=30)


@given(columns, st.sampled_from(sorted(OF_SCIPY)))
def test_coefficients_are_scipys(rows, kind):
    x, y = np.array(rows, dtype=float).T
    found = correlate(x, y, kind)
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert np.isnan([found.value, found.p]).all()
        assert found.reason == "one side is constant"
        return
    expected = OF_SCIPY[kind](x, y)
    assert found.value == pytest.approx(expected.statistic)
    assert found.p == pytest.approx(expected.pvalue, abs=1e-9)
    turned = correlate(-2 * x + 1, y, kind)
    assert turned.value == pytest.approx(-found.value)
    assert [turned.low, turned.high] == pytest.approx([-found.high, -found.low], nan_ok=True)


def test_pearsons_interval_is_scipys():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 20))
    expected = stats.pearsonr(x, y).confidence_interval(0.9)
    found = correlate(x, y, "pearson", confidence=0.9)
    assert [found.low, found.high] == pytest.approx([expected.low, expected.high])


def test_few_pairs_have_an_exact_p():
    """Student's p of three pairs in order would be 0; two of the six orders are as far out."""
    assert correlate([1, 2, 3], [1, 2, 3]).p == pytest.approx(2 / 6)
    x, y = [1, 2, 2, 4, 5], [2, 1, 3, 5, 4]
    found = correlate(x, y)
    every = [abs(stats.spearmanr(x, order).statistic) for order in permutations(y)]
    assert found.p == pytest.approx(np.mean(np.array(every) >= abs(found.value) - 1e-12))


def test_what_has_no_correlation():
    for x, y in (([1, 2], [1, 2]), ([1, 2, np.nan], [1, 2, 3]), ([1, 1, 1], [1, 2, 3])):
        found = correlate(x, y)
        assert np.isnan([found.value, found.p, found.low]).all()
        assert found.reason
    assert np.isnan(correlate([1, 2, 3, 4], [1, 2, 3, 4]).low)  # Fisher's interval does not exist at 1
    assert correlate([1, 2, 3, np.inf], [1, 2, 3, 4]).value == 1.0  # ranks take the infinite
    assert "infinite" in correlate([1, 2, 3, np.inf], [1, 2, 3, 4], "pearson").reason
    with pytest.raises(ValueError, match="did you mean 'spearman'"):
        correlate([1], [1], "spearmann")


@pytest.mark.parametrize("kind", ["spearman", "kendall"])
def test_intervals_hold_the_truth(kind):
    rng = np.random.default_rng(1)
    r = 0.6
    truth = {"spearman": 6 / np.pi * np.arcsin(r / 2), "kendall": 2 / np.pi * np.arcsin(r)}[kind]
    x = rng.normal(size=(500, 25))
    y = r * x + np.sqrt(1 - r**2) * rng.normal(size=(500, 25))
    found = [correlate(a, b, kind) for a, b in zip(x, y, strict=True)]
    assert np.mean([one.low <= truth <= one.high for one in found]) == pytest.approx(0.95, abs=0.03)


def test_a_matrix_over_metrics_takes_the_runs_that_are_there():
    rng = np.random.default_rng(2)
    values = rng.random((30, 4))
    values[:, 3] = 0.5
    values[:5, 0], values[3:8, 1] = np.nan, np.nan
    found = correlation_matrix(values, ["a", "b", "c", "d"])
    assert found.n.tolist() == [[25, 22, 25, 25], [22, 25, 25, 25], [25, 25, 30, 30], [25, 25, 30, 30]]
    both = ~np.isnan(values[:, :2]).any(axis=1)
    expected = stats.spearmanr(values[both, 0], values[both, 1])
    assert (found.matrix[0, 1], found.p[1, 0]) == pytest.approx((expected.statistic, expected.pvalue))
    assert found.low[0, 1] < found.matrix[0, 1] < found.high[0, 1]
    assert np.diag(found.matrix)[:3].tolist() == [1.0, 1.0, 1.0]
    assert np.isnan(found.matrix[3]).all()
    assert found.to_dict()["matrix"][3] == [None] * 4
    with pytest.raises(ValueError, match="2 names for 4 metrics"):
        correlation_matrix(values, ["a", "b"])
    with pytest.raises(ValueError, match="runs by metrics"):
        correlation_matrix([1, 2, 3])


def test_knobs_of_the_data_against_metrics():
    """S3 Figure 11: (|b_e - 0.5| + |b_o - 0.5|) / 2 against each metric, in absolute value."""
    rng = np.random.default_rng(3)
    knobs = rng.random((40, 2))
    strength = (np.abs(knobs[:, 0] - 0.5) + np.abs(knobs[:, 1] - 0.5)) / 2
    metrics = np.stack([1 - strength**2, rng.random(40), np.ones(40)], axis=1)
    found = knob_correlations(knobs, metrics)
    assert knob_strength(knobs) == pytest.approx(strength)
    assert found[0] == pytest.approx(1.0)  # it falls with the strength, and the sign is dropped
    assert found[1] == pytest.approx(abs(stats.spearmanr(strength, metrics[:, 1]).statistic))
    assert np.isnan(found[2])
    assert knob_correlations(knobs[:, 0], metrics[:, 0]).shape == (1,)
    with pytest.raises(ValueError, match="40 rows of knobs for 39 runs"):
        knob_correlations(knobs, metrics[1:])

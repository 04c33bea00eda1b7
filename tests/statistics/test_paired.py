"""Wilcoxon's test and the permutation tests against SciPy, brute force and what must not change them."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evenhand.statistics import mann_whitney, permutation_paired, permutation_unpaired, wilcoxon

SWAPPED = {"+": "-", "-": "+", "NS": "NS"}
values = st.floats(0.01, 1).map(lambda v: round(v, 2))
pairs = st.lists(st.tuples(values, values), min_size=2, max_size=9)


@pytest.fixture
def rng():
    return np.random.default_rng(4)


@pytest.mark.parametrize("side", ["two-sided", "less", "greater"])
@pytest.mark.parametrize("n", [2, 5, 6, 12, 50])
def test_wilcoxon_without_ties_is_scipys_exact(rng, n, side):
    a, b = rng.random(n), rng.random(n) - 0.2
    found, expected = wilcoxon(a, b, side), stats.wilcoxon(a, b, alternative=side, method="exact")
    assert found.method == "exact"
    assert found.p == pytest.approx(float(expected.pvalue))


@pytest.mark.parametrize("side", ["two-sided", "less", "greater"])
def test_wilcoxon_of_many_pairs_is_scipys_approximation(rng, side):
    a, b = rng.random(80), rng.random(80)
    tied = np.round(rng.random(60), 1), np.round(rng.random(60), 1)
    for base, other in ((a, b), tied):
        moved = np.round(base - other, 9)
        found = wilcoxon(base, other, side)
        expected = stats.wilcoxon(moved, alternative=side, correction=True, method="asymptotic")
        assert found.method == "normal"
        assert found.p == pytest.approx(float(expected.pvalue))


@given(pairs, st.sampled_from(["two-sided", "less", "greater"]))
def test_wilcoxon_with_ties_counts_all_signs(rows, side):
    base, other = np.array(rows).T
    moved = np.round(base - other, 9)
    moved = moved[moved != 0]
    found = wilcoxon(base, other, side)
    if not len(moved):
        assert found.reason == "no pair differs"
        return
    ranks = stats.rankdata(np.abs(moved))
    observed, middle = ranks[moved > 0].sum(), ranks.sum() / 2
    sums = np.array([np.dot(signs, ranks) for signs in product([0, 1], repeat=len(ranks))])
    far = {
        "two-sided": np.abs(sums - middle) >= abs(observed - middle) - 1e-9,
        "less": sums <= observed + 1e-9,
        "greater": sums >= observed - 1e-9,
    }
    assert found.statistic == observed
    assert found.p == pytest.approx(far[side].mean())


@given(pairs)
def test_paired_permutation_counts_all_signs(rows):
    base, other = np.array(rows).T
    moved = other - base
    sums = np.array([np.dot(signs, moved) for signs in product([-1, 1], repeat=len(moved))])
    expected = (np.abs(sums) >= abs(moved.sum()) - 1e-9).mean()
    assert permutation_paired(base, other).p == pytest.approx(expected)


@given(st.lists(values, min_size=2, max_size=5), st.lists(values, min_size=2, max_size=5))
def test_unpaired_permutation_counts_all_splits(base, other):
    pooled, n = np.array(base + other), len(base)
    found = permutation_unpaired(base, other)
    rises = []
    for chosen in combinations(range(len(pooled)), n):
        rest = np.delete(pooled, chosen)
        rises.append(rest.mean() - pooled[list(chosen)].mean())
    assert found.p == pytest.approx((np.abs(rises) >= abs(found.statistic) - 1e-9).mean())


@pytest.mark.parametrize("side", ["two-sided", "less", "greater"])
def test_permutations_agree_with_scipy(rng, side):
    a, b = rng.normal(0, 1, 6), rng.normal(0.5, 1, 7)

    def rise(x, y, axis=-1):
        return np.mean(x, axis=axis) - np.mean(y, axis=axis)

    options = {"alternative": side, "n_resamples": np.inf, "vectorized": True}
    expected = stats.permutation_test((a, b), rise, permutation_type="independent", **options)
    if side != "two-sided":  # SciPy's two-sided p is twice the smaller tail, ours the share of |sums|
        assert permutation_unpaired(a, b, alternative=side).p == pytest.approx(expected.pvalue)
    expected = stats.permutation_test((a, b[:6]), rise, permutation_type="samples", **options)
    assert permutation_paired(a, b[:6], alternative=side).p == pytest.approx(expected.pvalue)


def test_drawn_permutations_come_near_the_exact_ones(rng):
    a = rng.normal(0, 1, 16)
    b = a + rng.normal(0.4, 1, 16)
    exact = permutation_paired(a, b)
    more = permutation_paired(np.append(a, 0.0), np.append(b, 0.0), n=20000)  # a pair without a difference
    assert (exact.method, more.method) == ("exact", "drawn")
    assert more.p == pytest.approx(exact.p, abs=4 * np.sqrt(exact.p / 20000))
    again = [permutation_unpaired(a, b, n=500, seed=seed).p for seed in (0, 0, 1)]
    assert again[0] == again[1] != again[2]


def test_a_drawn_p_is_never_0(rng):
    a, b = rng.random(20), rng.random(20) + 5
    assert permutation_paired(a, b, n=99).p == permutation_unpaired(a, b, n=99).p == 0.01
    assert permutation_paired(a, b, n=99).label == "+"


def test_all_splits_are_uniform_under_no_difference(rng):
    """A valid test: p is at most 0.05 in at most 5 % of samples that do not differ."""
    runs = rng.normal(size=(400, 2, 5))
    for test in (permutation_unpaired, permutation_paired, lambda a, b: mann_whitney(a, b, method="auto")):
        assert np.mean([test(a, b).p <= 0.05 for a, b in runs]) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)


@given(st.lists(values, min_size=2, max_size=6), st.lists(values, min_size=2, max_size=6))
def test_mann_whitney_with_ties_counts_all_splits(base, other):
    ranks, n = stats.rankdata(base + other), len(base)
    middle = ranks.sum() * n / len(ranks)
    sums = np.array([ranks[list(chosen)].sum() for chosen in combinations(range(len(ranks)), n)])
    expected = (np.abs(sums - middle) >= abs(ranks[:n].sum() - middle) - 1e-9).mean()
    assert mann_whitney(base, other, method="auto").p == pytest.approx(expected)


@given(pairs, st.sampled_from([wilcoxon, permutation_paired, permutation_unpaired]), st.floats(0.5, 3))
def test_scale_and_shift_change_nothing_and_swapping_turns_it_round(rows, test, factor):
    base, other = np.array(rows).T
    found = test(base, other)
    moved = test(base * factor + 1, other * factor + 1)
    assert moved.p == pytest.approx(found.p, nan_ok=True)
    assert moved.label == found.label
    turned = test(other, base)
    assert turned.p == pytest.approx(found.p, nan_ok=True)
    assert turned.label == SWAPPED[found.label]


@pytest.mark.parametrize("test", [wilcoxon, permutation_paired])
def test_fewer_than_six_pairs_cannot_reach_the_level(test):
    for n, label in ((5, "NS"), (6, "-")):
        assert test(np.arange(n) + 1.0, np.arange(n) * 0.5 - 1).label == label


@pytest.mark.parametrize("test", [wilcoxon, permutation_paired, permutation_unpaired])
def test_undefined_values_constant_samples_and_too_few(test):
    a, b = [0.1, 0.2, 0.4, np.nan], [0.3, 0.5, 0.9, np.nan]
    assert test(a, b).p == test(a[:3], b[:3]).p
    same = test([0.5] * 8, [0.6] * 8)
    assert same.label == "NS"
    assert "constant" in same.reason
    infinite = test([0.1, np.inf], [0.1, 0.2])
    assert np.isnan(infinite.p)
    assert "infinite" in infinite.reason
    with pytest.raises(ValueError, match="at least 2"):
        test([0.1], [0.2])


def test_pairs_must_match():
    with pytest.raises(ValueError, match="as many values on both sides, not 3 and 2"):
        wilcoxon([1, 2, 3], [1, 2])
    assert wilcoxon([1, 2, np.nan, 4], [2, np.nan, 3, 7]).statistic == wilcoxon([1, 4], [2, 7]).statistic


def test_ranks_and_mean_must_agree():
    base = np.zeros(20)
    other = np.append(np.arange(1, 20) / 100, -50.0)  # 19 small rises, one large fall
    found = wilcoxon(base, other)
    assert found.p < 0.05
    assert found.label == "NS"
    assert "different ways" in found.reason


def test_differences_equal_but_for_rounding_are_ties():
    found = wilcoxon([0.3, 0.2, 0.5], [0.2, 0.1, 0.4])  # 0.1 each, in three roundings
    assert found.statistic == 6.0
    assert wilcoxon([0.1 + 0.2, 0.5], [0.3, 0.4]).statistic == 1.0  # the first pair does not differ

"""Effects with intervals: SciPy's intervals, published worked numbers, and coverage in simulated runs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evenhand.statistics import effect, hedges_factor, mann_whitney, mean_interval, superiority
from evenhand.statistics.effects import p_of_mean

values = st.floats(0.01, 1).map(lambda v: round(v, 2))
samples = st.lists(values, min_size=3, max_size=10)


def coverage(inside):
    """The share of simulated intervals that hold the truth, and how far it may be off by chance."""
    return np.mean(inside), 3 * np.sqrt(0.05 * 0.95 / len(inside))


@given(samples, samples)
def test_welchs_interval_is_scipys(a, b):
    found = effect(a, b, confidence=0.9)
    if len(set(a)) == len(set(b)) == 1:
        assert np.isnan([found.low, found.high, found.d]).all()
    if len(set(a)) == 1 or len(set(b)) == 1:
        return  # SciPy warns of constant samples
    expected = stats.ttest_ind(b, a, equal_var=False).confidence_interval(0.9)
    assert [found.low, found.high] == pytest.approx([expected.low, expected.high])


def test_the_paired_interval_is_scipys():
    rng = np.random.default_rng(0)
    a = rng.random(12)
    b = a + rng.normal(0.1, 0.2, 12)
    found, expected = effect(a, b, paired=True), stats.ttest_rel(b, a).confidence_interval(0.95)
    assert [found.low, found.high] == pytest.approx([expected.low, expected.high])
    assert effect(a, b).d == effect(a, b, paired=True).d  # one unit of d, paired or not


def test_the_interval_of_d_is_where_noncentral_t_says():
    rng = np.random.default_rng(1)
    a, b = rng.normal(1, 1, 10), rng.normal(0, 1, 10)
    found = effect(a, b)
    t, freedom = found.d * np.sqrt(10 / 2), (np.var(a, ddof=1) + np.var(b, ddof=1)) ** 2 * 9
    freedom /= np.var(a, ddof=1) ** 2 + np.var(b, ddof=1) ** 2
    tails = [
        stats.nct.sf(t, freedom, found.d_low * np.sqrt(5)),
        stats.nct.cdf(t, freedom, found.d_high * 5**0.5),
    ]
    assert tails == pytest.approx([0.025, 0.025], abs=1e-5)


@pytest.mark.parametrize(("n", "spread", "d"), [((5, 5), 1, 1.0), ((8, 8), 3, 0.0), ((6, 12), 3, 2.0)])
@pytest.mark.parametrize("paired", [False, True])
def test_intervals_hold_the_truth_as_often_as_they_say(n, spread, d, paired):
    rng = np.random.default_rng(2)
    n = (n[0], n[0]) if paired else n
    unit = np.sqrt((1 + spread**2) / 2)
    seeds = rng.normal(size=(600, n[0])) if paired else np.zeros((600, 1))
    base = d * unit + 0.7 * seeds + rng.normal(0, np.sqrt(0.51) if paired else 1, (600, n[0]))
    other = spread * (0.7 * seeds + rng.normal(0, np.sqrt(0.51) if paired else 1, (600, n[1])))
    found = [effect(a, b, paired) for a, b in zip(base, other, strict=True)]
    share, room = coverage([one.low <= -d * unit <= one.high for one in found])
    assert abs(share - 0.95) <= room
    share, room = coverage([one.d_low <= d <= one.d_high for one in found])
    assert abs(share - 0.95) <= room + 0.01  # Satterthwaite's degrees of freedom are approximate


def test_hedges_factor_takes_out_the_bias():
    assert hedges_factor(10) == pytest.approx(1 - 3 / (4 * 10 - 1), abs=1e-3)  # the usual approximation
    assert np.isnan(hedges_factor(1))
    rng = np.random.default_rng(3)
    runs = rng.normal(size=(2000, 2, 4)) + np.array([[1.0], [0.0]])
    plain = np.mean([effect(a, b).d for a, b in runs])
    corrected = np.mean([effect(a, b, corrected=True).d for a, b in runs])
    assert plain > 1.1
    assert corrected == pytest.approx(1.0, abs=0.08)


@given(samples, samples, st.floats(0.5, 4), st.floats(-1, 1))
def test_scale_shift_and_swapped_roles(a, b, factor, shift):
    found, turned = effect(a, b), effect(b, a)
    moved = effect(np.array(a) * factor + shift, np.array(b) * factor + shift)
    assert moved.difference == pytest.approx(found.difference * factor, abs=1e-9)
    assert turned.difference == pytest.approx(-found.difference)
    assert [turned.low, turned.high] == pytest.approx([-found.high, -found.low], nan_ok=True)
    if not np.isnan(found.d):
        assert moved.d == pytest.approx(found.d, abs=1e-6)
        assert [turned.d, turned.d_low, turned.d_high] == pytest.approx(
            [-found.d, -found.d_high, -found.d_low], rel=1e-4, abs=1e-6
        )
        assert found.d_low - 1e-6 <= found.d <= found.d_high + 1e-6


def test_what_has_no_effect_size():
    nothing = effect([np.nan], [0.1, 0.2])
    assert nothing.n == (0, 2)
    assert np.isnan(nothing.difference)
    one = effect([0.1], [0.3])
    assert one.difference == pytest.approx(0.2)
    assert np.isnan([one.low, one.d]).all()
    assert one.band == "undefined"
    same = effect([0.1, 0.1], [0.3, 0.3])
    assert same.difference == pytest.approx(0.2)
    assert np.isnan([same.low, same.high, same.d]).all()
    shifted = effect([1.0, 2.0, 3.0], [2.0, 3.0, 4.0], paired=True)  # nothing left to chance
    assert (shifted.low, shifted.high, shifted.d) == (1.0, 1.0, -1.0)
    assert np.isnan(shifted.d_low)
    assert np.isnan(effect([0.1, np.inf], [0.1, 0.2]).difference)


def test_an_enormous_effect_keeps_its_interval():
    """S0's N-Base is constant and d explodes (131 to 338)."""
    found = effect([0.577] * 16, 0.08 + 0.001 * np.sin(np.arange(16)))
    assert found.d > 300
    assert found.d_low < found.d < found.d_high
    assert found.band == "huge"


def test_students_interval_of_a_mean():
    runs = [0.2, 0.4, 0.5, 0.9]
    expected = stats.t.interval(0.9, 3, np.mean(runs), stats.sem(runs))
    assert mean_interval(runs, 0.9) == pytest.approx(expected)
    assert np.isnan(mean_interval([0.2, np.nan])).all()


def test_students_p_of_a_mean():
    runs = [0.2, 0.4, -0.5, 0.9]
    assert p_of_mean([*runs, np.nan]) == pytest.approx(stats.ttest_1samp(runs, 0).pvalue)
    assert np.isnan(p_of_mean([0.2, np.nan]))
    assert np.isnan(p_of_mean([0.1] * 3))  # equal ones: t would be infinite, of rounding alone


@given(samples, samples)
def test_superiority_is_u_over_all_pairs(a, b):
    found = superiority(a, b)
    u = mann_whitney(a, b).statistic
    assert found.probability == pytest.approx(u / (len(a) * len(b)))
    assert found.low <= found.probability <= found.high
    turned = superiority(b, a)
    assert turned.delta == pytest.approx(-found.delta)
    assert [turned.low, turned.high] == pytest.approx([1 - found.high, 1 - found.low])
    assert superiority(np.exp(a), np.exp(b)).low == found.low  # it knows no scale


def test_superiority_without_overlap_keeps_a_width():
    found = superiority([5, 6, 7, 8], [1, 2, 3, 4])
    assert (found.probability, found.high) == (1.0, 1.0)
    assert 0.4 < found.low < 0.7
    assert found.delta_interval == (2 * found.low - 1, 1.0)
    assert superiority([5] * 3, [5] * 3).probability == 0.5
    assert np.isnan(superiority([], [1.0]).probability)


def test_paired_superiority_is_wilsons_share():
    found = superiority([1, 2, 3, 4, 5], [0, 1, 2, 3, 9], paired=True)
    expected = stats.binomtest(4, 5).proportion_ci(method="wilson")
    assert [found.probability, found.low, found.high] == pytest.approx([0.8, expected.low, expected.high])


@pytest.mark.parametrize(("n", "shift"), [(5, 0.0), (5, 1.5), (10, 1.0)])
def test_superiority_holds_the_truth(n, shift):
    rng = np.random.default_rng(5)
    truth = stats.norm.cdf(shift / np.sqrt(2))
    runs = rng.normal(size=(800, 2, n)) + np.array([[shift], [0.0]])
    found = [superiority(a, b) for a, b in runs]
    share, room = coverage([one.low <= truth <= one.high for one in found])
    assert 0.95 - room <= share <= 0.985


def test_the_correction_for_small_samples_shrinks_d_and_its_interval_alike():
    rng = np.random.default_rng(0)
    a, b = rng.normal(0.0, 1.0, 6), rng.normal(1.0, 1.0, 6)
    plain, corrected = effect(a, b), effect(a, b, corrected=True)
    factor = corrected.d / plain.d
    assert 0.85 < factor < 0.95
    assert (corrected.d_low, corrected.d_high) == pytest.approx((factor * plain.d_low, factor * plain.d_high))

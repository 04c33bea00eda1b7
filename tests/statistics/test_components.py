"""Training and rows told apart, in a simulated study whose parts are known; and differences over problems."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evenhand.statistics import combine, holm, judge_combined, split_from_draws, split_variance, wilcoxon


def simulated_study(rng, runs=6, rows=300, training=0.03, own_test_rows=False):
    """Accuracies of runs: every row has its difficulty, every run its level."""
    hard = rng.beta(1.5, 0.6, rows) if not own_test_rows else rng.beta(1.5, 0.6, (runs, rows))
    level = rng.normal(0, training, (runs, 1))
    return (rng.random((runs, rows)) < np.clip(hard + level, 0, 1)).astype(float)


def bootstrap(rng, hits, draws=100):
    """One bootstrap of the rows for all runs: `[draws, runs]`."""
    weights = rng.multinomial(hits.shape[1], np.full(hits.shape[1], 1 / hits.shape[1]), size=draws)
    return weights @ hits.T / hits.shape[1]


def true_training(rng, training, many=200000):
    """The deviation of a run's accuracy on an endless test set (clipped difficulties bend the level)."""
    hard = rng.beta(1.5, 0.6, many)
    return np.std([np.clip(hard + level, 0, 1).mean() for level in rng.normal(0, training, 400)])


def test_the_training_variance_is_found_on_shared_rows():
    rng = np.random.default_rng(0)
    found = []
    for _ in range(250):
        hits = simulated_study(rng)
        values = hits.mean(axis=1)
        found.append(split_from_draws(values, bootstrap(rng, hits)))
    truth = true_training(rng, 0.03) ** 2
    observed = np.mean([one.observed for one in found])
    own = np.mean([(1 - one.correlation) * one.rows for one in found])
    rows = np.mean([one.rows for one in found])
    assert 0.1 < np.mean([one.correlation for one in found]) < 0.6  # networks err on the same rows, in part
    assert observed - own == pytest.approx(truth, rel=0.15)  # what the module says
    assert observed > truth * 1.3  # the plain variance over runs is too large for the training
    assert observed - rows < truth * 0.85  # and taking off the whole row variance takes too much


def test_runs_with_rows_of_their_own():
    rng = np.random.default_rng(1)
    parts = []
    for _ in range(400):
        hits = simulated_study(rng, own_test_rows=True)
        values = hits.mean(axis=1)
        parts.append(split_variance(values, np.sqrt(values * (1 - values) / 300), correlation=0.0))
    excess = np.mean([one.observed - one.rows for one in parts])
    assert excess == pytest.approx(true_training(rng, 0.03) ** 2, rel=0.15)


def test_the_split_by_hand():
    found = split_variance([0.1, 0.3], [0.03, 0.05], correlation=0.25)
    rows = (0.03**2 + 0.05**2) / 2
    assert found.observed == pytest.approx(0.02)
    assert found.rows == pytest.approx(rows)
    assert found.training == pytest.approx(0.02 - 0.75 * rows)
    assert found.total == pytest.approx(found.training + rows)
    assert found.share == pytest.approx(found.training / found.total)
    assert found.training_low <= found.training <= found.training_high


def test_the_split_where_something_is_missing():
    unknown = split_variance([0.1, 0.3], 0.05)
    assert np.isnan([unknown.training, unknown.total, unknown.share]).all()
    assert (unknown.training_low, unknown.training_high) == pytest.approx((0.0175, 0.02))
    assert split_variance([0.1, 0.11], 0.5, correlation=0.0).training == 0.0  # never below 0
    assert np.isnan(split_variance([0.1], 0.05, 0.0).training)
    assert np.isnan(split_variance([0.1, 0.3], np.nan, 0.0).training)
    assert split_variance([0.1, np.nan, 0.3], 0.05, 0.0).runs == 2
    assert np.isnan(split_from_draws([0.1], np.ones((5, 1))).correlation)
    with pytest.raises(ValueError, match="draws by 2 runs"):
        split_from_draws([0.1, 0.2], np.ones((5, 3)))


@given(st.floats(0.5, 4), st.floats(-1, 1))
def test_scale_and_shift_of_a_split(factor, shift):
    values, row_std = np.array([0.2, 0.5, 0.3]), np.array([0.05, 0.04, 0.06])
    found = split_variance(values, row_std, 0.3)
    moved = split_variance(values * factor + shift, row_std * factor, 0.3)
    assert moved.training == pytest.approx(found.training * factor**2)
    assert moved.share == pytest.approx(found.share)


def test_an_offset_of_the_bootstrap_is_no_spread():
    rng = np.random.default_rng(2)
    values, errors = np.array([0.1, 0.2, 0.4]), rng.normal(0, 0.01, (4000, 3))
    plain = split_from_draws(values, values + errors)
    shifted = split_from_draws(values, values + errors + [0.0, 0.05, 0.1])
    assert plain.correlation == pytest.approx(0.0, abs=0.03)
    assert shifted.training == pytest.approx(plain.training, rel=0.02)


def test_differences_over_problems():
    differences = [-0.02, -0.03, -0.01, 0.01, -0.04, -0.05, np.nan, 0.0]
    known = np.array([-0.02, -0.03, -0.01, 0.01, -0.04, -0.05, 0.0])
    found = combine(differences)
    expected = stats.ttest_1samp(known, 0).confidence_interval()
    assert (found.mean, found.low, found.high) == pytest.approx((known.mean(), expected.low, expected.high))
    assert (found.wins, found.ties, found.losses, found.problems) == (5, 1, 1, 7)
    assert found.p == wilcoxon(np.zeros(7), known).p
    turned = combine(-known)
    assert (turned.wins, turned.ties, turned.losses) == (1, 1, 5)
    assert combine(known, better="higher").wins == found.losses
    assert combine(known, tie=0.02).ties == 4


def test_verdicts_over_problems():
    lower = -np.arange(1, 8) / 100
    assert combine(lower).verdict == "lower"
    assert combine(-lower).verdict == "higher"
    assert combine(lower[:5]).verdict == "not enough problems to tell"
    assert combine([0.01, -0.02, 0.03, -0.04, 0.05, -0.06, 0.02]).verdict == "no difference shown"
    assert combine([0.0] * 8).verdict == "no difference shown"
    for few in ([], [0.1], [np.nan]):
        assert combine(few).verdict == "not enough problems to tell"


def test_only_what_was_shown_is_a_win():
    words = ["lower", "higher", "no difference shown", "not enough runs to tell", "lower"]
    found = combine([-0.1, 0.1, -0.2, -0.3, np.nan], verdicts=words)
    assert (found.wins, found.ties, found.losses) == (1, 2, 1)
    with pytest.raises(ValueError, match="1 verdicts for 2 problems"):
        combine([0.1, 0.2], verdicts=["lower"])
    with pytest.raises(ValueError, match="'lower' or 'higher'"):
        combine([0.1], better="nearer")


def test_sums_over_problems_are_corrected_for_each_other():
    spread = np.array([-4, -3, -2, -1, 0.5, 1.5, 2.5, 3.5, 4.5])
    sums = [combine(spread + shift) for shift in (-9, 0, 0.2, 9)]
    judged = judge_combined(sums)
    np.testing.assert_allclose([one.p for one in judged], holm([one.p for one in sums]))
    assert [one.test.p for one in judged] == [one.p for one in sums]
    nothing = "no difference shown"
    assert [one.verdict for one in judged] == ["lower", nothing, nothing, "higher"]
    assert {one.verdict for one in judge_combined(sums * 10)} == {
        "not enough problems to tell"
    }  # 40 x 2 / 512

"""McNemar's test and Tango's interval: against scipy, a numerical likelihood, and simulation."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import binomtest, norm

from evenhand.statistics.paired_shares import mcnemar_p, tango_interval


@pytest.mark.parametrize(("lost", "won"), [(0, 0), (6, 0), (10, 2), (7, 7), (30, 12), (1, 0)])
def test_mcnemar_is_the_binomial_test(lost, won):
    expected = binomtest(lost, lost + won).pvalue if lost + won else 1.0
    assert float(mcnemar_p(lost, won)) == pytest.approx(expected)


@pytest.mark.parametrize(("lost", "won", "n"), [(0, 1, 44), (3, 0, 3), (6, 2, 100), (30, 12, 60), (0, 0, 25)])
def test_the_ends_are_where_the_score_test_begins_to_refuse(lost, won, n):
    z = norm.ppf(0.975)
    for end in tango_interval(lost, won, n):
        d = float(end)
        if abs(d) < 1:
            assert abs(score(lost, won, n, d)) == pytest.approx(z, abs=1e-3)


def score(lost, won, n, d):
    """The score statistic, with the likeliest share of lost rows found numerically."""

    def against(q):
        cells = [(lost, q), (won, q + d), (n - lost - won, 1 - 2 * q - d)]
        return -sum(count * np.log(max(share, 1e-300)) for count, share in cells if count)

    bounds = (max(0.0, -d), (1 - d) / 2)
    q = minimize_scalar(against, bounds=bounds, method="bounded", options={"xatol": 1e-12}).x
    return (won - lost - n * d) / np.sqrt(n * (2 * q + d * (1 - d)))


def test_swapping_the_models_turns_the_interval_round():
    low, high = tango_interval([4, 0, 7], [9, 5, 7], [30, 12, 20])
    again = tango_interval([9, 5, 7], [4, 0, 7], [30, 12, 20])
    assert np.allclose(low, -again[1])
    assert np.allclose(high, -again[0])


def test_nothing_and_everything_changed_have_intervals_with_width():
    low, high = tango_interval([0, 3, 0], [0, 0, 3], [10, 3, 3])
    assert low[0] < 0 < high[0]
    assert (low[1], high[2]) == (-1.0, 1.0)
    assert high[1] > -0.5
    assert np.isnan(tango_interval(0, 0, 0)).all()


@pytest.mark.parametrize(("n", "share"), [(3, 0.3), (10, 0.1), (20, 0.1), (50, 0.05), (200, 0.1)])
def test_the_truth_is_covered(n, share):
    lost = np.random.default_rng(n).binomial(n, share, 2000)
    low, high = tango_interval(lost, 0 * lost, np.full(2000, n))
    assert ((low <= -share) & (-share <= high)).mean() >= 0.94

"""Rows and runs as two sources of error: Welch's test without that of rows, a normal one without runs."""

import numpy as np
import pytest
from scipy.stats import norm, ttest_ind

from evenhand.evaluation.run_errors import RunError


@pytest.mark.parametrize("sizes", [(2, 2), (3, 5), (8, 2)])
def test_without_an_error_of_rows_it_is_welch(sizes):
    rng = np.random.default_rng(0)
    a, b = rng.normal(0.8, 0.02, sizes[0]), rng.normal(0.75, 0.05, sizes[1])
    expected = ttest_ind(b, a, equal_var=False)
    error, moved = RunError.of([a, b]), float(b.mean() - a.mean())
    assert error.p(moved, 0.0, 0.95) == pytest.approx(expected.pvalue)
    low, high = expected.confidence_interval(0.9)
    assert moved - error.reach(0.0, 0.9) == pytest.approx(low)
    assert moved + error.reach(0.0, 0.9) == pytest.approx(high)


def test_without_runs_it_is_the_normal_error_of_the_rows_and_no_p_is_zero():
    error = RunError.of([np.array([0.5]), np.array([0.6])])
    assert error == RunError()
    assert error.reach(0.1, 0.95) == pytest.approx(0.1)
    assert error.p(0.1, 0.1, 0.95) == pytest.approx(0.05)
    assert error.p(2.0, 0.1, 0.95) == pytest.approx(2 * norm.sf(2.0 / 0.1 * norm.ppf(0.975)), rel=1e-3)
    assert error.p(0.0, 0.0, 0.95) == 1
    assert error.p(0.1, 0.0, 0.95) == 0


def test_both_add_up_and_few_runs_matter_less_where_rows_matter_more():
    error = RunError.of([np.array([0.70, 0.74]), np.array([0.6])])  # deviation 0.02 of a mean of two
    assert error.variance == pytest.approx(0.02**2)
    assert error.freedom == pytest.approx(1)
    wide, narrow = error.reach(0.0, 0.95), error.reach(0.4, 0.95)
    assert wide == pytest.approx(0.02 * 12.7062, rel=1e-4)
    assert narrow == pytest.approx(np.hypot(0.4, 0.02 * norm.ppf(0.975)), rel=1e-3)

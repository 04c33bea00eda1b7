"""Spread over runs: the golden numbers, S0's printing rules and, where its data is at hand, S0's Table 4."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.statistics.variance import percent_text, significant, spread, variance_share, widest_class

# S0 Table 4 (DI-bar, %): overall MaxDiff and STDEV, then those of the class with the largest MaxDiff.
TABLE_4 = """S-Base 2.0 0.5 7.0 1.9; S-RS 2.0 0.5 5.8 1.2; S-UC 5.1 1.7 18.4 4.6; S-GR 11.8 3.5 50.1 12.7;
S-DD1 2.3 0.6 5.4 1.5; S-DD2 1.5 0.4 5.3 1.7; S-DD3 1.4 0.4 5.7 1.7; S-DD4 1.0 0.2 8.0 1.8;
S-DI1 1.8 0.5 5.0 1.4; S-DI2 1.1 0.3 4.2 1.0; C-Base 2.6 0.8 100.0 38.9; C-R1 1.0 0.3 50.0 19.5;
C-R2 2.8 0.8 62.5 21.1; C-R3 3.7 1.1 100.0 29.9; C-A4 3.7 0.8 100.0 22.8; C-A5 2.4 0.6 100.0 28.2;
I-Base 0.8 0.2 58.9 22.6; I-R1 0.9 0.3 50.0 14.8; I-R2 0.7 0.2 30.0 8.1; I-R3 1.2 0.4 44.7 13.4;
I-A4 0.8 0.2 40.0 14.5; I-A5 1.0 0.3 50.0 23.2; A-Base 1.7 0.5 5.8 1.8; A-L2 8.0 2.4 31.1 8.8;
A-ALM 4.5 1.2 9.3 3.0; N-Base 0.0 0.0 0.0 0.0; N-Flow 2.5 0.6 3.6 0.9"""


def two_samples(golden):
    return [case for case in golden("11_statistics")["cases"] if "baseline" in case["inputs"]]


def test_golden_spread(golden, assert_close):
    for case in two_samples(golden):
        found = [spread(case["inputs"][name]) for name in ("baseline", "mitigation")]
        assert_close([one.std for one in found], case["expected"]["population_std"], case["tolerance"])
        assert_close([one.maxdiff for one in found], case["expected"]["max_diff"], case["tolerance"])


@given(st.lists(st.floats(-10, 10), min_size=1, max_size=20))
def test_spread_of_runs(values):
    found = spread(values)
    assert found.n == len(values)
    assert found.mean == pytest.approx(np.mean(values))
    assert found.std == pytest.approx(np.std(values), abs=1e-9)
    assert (found.min, found.max) == (min(values), max(values))
    assert found.maxdiff == max(values) - min(values)


def test_each_class_by_itself(assert_close):
    runs = np.random.default_rng(0).random((16, 5))
    assert_close(spread(runs).std, [spread(runs[:, k]).std for k in range(5)], 1e-12)
    assert_close(spread(runs).relative_maxdiff, np.ptp(runs, axis=0) / runs.mean(axis=0))


def test_constant_runs_have_exactly_no_spread():
    found = spread([0.577] * 7)
    assert (found.std, found.maxdiff) == (0.0, 0.0)


def test_undefined_runs_are_left_out_and_counted():
    found = spread([0.2, np.nan, 0.4])
    assert (found.n, found.maxdiff) == (2, 0.2)
    nothing = spread([np.nan, np.nan])
    assert nothing.n == 0
    assert np.isnan([nothing.mean, nothing.std, nothing.maxdiff]).all()
    assert np.isnan(spread([0.0, 0.0]).relative_maxdiff)


def test_plain_numbers():
    assert spread([1.0, 3.0]).to_dict() == {
        "n": 2, "mean": 2.0, "std": 1.0, "min": 1.0, "max": 3.0, "maxdiff": 2.0, "relative_maxdiff": 1.0,
    }  # fmt: skip


def test_the_widest_class_is_compared_after_rounding():
    runs = np.array([[0.0, 0.0, 0.0], [0.12341, 0.12344, 0.1]])  # 0.1234 both: the first wins
    label, found = widest_class(runs)
    assert label == 0
    assert found.maxdiff == 0.12341
    assert widest_class([[np.nan, 0.1], [np.nan, 0.2]])[0] == 1
    with pytest.raises(ValueError, match="no class"):
        widest_class([[np.nan], [np.nan]])


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.12345, 0.1234), (0.12355, 0.1236), (-0.12345, -0.1234), (123456.0, 123500.0), (0.0, 0.0)],
)
def test_four_significant_digits_half_to_even(value, expected):
    assert significant(value) == expected


def test_significant_digits_leave_the_undefined_alone():
    assert np.isnan(significant(np.nan))
    assert significant(np.inf) == np.inf


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.3357, "33.6"), (0.0009994, "<0.1"), (0.001, "0.1"), (0.0, "0.0"), (1.0, "100.0"), (np.nan, "-")],
)
def test_numbers_as_the_study_prints_them(value, text):
    assert percent_text(value) == text


def test_share_of_the_variance_from_training_again(assert_close):
    assert_close(variance_share([3.0, 0.0, 1.0], [4.0, 1.0, 0.0]), [0.36, 0.0, 1.0])
    assert np.isnan(variance_share(0.0, 0.0))


def test_table_4_of_the_study_replays():
    file = Path(os.environ.get("EVENHAND_DATA", "")) / "fixed_seed_runs.parquet"
    if not file.is_file():
        pytest.skip("needs fixed_seed_runs.parquet in EVENHAND_DATA")
    polars = pytest.importorskip("polars")
    runs = polars.read_parquet(file).filter(polars.col("metric") == "di").sort("run", "class")
    for row in TABLE_4.split(";"):
        technique, *expected = row.split()
        chosen = runs.filter(polars.col("technique") == technique)
        values = chosen["value"].to_numpy().reshape(chosen["run"].n_unique(), -1)
        overall, (_, widest) = spread(values.mean(axis=1)), widest_class(values)
        got = [percent_text(v) for v in (overall.maxdiff, overall.std, widest.maxdiff, widest.std)]
        assert got == expected, technique

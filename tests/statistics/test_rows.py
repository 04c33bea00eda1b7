"""S0's rows of variance and of tests, by hand and over its published runs."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from evenhand.statistics import (
    change_row,
    cohens_d,
    levene_relative,
    mann_whitney,
    variance_row,
    widest_class,
)


def test_a_variance_row_by_hand():
    row = variance_row([[0.1, 0.5], [0.2, 0.9], [0.3, 0.4]])  # means 0.30, 0.55, 0.35
    assert row.mean == pytest.approx(0.4)
    assert (row.max, row.min, row.max_diff) == pytest.approx((0.55, 0.30, 0.25))
    assert row.stdev == pytest.approx(np.std([0.30, 0.55, 0.35]))
    assert row.class_ == 1
    assert row.class_max_diff == pytest.approx(0.5)
    assert row.class_stdev == pytest.approx(np.std([0.5, 0.9, 0.4]))


def test_one_number_a_run_has_no_class():
    row = variance_row([0.1, 0.3])
    assert (row.class_, row.max_diff) == (None, pytest.approx(0.2))
    assert np.isnan([row.class_max_diff, row.class_stdev]).all()
    nothing = variance_row([[np.nan, np.nan]])
    assert nothing.class_ is None
    assert np.isnan(nothing.mean)
    with pytest.raises(ValueError, match="runs by classes"):
        variance_row(np.zeros((2, 2, 2)))


def test_undefined_classes_are_left_out_of_a_runs_mean():
    assert variance_row([[0.2, np.nan], [0.4, 0.6]]).mean == pytest.approx((0.2 + 0.5) / 2)


def test_a_test_row_is_its_parts():
    rng = np.random.default_rng(0)
    base, other = rng.random((16, 3)), rng.random((16, 3)) * 0.8
    a, b = base.mean(axis=1), other.mean(axis=1)
    row = change_row(base, other)
    assert (row.base_mean, row.mean) == pytest.approx((a.mean(), b.mean()))
    assert (row.p, row.direction) == (mann_whitney(a, b, "posthoc").p, mann_whitney(a, b, "posthoc").label)
    assert row.d == pytest.approx(cohens_d(a, b))
    assert (row.levene_p, row.variance_direction) == (levene_relative(a, b).p, levene_relative(a, b).label)
    plain = change_row(base, other, "plain")
    assert plain.p == mann_whitney(a, b, method="auto").p
    assert plain.levene_p == row.levene_p


@pytest.fixture(scope="module")
def published():
    file = Path(os.environ.get("EVENHAND_DATA", "")) / "fixed_seed_runs.parquet"
    if not file.is_file():
        pytest.skip("needs fixed_seed_runs.parquet in EVENHAND_DATA")
    polars = pytest.importorskip("polars")
    frame = polars.read_parquet(file).with_columns(polars.col("technique", "metric").cast(polars.String))
    parts = frame.sort("run", "class").partition_by("technique", "metric", as_dict=True)
    return {key: part["value"].to_numpy().reshape(part["run"].n_unique(), -1) for key, part in parts.items()}


def test_the_outcomes_of_all_154_comparisons(published):
    rows = [
        change_row(published[f"{technique[0]}-Base", metric], values)
        for (technique, metric), values in published.items()
        if not technique.endswith("Base")
    ]
    assert Counter(row.direction for row in rows) == {"-": 103, "+": 47, "NS": 4}
    assert Counter(row.variance_direction for row in rows) == {"+": 53, "-": 13, "NS": 88}


def test_all_189_variance_rows_are_those_of_their_runs(published):
    assert len(published) == 189
    for values in published.values():
        row = variance_row(values)
        assert row.max_diff == pytest.approx(np.ptp(values.mean(axis=1)))
        assert row.stdev == pytest.approx(np.std(values.mean(axis=1)), abs=1e-15)
        assert row.class_ == widest_class(values)[0]
        assert row.class_max_diff >= np.ptp(values, axis=0).max() * (1 - 1e-3)


def test_the_outcomes_do_not_hinge_on_the_side(published):
    """The side chosen afterwards is a two-sided test at twice the level; a plain one finds the same."""
    found = Counter(
        change_row(published[f"{technique[0]}-Base", metric], values, "plain").direction
        for (technique, metric), values in published.items()
        if not technique.endswith("Base")
    )
    assert found == {"-": 103, "+": 47, "NS": 4}

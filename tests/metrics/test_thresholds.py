"""Counts at many thresholds are the counts of each, one by one."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand.metrics.counts import Counts
from evenhand.metrics.thresholds import counts_at_thresholds


@pytest.mark.parametrize("weighted", [False, True])
def test_every_table_is_that_of_the_thresholded_predictions(weighted):
    rng = np.random.default_rng(0)
    y, g, s = rng.integers(0, 2, 500), rng.integers(-1, 3, 500), rng.integers(0, 11, 500) / 10
    weights = rng.integers(1, 5, 500) / 4 if weighted else None
    limits = [0.7, 0.0, 0.35, 1.0, 0.7, 1.1]
    found = counts_at_thresholds(y, s, g, limits, n_groups=3, weights=weights)
    for place, limit in enumerate(limits):
        alone = Counts.from_predictions(y, (s >= limit).astype(int), g, 2, 3, weights)
        assert np.array_equal(found[place].cells, alone.cells)
        assert np.array_equal(found[place].rows, alone.rows)


def test_parts_add_up():
    rng = np.random.default_rng(1)
    y, g, s = rng.integers(0, 2, 200), rng.integers(0, 2, 200), rng.random(200)
    whole = counts_at_thresholds(y, s, g, [0.25, 0.5], n_groups=2)
    parts = [
        counts_at_thresholds(y[part], s[part], g[part], [0.25, 0.5], n_groups=2)
        for part in (slice(0, 70), slice(70, 200))
    ]
    assert Counts.merge(parts) == whole


@pytest.mark.parametrize(
    ("y", "s", "g", "named"),
    [
        ([0, 2], [0.1, 0.2], [0, 0], "label 2"),
        ([0, 1], [0.1, np.nan], [0, 0], "row 1"),
        ([0, 1], [0.1, 0.2], [0, -2], "group -2"),
    ],
)
def test_wrong_rows_are_named(y, s, g, named):
    with pytest.raises(ValueError, match=named):
        counts_at_thresholds(y, s, g, [0.5])

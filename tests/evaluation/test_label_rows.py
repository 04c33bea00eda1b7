"""Multi-label rows are drawn whole: labels that go together are as uncertain as one of them."""

import numpy as np
import pytest

import evenhand
from evenhand.metrics.counts import Counts
from evenhand.metrics.label_rows import LabelRows

KEYS = ("tpr.gap", "accuracy.gap", "selection.gap", "tpr.worst", "accuracy.best")


def labels(n=400, count=6, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, (n, count))
    return y, np.where(rng.random(y.shape) < 0.8, y, 1 - y), rng.integers(0, 2, n)


def widths(y, p, g, **options):
    found = evenhand.audit(y, p, g, replicates=500, **options).metrics
    return np.array([found[key].high - found[key].low for key in KEYS])


def test_copies_of_one_label_have_its_interval():
    y, p, g = labels(count=1)
    single, copies = widths(y, p, g), widths(np.repeat(y, 6, axis=1), np.repeat(p, 6, axis=1), g)
    np.testing.assert_allclose(copies, single, rtol=1e-9)
    np.testing.assert_allclose(copies, widths(y[:, 0], p[:, 0], g), rtol=0.3)


def test_independent_labels_have_a_narrower_interval():
    y, p, g = labels()
    assert (widths(y, p, g) < 0.8 * widths(y[:, :1], p[:, :1], g)).all()


def test_distinct_rows_hold_every_row_and_its_weight():
    y, p, g = labels(n=100, count=2)
    g[:9] = -1
    w = np.random.default_rng(1).random(100)
    rows = LabelRows.from_rows(y, p, g, 2, w)
    assert rows.rows.sum() == 100
    assert rows.weight.sum() == pytest.approx(w.sum())
    assert rows.rows[rows.group == 2].sum() == 9
    assert (np.diff(rows.group) >= 0).all()
    keys = np.concatenate([rows.group[:, None], rows.truth, rows.prediction], axis=1)
    assert len(np.unique(keys, axis=0)) == len(rows.rows)


def test_a_draw_keeps_group_sizes_and_is_right_on_average():
    y, p, g = labels(n=200, count=3)
    counts = Counts.from_predictions(y, p, g, n_classes=3, n_groups=2)
    drawn = LabelRows.from_rows(y, p, g, 2).draw(2000, np.random.default_rng(0))
    assert drawn.shape == (2000, 3, 3, 2, 2)
    np.testing.assert_allclose(
        drawn.sum(axis=(-1, -2)), np.broadcast_to(counts.cells.sum(axis=(-1, -2)), drawn.shape[:3])
    )
    np.testing.assert_allclose(drawn.mean(axis=0), counts.cells, atol=1.5)


def test_dealt_groups_have_the_same_size_and_the_same_expected_rates():
    y, p, g = labels(n=200, count=3)
    g[:20] = -1
    counts = Counts.from_predictions(y, p, g, n_classes=3, n_groups=2)
    dealt = LabelRows.from_rows(y, p, g, 2).deal(1500, np.random.default_rng(0))
    np.testing.assert_allclose(
        dealt.sum(axis=(-1, -2)), np.broadcast_to(counts.cells.sum(axis=(-1, -2)), dealt.shape[:3])
    )
    np.testing.assert_array_equal(dealt[0, :, -1], counts.cells[:, -1])
    share = dealt.mean(axis=0)[:, :2] / counts.cells[:, :2].sum(axis=(-1, -2), keepdims=True)
    np.testing.assert_allclose(share[:, 0], share[:, 1], atol=0.02)


def test_many_labels_get_fewer_replicates_but_never_too_few():
    y, p, g = labels(n=300, count=3)
    rows = LabelRows.from_rows(y, p, g, 2)
    assert rows.replicates(1000) == 1000
    assert rows.replicates(7) == 7
    assert LabelRows.from_rows(y, p, g, 10_000_000).replicates(1000) == 100


def test_resampling_the_whole_lets_group_sizes_vary():
    """Of 30 rows 5 are in the small group; over the whole sample its size is not fixed."""
    y, p, g = labels(n=120, count=2, seed=3)
    g[:] = np.arange(120) < 8
    fixed, free = (widths(y, p, g, resampling=how) for how in ("stratified", "whole"))
    assert not np.allclose(fixed, free)

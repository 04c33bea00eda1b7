"""The metrics of S1 at the size of ImageNet People: 196 groups, 284 classes, 5,327 rows, in one pass.

Every number is compared with a count by hand of the rows themselves; groups are empty, tiny and unknown.
"""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

from evenhand.metrics.binned import groups_without_positives, mean_average_precision_u, positive_weights
from evenhand.metrics.catalogue import CATALOGUE
from evenhand.metrics.counts import Counts
from evenhand.metrics.margins import margins_of_everyone
from evenhand.metrics.ranked import exact_average_precision
from evenhand.metrics.scores import Scores
from evenhand.metrics.sparse_cells import margins_of_cells
from evenhand.metrics.view import View

ROWS, GROUPS, CLASSES, LABELS = 5_327, 196, 284, 39
EMPTY = (0, 17, 195)
KEYS = (
    *("acc", "acc_u", "acc_u.label_attr", "min_acc", "min_acc.label_attr"),
    *("ba_signed", "ba_signed.positive", "eps"),
)
SMOOTHING = 1.0


@pytest.fixture(scope="module")
def many():
    """Labels, predictions right half the time, and groups of very unequal sizes: 300 rows are unknown."""
    rng = np.random.default_rng(7)
    y = rng.integers(0, CLASSES - 1, ROWS)  # the last class has no row, and may still be predicted
    p = np.where(rng.random(ROWS) < 0.5, y, rng.integers(0, CLASSES, ROWS))
    sizes = 1.0 / np.arange(1, GROUPS + 1)
    sizes[list(EMPTY)] = 0.0
    g = rng.choice(GROUPS, ROWS, p=sizes / sizes.sum())
    g[rng.permutation(ROWS)[:300]] = -1
    return y, p, g


@pytest.fixture(scope="module")
def labels():
    """39 labels a row, common and rare, with scores that tell something."""
    rng = np.random.default_rng(8)
    y = (rng.random((ROWS, LABELS)) < np.geomspace(0.002, 0.5, LABELS)).astype(np.int64)
    score = 1 / (1 + np.exp(-rng.normal(size=y.shape) - 2.0 * y + 1.0))
    g = rng.integers(-1, GROUPS, ROWS)
    g[np.isin(g, EMPTY)] = 1
    return y, score, g


def view_of(counts: Counts) -> View:
    return View(counts.margins(), margins_of_everyone(counts.cells, counts.multilabel), smoothing=SMOOTHING)


def by_hand(y, p, g, classes):
    """Each metric from the rows, group by group and class by class."""
    rows = [np.flatnonzero(g == k) for k in range(GROUPS) if (g == k).any()]
    accuracy = [np.mean(y[r] == p[r]) for r in rows]
    cells = [np.mean(p[r][y[r] == c] == c) for r in rows for c in np.unique(y[r])]
    known = g >= 0
    amplified, epsilon = [], []
    for c in range(classes):
        predicted, actual = (np.bincount(g[known & (v == c)], minlength=GROUPS) for v in (p, y))
        if predicted.any() and actual.any():
            top = int(predicted.argmax())
            amplified.append(predicted[top] / predicted.sum() - actual[top] / actual.sum())
        rate = [(np.sum(p[r] == c) + SMOOTHING / classes) / (len(r) + SMOOTHING) for r in rows]
        epsilon.append(math.log(max(rate)) - math.log(min(rate)))
    return {
        "acc": np.mean(y == p), "acc_u": np.mean(accuracy), "min_acc": min(accuracy),
        "acc_u.label_attr": np.mean(cells), "min_acc.label_attr": min(cells),
        "ba_signed": np.mean(amplified), "eps": np.mean(epsilon),
    }  # fmt: skip


def test_every_metric_is_the_one_counted_by_hand(many, assert_close):
    y, p, g = many
    view = view_of(Counts.from_predictions(y, p, g, n_classes=CLASSES, n_groups=GROUPS))
    for key, expected in by_hand(y, p, g, CLASSES).items():
        assert_close(CATALOGUE[key](view), expected, 1e-12)
    assert int((view.margins.n[0] == 0).sum()) >= len(EMPTY)  # empty groups are there, and left out


def test_the_margins_alone_say_the_same_and_need_no_table(many, assert_close):
    y, p, g = many
    counts = Counts.from_predictions(y, p, g, n_classes=CLASSES, n_groups=GROUPS)
    every = margins_of_cells(np.where(g < 0, GROUPS, g), y, p, np.ones(ROWS), GROUPS + 1, CLASSES)
    light = View(every.groups(slice(GROUPS)), every.pooled, smoothing=SMOOTHING)
    assert np.array_equal(light.margins.tp, counts.margins().tp)
    for key in KEYS:
        assert_close(CATALOGUE[key](light), CATALOGUE[key](view_of(counts)), 1e-12)
    held = sum(part.nbytes for part in (every.tp, every.predicted, every.actual))
    assert held < counts.cells.nbytes / 90  # 1.3 MB in place of 127


def test_batches_and_unknown_groups_add_up(many):
    y, p, g = many
    whole = Counts.from_predictions(y, p, g, n_classes=CLASSES, n_groups=GROUPS)
    parts = [
        Counts.from_predictions(y[part], p[part], g[part], n_classes=CLASSES, n_groups=GROUPS)
        for part in (slice(0, 5_000), slice(5_000, None))  # the table is far larger than either
    ]
    assert np.array_equal((parts[0] + parts[1]).cells, whole.cells)
    assert int(whole.unknown.sum()) == 300
    assert int(whole.cells.sum()) == ROWS


def test_nothing_is_known_of_anybody(many):
    y, p, _ = many
    view = view_of(Counts.from_predictions(y, p, np.full(ROWS, -1), n_classes=CLASSES, n_groups=GROUPS))
    assert float(CATALOGUE["acc"](view)) == np.mean(y == p)
    for key in KEYS[1:]:
        assert math.isnan(float(CATALOGUE[key](view))), key


@pytest.mark.parametrize("key", ["acc_u", "acc_u.label_attr", "min_acc", "ba_signed", "eps", "eps.positive"])
def test_many_labels_are_the_mean_over_labels(labels, key, assert_close):
    y, score, g = labels
    p = (score > 0.5).astype(np.int64)
    found = CATALOGUE[key](view_of(Counts.from_predictions(y, p, g, n_groups=GROUPS)))
    expected = []
    for k in range(LABELS):
        one = by_hand(y[:, k], p[:, k], g, 2)
        if key == "ba_signed":  # of a label only "present" is scored
            shares = [np.bincount(g[(g >= 0) & (v[:, k] == 1)], minlength=GROUPS) for v in (p, y)]
            top = int(shares[0].argmax())
            one[key] = shares[0][top] / shares[0].sum() - shares[1][top] / shares[1].sum()
        if key == "eps.positive":
            rows = [g == d for d in range(GROUPS) if (g == d).any()]
            rate = [(p[r, k].sum() + SMOOTHING / 2) / (r.sum() + SMOOTHING) for r in rows]
            one[key] = math.log(max(rate)) - math.log(min(rate))
        expected.append(one[key])
    if key == "acc_u.label_attr":
        cells = [
            np.mean(p[r, k] == v)
            for k in range(LABELS)
            for v in (0, 1)
            for d in range(GROUPS)
            if (r := np.flatnonzero((g == d) & (y[:, k] == v))).size
        ]
        expected = [np.mean(cells)]
    assert_close(found, np.mean(expected), 1e-12)


def test_reweighted_average_precision_is_scikit_learns_with_these_weights(labels, assert_close):
    sklearn = pytest.importorskip("sklearn.metrics")
    y, score, g = labels
    for k in (0, 7, LABELS - 1):
        known = g >= 0
        per_group = np.bincount(g[known], y[known, k], minlength=GROUPS)
        heavy = per_group.sum() / (np.count_nonzero(per_group) * np.where(per_group > 0, per_group, 1))
        weight = np.where(y[:, k] == 1, heavy[g], 1.0)
        expected = sklearn.average_precision_score(y[known, k], score[known, k], sample_weight=weight[known])
        weights = positive_weights(y[:, k], g)
        assert_close(exact_average_precision(y[:, k], score[:, k], weights), expected, 1e-12)


def test_binned_reweighted_precision_is_near_the_exact_one(labels):
    y, score, g = labels
    exact = np.mean(
        [exact_average_precision(y[:, k], score[:, k], positive_weights(y[:, k], g)) for k in range(LABELS)]
    )
    scores = Scores.from_scores(y, score, g, n_groups=GROUPS)
    assert scores.bins == 960
    assert float(mean_average_precision_u(scores)) == pytest.approx(exact, abs=0.005)
    assert groups_without_positives(scores)[:, list(EMPTY)].all()


def test_scores_in_a_large_table_are_those_of_a_small_one():
    """A table far larger than its rows is filled in another way, to the same bits."""
    rng = np.random.default_rng(3)
    y, s, g, w = rng.integers(0, 2, 900), rng.random(900), rng.integers(-1, 3, 900), rng.random(900)
    for weights in (None, w):
        small = Scores.from_scores(y, s, g, n_groups=3, weights=weights, bins=60)
        large = Scores.from_scores(y, s, g, n_groups=GROUPS, weights=weights, bins=60)
        for one, other in zip(small._kinds, large._kinds, strict=True):
            assert np.array_equal(one[:3], other[:3])
            assert np.array_equal(one[-1], other[-1])  # unknown
            assert not other[3:-1].any()


def test_all_of_it_takes_well_under_a_second(many, labels):
    y, p, g = many
    truth, score, other = labels

    def measure() -> float:
        start = time.perf_counter()
        view = view_of(Counts.from_predictions(y, p, g, n_classes=CLASSES, n_groups=GROUPS))
        several = view_of(Counts.from_predictions(truth, (score > 0.5).astype(int), other, n_groups=GROUPS))
        values = [float(CATALOGUE[key](look)) for look in (view, several) for key in KEYS]
        assert len(values) == 2 * len(KEYS)
        return time.perf_counter() - start

    assert min(measure() for _ in range(3)) < 0.5

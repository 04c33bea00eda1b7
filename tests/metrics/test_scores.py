"""The histogram of scores: building, merging, stacking, refusing, and drawing anew."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.metrics import score_cells
from evenhand.metrics.binned import auc, brier, mean_score
from evenhand.metrics.ranked import by_group, exact_auc
from evenhand.metrics.scores import Scores, default_bins


def sample(n=500, groups=3, seed=0, unknown=True):
    rng = np.random.default_rng(seed)
    g = rng.integers(-1 if unknown else 0, groups, n)
    y = rng.integers(0, 2, n)
    return y, np.clip(rng.beta(2, 2, n) * 0.7 + 0.3 * y * rng.random(n), 0, 1), g, rng.random(n) + 0.5


def same(a, b):
    return all(np.allclose(x, y, rtol=1e-12) for x, y in zip(a._kinds, b._kinds, strict=True))


def test_score_one_falls_in_the_last_bin_and_unknown_keeps_its_place():
    scores = Scores.from_scores([1, 0, 0], [1.0, 0.0, 0.5], [0, -1, 0], bins=4)
    assert scores.cells.tolist() == [[[0, 0, 1, 0], [0, 0, 0, 1]], [[1, 0, 0, 0], [0, 0, 0, 0]]]
    assert (scores.n_groups, scores.bins, scores.weighted) == (1, 4, False)
    assert scores.n.tolist() == [2]
    assert scores.n_unknown == 1
    assert scores.pooled.n.tolist() == [3]
    assert scores.pooled.n_unknown == 0


@given(st.integers(0, 300), st.booleans())
def test_parts_add_up_to_the_whole(cut, weighted):
    y, s, g, w = sample(300)
    weights = w if weighted else None
    whole = Scores.from_scores(y, s, g, 3, weights)
    halves = [
        Scores.from_scores(y[part], s[part], g[part], 3, None if weights is None else w[part])
        for part in (slice(cut), slice(cut, None))
    ]
    assert same(halves[0] + halves[1], whole)
    assert same(Scores.merge(halves), whole)
    assert np.array_equal((halves[0] + halves[1]).rows, whole.rows)


def test_blocks_do_not_show(monkeypatch):
    y, s, g, w = sample(5000)
    whole = Scores.from_scores(y, s, g, 3, w, bins=16)
    monkeypatch.setattr(score_cells, "BLOCK", 64)
    assert same(Scores.from_scores(y, s, g, 3, w, bins=16), whole)


@pytest.mark.parametrize("kind", ["list", "numpy", "float32", "pandas", "polars", "torch"])
def test_any_array_gives_the_same_histogram(kind):
    y, s, g, _ = sample(50)
    s = np.round(s * 64) / 64  # exact in single precision too
    make = {
        "list": lambda a: a.tolist(),
        "numpy": lambda a: a,
        "float32": lambda a: a.astype(np.float32) if a.dtype.kind == "f" else a,
        "pandas": lambda a: pytest.importorskip("pandas").Series(a),
        "polars": lambda a: pytest.importorskip("polars").Series(a),
        "torch": lambda a: pytest.importorskip("torch").tensor(a),
    }[kind]
    assert same(Scores.from_scores(make(y), make(s), make(g)), Scores.from_scores(y, s, g))


def test_cells_of_a_group_by_give_the_same_histogram():
    y, s, g, _ = sample(400)
    whole = Scores.from_scores(y, s, g, 3, bins=60)
    label, at = np.nonzero(whole.cells.sum(axis=0))
    cells = [(group, a, b) for group in (-1, 0, 1, 2) for a, b in zip(label, at, strict=True)]
    group, label, at = (np.array(column) for column in zip(*cells, strict=True))
    sums = [kind[group, label, at] for kind in whole._kinds]  # -1 picks the last row, the unknown one
    assert same(Scores.from_cells(group, label, at, *sums, n_groups=3, bins=60), whole)


def test_weighted_cells_keep_rows_and_squares():
    cells = {"group": [0, 0], "label": [1, 1], "bin": [3, 3], "count": [0.5, 1.5], "sum_score": [0.2, 0.6]}
    extra = {"sum_square": [0.1, 0.3], "rows": [1, 2], "squares": [0.25, 1.2]}
    got = Scores.from_cells(**cells, **extra, n_groups=1, bins=10)
    assert got.weighted
    assert (got.cells[0, 1, 3], got.rows[0, 1, 3], got.square_cells[0, 1, 3]) == (2.0, 3, 1.45)


def test_classes_and_labels_become_one_against_the_rest():
    rng = np.random.default_rng(5)
    table, g = rng.dirichlet(np.ones(3), 90), rng.integers(0, 2, 90)
    y = rng.integers(0, 3, 90)
    multiclass = Scores.from_scores(y, table, g)
    multilabel = Scores.from_scores(np.eye(3, dtype=int)[y], table, g)
    singles = Scores.stack([Scores.from_scores(y == k, table[:, k], g) for k in range(3)], per_label=True)
    assert multiclass.per_label
    assert same(multiclass, multilabel)
    assert same(multiclass, singles)
    assert same(multiclass[1], singles.label(1))
    assert not multiclass[1].per_label
    assert multiclass[:2].per_label


def test_runs_are_stacked():
    y, s, g, _ = sample(80)
    runs = Scores.from_scores(y, np.stack([s, s**2]), g, runs=True)
    assert runs.cells.shape[0] == 2
    assert same(runs[1], Scores.from_scores(y, s**2, g))
    labels = Scores.from_scores(y, np.stack([np.stack([1 - s, s], axis=1)] * 4), g, runs=True)
    assert labels.cells.shape[:2] == (4, 2)
    assert labels[0].per_label
    assert not labels.label(1).per_label
    assert same(labels.label(1)[3], Scores.from_scores(y, s, g))


def test_coarse_bins_are_those_of_the_rows():
    y, s, g, w = sample()
    assert same(
        Scores.from_scores(y, s, g, weights=w).coarsen(15), Scores.from_scores(y, s, g, weights=w, bins=15)
    )


def test_groups_may_be_an_object_with_ids():
    class Three:
        ids = np.array([0, 1, -1])

        def __len__(self):
            return 3

    assert Scores.from_scores([1, 0, 1], [0.5, 0.5, 0.5], Three()).n_groups == 3


def test_bins_shrink_where_the_histogram_would_be_huge():
    assert default_bins(10) == 3840
    bins = default_bins(196, 284)
    assert 3840 % bins == 0
    assert bins % 15 == 0
    assert 197 * 2 * bins * 284 <= 1 << 24


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Scores.from_scores([1, 0], [0.5, -0.1], [0, 0]), r"score -0.1 in row 1 is not in \[0, 1\]"),
        (lambda: Scores.from_scores([1, 0], [0.5, np.nan], [0, 0]), "score nan in row 1"),
        (lambda: Scores.from_scores([0, 1], [[0.5, 0.5], [0.5, 9.0]], [0, 0]), "9.0 in row 1, column 1"),
        (lambda: Scores.from_scores([0, 2], [[0.5, 0.5], [0.5, 0.5]], [0, 0]), r"label 2 in row 1 .* 0..1"),
        (lambda: Scores.from_scores([0, 2], [0.5, 0.5], [0, 0]), "label 2 in row 1"),
        (lambda: Scores.from_scores([0, 1], [0.5, 0.5], [0, 3], 2), "group 3 in row 1"),
        (lambda: Scores.from_scores([0, 1], [0.5, 0.5], [0, -2]), "group -2 in row 1"),
        (lambda: Scores.from_scores([0, 1], [0.5, 0.5, 0.5], [0, 0]), "do not fit"),
        (lambda: Scores.from_scores([0, 1], [0.5, 0.5], [0, 0], weights=[1, np.inf]), "weight inf in row 1"),
        (lambda: Scores.from_scores([1], [0.5], [0]).coarsen(7), "divisor of 3840"),
    ],
)
def test_wrong_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_row_at_fault_is_counted_from_the_first_block(monkeypatch):
    monkeypatch.setattr(score_cells, "BLOCK", 8)
    s = np.full(100, 0.5)
    s[77] = 2.0
    with pytest.raises(ValueError, match=r"score 2\.0 in row 77"):
        Scores.from_scores(np.ones(100, int), s, np.zeros(100, int), bins=2)


def test_unlike_histograms_cannot_be_added():
    one, two = Scores.from_scores([1], [0.5], [0]), Scores.from_scores([1], [0.5], [1])
    with pytest.raises(ValueError, match="same n_groups and bins"):
        _ = one + two
    with pytest.raises(ValueError, match="weight every part"):
        _ = one + Scores.from_scores([1], [0.5], [0], weights=[2.0])
    with pytest.raises(IndexError):
        _ = one[0]
    with pytest.raises(IndexError):
        one.label(0)


def test_replicates_keep_groups_and_centre_on_the_sample():
    y, s, g, _ = sample(900)
    scores = Scores.from_scores(y, s, g, 3)
    drawn = scores.resample(400, np.random.default_rng(1))
    assert drawn.cells.shape == (400, 4, 2, 240)
    assert (drawn.n == scores.n).all()
    assert (drawn.n_unknown == scores.n_unknown).all()
    coarse = scores.coarsen(240)
    assert ((drawn.cells > 0) <= (coarse.cells > 0)).all()
    assert np.allclose(auc(drawn).mean(axis=0), auc(coarse), atol=0.005)
    assert np.allclose(mean_score(drawn).mean(axis=0), mean_score(coarse), atol=0.002)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_spread_of_replicates_is_that_of_resampled_rows(weighted):
    y, s, g, _ = sample(300, groups=1, unknown=False)
    rng = np.random.default_rng(2)
    w = rng.gamma(0.7, 2.0, 300) + 0.01 if weighted else np.ones(300)  # very unequal weights
    drawn = Scores.from_scores(y, s, g, 1, w if weighted else None).resample(600, rng)
    picks = [rng.integers(0, 300, 300) for _ in range(600)]
    rows = [by_group(exact_auc, y[p], s[p], g[p], 1, w[p]).overall for p in picks]
    assert auc(drawn)[:, 0].std() == pytest.approx(np.std(rows), rel=0.15)
    errors = [np.average((s[p] - y[p]) ** 2, weights=w[p]) for p in picks]
    assert brier(drawn)[:, 0].std() == pytest.approx(np.std(errors), rel=0.15)


def test_replicates_of_stacked_labels_and_empty_groups():
    scores = Scores.from_scores([0, 1], [[0.5, 0.5], [0.1, 0.9]], [0, 0], n_groups=2)
    drawn = scores.resample(3, np.random.default_rng(0), bins=15)
    assert drawn.cells.shape == (3, 2, 3, 2, 15)
    assert drawn.per_label
    assert drawn.n[..., 1].sum() == 0
    assert scores.coarsen(15).resample(2, np.random.default_rng(0)).bins == 15


def test_the_same_seed_gives_the_same_replicates():
    scores = Scores.from_scores(*sample()[:3])
    first, second = (scores.resample(4, np.random.default_rng(9)) for _ in range(2))
    assert np.array_equal(first.cells, second.cells)

"""Laws of counting: order, batches, weights and labels cannot change what was counted."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evenhand.metrics.counts import Counts

G, C = 3, 3
CODES = st.tuples(st.integers(-1, G - 1), st.integers(0, C - 1), st.integers(0, C - 1))
ROWS = st.lists(CODES, min_size=1, max_size=40)


def columns(rows):
    return np.array(rows).T


def count(g, y, p, weights=None) -> Counts:
    return Counts.from_predictions(y, p, g, n_classes=C, n_groups=G, weights=weights)


@given(ROWS, st.randoms())
def test_the_order_of_the_rows_does_not_matter(rows, random):
    mixed = random.sample(rows, len(rows))
    assert count(*columns(mixed)) == count(*columns(rows))


@given(ROWS)
def test_every_row_is_in_exactly_one_cell(rows):
    counts = count(*columns(rows))
    assert counts.cells.sum() == len(rows)
    assert counts.unknown.sum() == sum(row[0] == -1 for row in rows)
    assert (counts.cells >= 0).all()


@given(ROWS, st.data())
def test_batches_merge_to_the_whole_exactly(rows, data):
    cuts = sorted(data.draw(st.lists(st.integers(1, len(rows)), max_size=4)))
    edges = [0, *cuts, len(rows)]
    parts = [rows[a:b] for a, b in pairwise(edges) if b > a]
    assert Counts.merge(count(*columns(part)) for part in parts) == count(*columns(rows))


@given(ROWS, st.data())
def test_dyadic_weights_merge_exactly_too(rows, data):
    w = np.array(data.draw(st.lists(st.integers(0, 64), min_size=len(rows), max_size=len(rows)))) / 8
    half = len(rows) // 2
    g, y, p = columns(rows)
    parts = [count(g[k], y[k], p[k], w[k]) for k in (slice(0, half), slice(half, None)) if len(g[k])]
    assert Counts.merge(parts) == count(g, y, p, w)


@given(ROWS, st.data())
def test_a_whole_weight_is_a_repetition(rows, data):
    w = np.array(data.draw(st.lists(st.integers(0, 4), min_size=len(rows), max_size=len(rows))))
    g, y, p = columns(rows)
    repeated = count(*(np.repeat(column, w) for column in (g, y, p)))
    weighted = count(g, y, p, w)
    assert np.array_equal(weighted.cells, repeated.cells)
    assert weighted.rows.sum() == len(rows)


@given(ROWS)
def test_cells_of_a_table_give_the_table_back(rows):
    counts = count(*columns(rows))
    group, y, p = np.indices(counts.cells.shape).reshape(3, -1)
    group = np.where(group == G, -1, group)
    assert Counts.from_cells(group, y, p, counts.cells.ravel(), n_groups=G, n_classes=C) == counts
    assert Counts.from_table(counts.table, counts.unknown) == counts


@given(ROWS, st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_stacked_runs_are_the_runs_one_by_one(rows, runs, seed):
    g, y, _ = columns(rows)
    guesses = np.random.default_rng(seed).integers(0, C, (runs, len(g)))
    together = count(g, y, guesses)
    assert together == Counts.stack([count(g, y, guess) for guess in guesses])
    assert all(together[run] == count(g, y, guesses[run]) for run in range(runs))


@given(st.integers(1, 30), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_a_multi_label_table_is_its_labels_one_by_one(n, labels, seed):
    rng = np.random.default_rng(seed)
    y, p, g = rng.integers(0, 2, (n, labels)), rng.integers(0, 2, (n, labels)), rng.integers(-1, G, n)
    counts = Counts.from_predictions(y, p, g, n_groups=G)
    for label in range(labels):
        alone = Counts.from_predictions(y[:, label], p[:, label], g, n_classes=2, n_groups=G)
        assert np.array_equal(counts.cells[label], alone.cells)
        for name in ("tp", "fp", "fn", "tn"):
            ours, theirs = getattr(counts.margins(), name)[label], getattr(alone.margins(), name)[1]
            assert np.array_equal(ours, theirs)


@given(ROWS)
def test_the_four_cells_of_a_class_add_up_to_its_group(rows):
    m = count(*columns(rows)).margins()
    assert np.array_equal(m.tp + m.fp + m.fn + m.tn, m.n)
    assert np.array_equal(m.tp + m.fn, m.actual)
    assert np.array_equal(m.fp + m.tn, m.negatives)
    assert all((cell >= 0).all() for cell in (m.tp, m.fp, m.fn, m.tn))

"""The bootstrap over cells is the bootstrap over rows, and shuffled groups are groups that do not matter."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand.metrics.catalogue import CATALOGUE
from evenhand.metrics.counts import Counts
from evenhand.metrics.rates import RATES
from evenhand.metrics.resample import resample, shuffled_groups, smoothed
from evenhand.metrics.view import View

N, REPLICATES = 400, 1500


def rows(seed: int = 0):
    rng = np.random.default_rng(seed)
    g = rng.integers(-1, 3, N)
    y = (rng.random(N) < 0.4 + 0.1 * g).astype(int)
    p = np.where(rng.random(N) < 0.75, y, 1 - y)
    return y, p, g, rng.gamma(2.0, size=N) * (1 + p)


def row_bootstrap(how: str, weighted: bool) -> Counts:
    """Draw rows with replacement and count again, the slow way."""
    y, p, g, w = rows()
    rng = np.random.default_rng(1)
    strata = [np.flatnonzero(g == group) for group in range(-1, 3)] if how == "stratified" else [np.arange(N)]
    found = []
    for _ in range(REPLICATES):
        k = np.concatenate([rng.choice(stratum, len(stratum)) for stratum in strata])
        found.append(
            Counts.from_predictions(
                y[k], p[k], g[k], n_classes=2, n_groups=3, weights=w[k] if weighted else None
            )
        )
    return Counts.stack(found)


@pytest.fixture(
    scope="module",
    params=[("stratified", False), ("whole", False), ("stratified", True), ("whole", True)],
    ids=["stratified", "whole", "stratified, weighted", "whole, weighted"],
)
def both(request) -> tuple[Counts, Counts]:
    how, weighted = request.param
    y, p, g, w = rows()
    counts = Counts.from_predictions(y, p, g, n_groups=3, weights=w if weighted else None)
    return resample(counts, REPLICATES, np.random.default_rng(2), how), row_bootstrap(how, weighted)


def test_cells_have_the_mean_and_deviation_of_the_row_bootstrap(both):
    ours, theirs = (counts.cells.reshape(REPLICATES, -1) for counts in both)
    error = theirs.std(axis=0) / np.sqrt(REPLICATES)
    assert (np.abs(ours.mean(axis=0) - theirs.mean(axis=0)) <= 5 * error + 1e-9).all()
    spread = theirs.std(axis=0) > 0
    assert np.allclose(ours.std(axis=0)[spread] / theirs.std(axis=0)[spread], 1.0, atol=0.12)


@pytest.mark.parametrize("key", ["selection", "tpr", "fpr", "ppv", "accuracy", "f1", "mcc"])
def test_rates_have_the_mean_and_deviation_of_the_row_bootstrap(both, key):
    ours, theirs = (RATES[key](counts) for counts in both)
    assert np.allclose(ours.mean(axis=0), theirs.mean(axis=0), atol=0.012)
    assert np.allclose(ours.std(axis=0) / theirs.std(axis=0), 1.0, atol=0.12)


@pytest.mark.parametrize("key", ["tpr.gap", "dp", "spsf", "eps", "acc_u", "odds.max"])
def test_metrics_have_the_mean_and_deviation_of_the_row_bootstrap(both, key):
    ours, theirs = (CATALOGUE[key](View(counts.margins())) for counts in both)
    assert abs(ours.mean() - theirs.mean()) < 0.012
    assert abs(ours.std() / theirs.std() - 1.0) < 0.12


def test_stratified_replicates_keep_the_size_of_every_group_even_the_unknown_one():
    y, p, g, _ = rows()
    counts = Counts.from_predictions(y, p, g)
    drawn = resample(counts, 50, np.random.default_rng(0))
    assert (drawn.cells.sum(axis=(-1, -2)) == counts.cells.sum(axis=(-1, -2))).all()


def test_whole_replicates_keep_the_number_of_rows_and_let_the_groups_vary():
    y, p, g, _ = rows()
    drawn = resample(Counts.from_predictions(y, p, g), 50, np.random.default_rng(0), "whole")
    assert (drawn.cells.sum(axis=(-1, -2, -3)) == N).all()
    assert drawn.table.sum(axis=(-1, -2)).std(axis=0).min() > 0


def test_another_way_to_resample_is_refused():
    with pytest.raises(ValueError, match="'stratified' or 'whole', not 'rows'"):
        resample(Counts.from_table([[[1, 1], [1, 1]]]), 2, np.random.default_rng(0), "rows")


def test_the_same_seed_draws_the_same_replicates():
    counts = Counts.from_predictions(*rows()[:3])
    first, second, third = (resample(counts, 5, np.random.default_rng(seed)) for seed in (7, 7, 8))
    assert first == second
    assert first != third


def test_a_cell_that_is_empty_stays_empty_and_so_does_a_group():
    counts = Counts.from_table([[[5, 0], [2, 3]], [[0, 0], [0, 0]]])
    drawn = resample(counts, 50, np.random.default_rng(0))
    assert (drawn.table[:, 0, 0, 1] == 0).all()
    assert (drawn.table[:, 1] == 0).all()


def test_labels_are_resampled_each_with_its_own_groups():
    y, p, g, _ = rows()
    counts = Counts.from_predictions(np.stack([y, p], 1), np.stack([p, y], 1), g)
    drawn = resample(counts, 20, np.random.default_rng(0))
    assert drawn.table.shape == (20, 2, 3, 2, 2)
    assert (drawn.cells.sum(axis=(-1, -2)) == counts.cells.sum(axis=(-1, -2))).all()


def test_equal_weights_are_resampled_like_rows():
    y, p, g, _ = rows()
    plain, weighted = (
        resample(Counts.from_predictions(y, p, g, weights=w), 30, np.random.default_rng(0))
        for w in (None, np.full(N, 2.0))
    )
    assert np.allclose(weighted.cells, 2 * plain.cells)


def test_a_table_of_floats_can_be_resampled():
    counts = Counts.from_table(np.array([[[5.0, 1.0], [2.0, 3.0]], [[4.0, 2.0], [1.0, 6.0]]]))
    assert (resample(counts, 10, np.random.default_rng(0)).table.sum(axis=(-1, -2)) == [11, 13]).all()


# -- borrowing a little from all groups -------------------------------------------------------------------
def test_a_small_group_borrows_but_keeps_its_size_and_its_share_of_each_label():
    counts = Counts.from_table([[[50, 50], [30, 70]], [[2, 0], [0, 3]]])
    cells = smoothed(counts)
    assert np.allclose(cells.sum(axis=-1), counts.cells.sum(axis=-1))
    assert 0 < cells[1, 1, 0] < 1
    assert abs(cells[0] - counts.cells[0]).max() < 1


def test_a_label_nobody_has_is_not_made_up_and_one_the_group_lacks_is_lent_less_than_a_row():
    assert (smoothed(Counts.from_table([[[50, 50], [0, 0]], [[2, 0], [0, 0]]]))[:, 1] == 0).all()
    lent = smoothed(Counts.from_table([[[50, 50], [30, 70]], [[2, 0], [0, 0]]]))[1]
    assert 0 < lent[1].sum() < 1
    assert lent.sum() == pytest.approx(2)


# -- groups dealt at random -------------------------------------------------------------------------------
def test_shuffled_groups_keep_their_sizes_and_the_unknown_rows():
    y, p, g, _ = rows()
    counts = Counts.from_predictions(y, p, g)
    dealt = shuffled_groups(counts, 200, np.random.default_rng(0))
    assert (dealt.cells.sum(axis=(-1, -2)) == counts.cells.sum(axis=(-1, -2))).all()


def test_shuffled_groups_all_have_the_rates_of_everyone():
    counts = Counts.from_table([[[400, 0], [0, 600]], [[0, 200], [200, 0]]])
    rates = RATES["tpr"](shuffled_groups(counts, 400, np.random.default_rng(0))).mean(axis=0)
    assert np.allclose(rates, 600 / 800, atol=0.01)


def test_shuffled_groups_scatter_as_a_permutation_of_the_labels_does():
    y, p, g, _ = rows()
    known = g >= 0
    y, p, g = y[known], p[known], g[known]
    rng = np.random.default_rng(3)
    permuted = Counts.stack([Counts.from_predictions(y, p, rng.permutation(g)) for _ in range(REPLICATES)])
    dealt = shuffled_groups(Counts.from_predictions(y, p, g), REPLICATES, np.random.default_rng(4))
    for key in ("selection.gap", "tpr.gap", "accuracy.gap"):
        first, second = (CATALOGUE[key](View(counts.margins())) for counts in (permuted, dealt))
        assert np.allclose(np.quantile(first, [0.5, 0.95]), np.quantile(second, [0.5, 0.95]), atol=0.02)


def test_weights_travel_with_their_rows_when_the_groups_are_dealt():
    """All weight of group 0 lies on its positive predictions; dealt at random, the groups must be alike."""
    rng = np.random.default_rng(0)
    y, p, g = rng.integers(0, 2, 2000), rng.integers(0, 2, 2000), rng.integers(0, 2, 2000)
    counts = Counts.from_predictions(y, p, g, weights=np.where((g == 0) & (p == 1), 5.0, 1.0))
    dealt = RATES["selection"](shuffled_groups(counts, 300, np.random.default_rng(1))).mean(axis=0)
    assert abs(dealt[0] - dealt[1]) < 0.02

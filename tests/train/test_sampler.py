"""Which rows come when: every row at most once, or as often as weights and strata say."""

from __future__ import annotations

import pytest
import torch
from scipy import stats

from evenhand.errors import InputError
from evenhand.methods.base import Sampling
from evenhand.train.sampler import Drawn, Shuffled, Stratified, sampler_of
from evenhand.train.streams import Streams


def epoch_of(sampler, epoch=0):
    return torch.cat([sampler.rows(epoch, step) for step in range(sampler.steps)], dim=1)


def test_every_row_at_most_once_an_epoch_in_a_new_order():
    sampler = sampler_of([Sampling()] * 3, 50, 16, Streams([0, 1, 2]))
    assert isinstance(sampler, Shuffled)
    assert (sampler.steps, sampler.batch_size) == (3, 16)
    first, second = epoch_of(sampler), epoch_of(sampler, 1)
    assert first.shape == (3, 48)
    for row in (*first, *second):
        assert len(row.unique()) == 48
        assert 0 <= row.min() <= row.max() < 50
    assert not torch.equal(first, second)
    assert not torch.equal(first[0], first[1])
    assert torch.equal(first, epoch_of(sampler))  # it can go back


def test_the_rows_left_out_change_from_epoch_to_epoch():
    sampler = Shuffled([Sampling()], 50, 16, Streams([0]))
    seen = torch.zeros(50, dtype=torch.int64)
    for epoch in range(30):
        seen += torch.bincount(epoch_of(sampler, epoch)[0], minlength=50)
    assert seen.min() >= 25  # a row is left out of an epoch with probability 2/50


def test_listed_rows_come_as_often_as_they_are_listed():
    lists = torch.tensor([[0, 0, 0, 3, 5, 5, 9, 9], [1, 2, 3, 4, 5, 6, 7, 8]])
    sampler = sampler_of([Sampling(rows=rows) for rows in lists], 10, 4, Streams([0, 1]))
    for epoch in range(3):
        found = epoch_of(sampler, epoch).sort(dim=1).values
        assert torch.equal(found, lists)


def test_runs_with_and_without_a_list_may_share_a_stack_if_their_epochs_are_equally_long():
    twice = torch.tensor([0, 0, 1, 1])
    sampler = sampler_of([Sampling(), Sampling(rows=twice)], 4, 2, Streams([0, 1]))
    found = epoch_of(sampler).sort(dim=1).values
    assert found.tolist() == [[0, 1, 2, 3], [0, 0, 1, 1]]


def test_a_batch_larger_than_the_data_is_the_data():
    for sampling in (
        Sampling(),
        Sampling(weights=torch.ones(5)),
        Sampling(strata=torch.tensor([0, 0, 1, 1, 1])),
    ):
        sampler = sampler_of([sampling], 5, 64, Streams([0]))
        assert (sampler.steps, sampler.batch_size) == (1, 5)
        assert sampler.rows(0, 0).shape == (1, 5)


def test_drawn_rows_follow_their_weights():
    weights = torch.tensor([[1.0, 0.0, 2.0, 5.0], [4.0, 4.0, 0.0, 0.0]])
    sampler = sampler_of([Sampling(weights=row) for row in weights], 4, 4, Streams([0, 1]))
    assert isinstance(sampler, Drawn)
    found = torch.cat([epoch_of(sampler, epoch) for epoch in range(2000)], dim=1)
    for run in range(2):
        counts = torch.bincount(found[run], minlength=4)
        present = weights[run] > 0
        assert counts[~present].sum() == 0
        expected = weights[run][present] / weights[run].sum() * found.shape[1]
        assert stats.chisquare(counts[present].numpy(), expected.numpy()).pvalue > 1e-4


def test_weights_that_all_runs_share_are_drawn_from_as_each_alone():
    weights, other = torch.rand(30), torch.rand(30)
    alike = sampler_of([Sampling(weights=weights)] * 3, 30, 8, Streams([4, 5, 6]))
    mixed = sampler_of([Sampling(weights=w) for w in (weights, other, weights)], 30, 8, Streams([4, 5, 6]))
    for run, seed in ((0, 4), (2, 6)):
        alone = sampler_of([Sampling(weights=weights)], 30, 8, Streams([seed]))
        assert torch.equal(epoch_of(alike, 2)[run], epoch_of(alone, 2)[0])
        assert torch.equal(epoch_of(mixed, 2)[run], epoch_of(alone, 2)[0])


def test_a_row_without_weight_is_never_drawn_not_even_at_an_end():
    class Ends:
        """Draws that lie exactly where one row's stretch ends and the next begins."""

        device = torch.device("cpu")

        def fine(self, stream, step, n):
            return torch.tensor([[0.0, 0.25, 0.5, 1 - 2.0**-32]], dtype=torch.float64)

    sampler = Drawn([Sampling(weights=torch.tensor([0.0, 1.0, 0.0, 1.0, 0.0]))], 5, 4, Ends())
    assert sampler.rows(0, 0).tolist() == [[1, 1, 3, 3]]


def test_very_many_rows_are_equally_likely():
    """On a grid of 2^-24 a row would hold 21 or 22 places; those with 22 would come 5 % more often."""
    n = 3 << 18
    rows = Drawn([Sampling(weights=torch.ones(n))], n, n, Streams([0])).rows(0, 0)[0]
    ends = torch.ceil(torch.arange(n + 1, dtype=torch.float64) / n * 2**24)
    favoured = ends.diff() == 22
    share = favoured[rows].double().mean() / favoured.double().mean()
    assert abs(share - 1) < 0.01


def test_strata_come_equally_often_in_every_batch():
    ids = torch.tensor([0] * 90 + [1] * 7 + [3] * 2 + [-1] * 11)  # stratum 2 is empty
    sampler = sampler_of([Sampling(strata=ids)] * 2, len(ids), 12, Streams([0, 1]))
    assert isinstance(sampler, Stratified)
    for epoch in range(3):
        for step in range(sampler.steps):
            for row in ids[sampler.rows(epoch, step)]:
                assert torch.bincount(row, minlength=4).tolist() == [4, 4, 0, 4]


def test_rows_of_a_stratum_are_equally_likely_and_spare_slots_go_round():
    ids = torch.tensor([0, 0, 0, 1, 1, 2])
    sampler = Stratified([Sampling(strata=ids)], 6, 4, Streams([0]))  # 4 slots for 3 strata
    found = torch.cat([epoch_of(sampler, epoch)[0] for epoch in range(3000)])
    counts = torch.bincount(ids[found], minlength=3)
    assert stats.chisquare(counts.numpy()).pvalue > 1e-4
    within = torch.bincount(found[ids[found] == 0], minlength=3)
    assert stats.chisquare(within.numpy()).pvalue > 1e-4


def test_some_strata_are_drawn_for_each_batch():
    ids = torch.arange(40) % 8
    sampler = Stratified([Sampling(strata=ids, strata_per_batch=3)], 40, 6, Streams([0]))
    seen = torch.zeros(8, dtype=torch.int64)
    for epoch in range(100):
        for step in range(sampler.steps):
            counts = torch.bincount(ids[sampler.rows(epoch, step)[0]], minlength=8)
            assert counts.sort().values.tolist() == [0, 0, 0, 0, 0, 2, 2, 2]
            seen += counts > 0
    assert stats.chisquare(seen.numpy()).pvalue > 1e-4


@pytest.mark.parametrize(
    "sampling",
    [Sampling(), Sampling(rows=torch.arange(0, 40, 2)), Sampling(weights=torch.arange(40.0)),
     Sampling(strata=torch.arange(40) % 3)],
)  # fmt: skip
def test_rows_depend_on_seed_epoch_and_step_alone(sampling):
    seeds = [3, 2**50, -4]
    together = sampler_of([sampling] * 3, 40, 8, Streams(seeds))
    together.rows(7, 1)
    for run, seed in enumerate(seeds):
        alone = sampler_of([sampling], 40, 8, Streams([seed]))
        assert torch.equal(together.rows(2, 1)[run], alone.rows(2, 1)[0])


def test_what_cannot_share_a_stack_is_refused():
    with pytest.raises(InputError, match=r"epochs of one length, not \[3, 4\]; train them one at a time"):
        sampler_of([Sampling(), Sampling(rows=torch.arange(3))], 4, 2, Streams([0, 1]))
    with pytest.raises(InputError, match="in one manner"):
        sampler_of([Sampling(), Sampling(weights=torch.ones(4))], 4, 2, Streams([0, 1]))


@pytest.mark.parametrize("per_batch", [0, 2])
def test_runs_with_different_strata_draw_as_if_they_were_alone(per_batch):
    lists = [torch.arange(40) % 3, torch.arange(40) % 7, torch.where(torch.arange(40) < 30, 0, -1)]
    samplings = [Sampling(strata=ids, strata_per_batch=per_batch) for ids in lists]
    together = sampler_of(samplings, 40, 8, Streams([4, 5, 6]))
    for run, (sampling, ids) in enumerate(zip(samplings, lists, strict=True)):
        alone = sampler_of([sampling], 40, 8, Streams([4 + run]))
        for epoch, step in ((0, 0), (2, 1), (9, 4)):
            rows = together.rows(epoch, step)[run]
            assert torch.equal(rows, alone.rows(epoch, step)[0])
            assert (ids[rows] >= 0).all()
            assert len(ids[rows].unique()) == (min(per_batch, ids.max() + 1) if per_batch else ids.max() + 1)


@pytest.mark.parametrize("weights", [[0.0, 0.0], [1.0, -1.0], [1.0, float("nan")], [1.0, float("inf")]])
def test_weights_that_are_no_weights_are_refused(weights):
    with pytest.raises(InputError, match="weights of rows must be numbers of at least 0"):
        sampler_of([Sampling(weights=torch.tensor(weights))], 2, 2, Streams([0]))


def test_no_rows_at_all_is_refused():
    with pytest.raises(InputError, match="no training rows at all"):
        sampler_of([Sampling(rows=torch.empty(0, dtype=torch.int64))], 4, 2, Streams([0]))
    with pytest.raises(InputError, match="strata have no rows"):
        sampler_of([Sampling(strata=torch.tensor([-1, -1]))], 2, 2, Streams([0]))

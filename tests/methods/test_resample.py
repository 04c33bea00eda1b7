"""Resampling: S-RS's counts, ratios of the smallest group, several labels, balanced batches."""

from __future__ import annotations

import pytest
import torch

from evenhand.methods.erm import ERM
from evenhand.methods.problem import Problem
from evenhand.methods.resample import Resample
from evenhand.records import Batch


def _problem(counts: list[list[int]]) -> Problem:
    """A problem with this many rows of each `[label][group]`."""
    table = torch.tensor(counts)
    cells = torch.arange(table.numel()).repeat_interleave(table.flatten())
    return Problem.from_labels(cells // table.shape[1], cells % table.shape[1], n_classes=len(counts))


def _counts(problem: Problem, rows: torch.Tensor) -> list[list[int]]:
    """Rows of each `[label][group]` among these."""
    chosen = Problem.from_labels(
        problem.y[rows], problem.g[rows], n_classes=problem.sizes.n_classes, n_groups=problem.sizes.n_groups
    )
    return chosen.cell_counts().T.tolist()


def test_s_rs_repeats_each_minority_row_18_more_times_c1() -> None:
    """CIFAR-10S: 4750 and 250 rows a class become 4750 and 4750, 95,000 in all."""
    problem = _problem([[250, 4750], [4750, 250]] * 5)
    for fill in (True, False):
        rows = Resample("over", fill=fill).sampling(problem, seed=0).rows
        assert len(rows) == 95_000
        assert _counts(problem, rows) == [[4750, 4750]] * 10
        times = torch.bincount(rows, minlength=len(problem))
        minority = problem.g == problem.y % 2
        assert times[minority].unique().tolist() == [19]
        assert times[~minority].unique().tolist() == [1]


def test_over_fills_up_or_keeps_to_whole_copies() -> None:
    problem = _problem([[10, 7, 3], [0, 2, 5]])
    assert _counts(problem, Resample("over").sampling(problem, 0).rows) == [[10, 10, 10], [0, 5, 5]]
    whole = Resample("over", fill=False).sampling(problem, 0).rows
    assert _counts(problem, whole) == [[10, 7, 9], [0, 4, 5]]
    times = torch.bincount(Resample("over").sampling(problem, 0).rows)
    assert sorted(times[10:17].tolist()) == [1, 1, 1, 1, 2, 2, 2]  # the rest is spread, no row twice over


def test_over_by_all_cells_or_by_groups() -> None:
    problem = _problem([[4, 2], [1, 3]])
    assert _counts(problem, Resample("over", by="label-group").sampling(problem, 0).rows) == [[4, 4], [4, 4]]
    doubled = _problem([[4, 2], [2, 1]])
    assert _counts(doubled, Resample("over", by="group").sampling(doubled, 0).rows) == [[4, 4], [2, 2]]


@pytest.mark.parametrize(
    ("ratio", "expected"), [(1, [[3, 3], [4, 4]]), (2, [[6, 3], [4, 8]]), (3, [[9, 3], [4, 9]])]
)
def test_under_keeps_ratio_times_the_smaller_group_of_each_label_c2(ratio: int, expected: list) -> None:
    problem = _problem([[20, 3], [4, 9]])
    rows = Resample("under", ratio=ratio).sampling(problem, seed=1).rows
    assert _counts(problem, rows) == expected
    assert len(rows.unique()) == len(rows)


def test_under_with_more_groups_and_one_that_lacks_a_label() -> None:
    problem = _problem([[9, 5, 2], [6, 0, 3]])
    assert _counts(problem, Resample("under", ratio=2).sampling(problem, 0).rows) == [[4, 4, 2], [6, 0, 3]]
    emptied = Resample("under", ratio=2, absent_counts=True).sampling(problem, 0).rows
    assert _counts(problem, emptied) == [[4, 4, 2], [0, 0, 0]]
    assert _counts(problem, Resample("under", by="label-group").sampling(problem, 0).rows) == [
        [2, 2, 2],
        [2, 0, 2],
    ]
    by_group = Resample("under", by="group").sampling(problem, 0).rows
    assert torch.bincount(problem.g[by_group]).tolist() == [5, 5, 5]


def test_the_random_part_comes_from_the_seed() -> None:
    problem = _problem([[50, 5], [5, 50]])
    for kind in ("over", "under"):
        method = Resample(kind)
        same = [method.sampling(problem, seed).rows for seed in (3, 3)]
        assert torch.equal(*same)
    under = [Resample("under").sampling(problem, seed).rows for seed in (3, 4)]
    assert not torch.equal(*under)


def _several_labels(n_groups: int, n_rows: int = 600) -> Problem:
    generator = torch.Generator().manual_seed(5)
    g = torch.randint(0, n_groups, (n_rows,), generator=generator)
    rates = torch.rand(n_groups, 6, generator=generator) * 0.5 + 0.05
    y = (torch.rand(n_rows, 6, generator=generator) < rates[g]).long()
    return Problem.from_labels(y, g)


@pytest.mark.parametrize("n_groups", [2, 3])
@pytest.mark.parametrize("ratio", [1, 2, 3])
def test_under_with_several_labels_holds_for_every_label_c2(n_groups: int, ratio: int) -> None:
    problem = _several_labels(n_groups)
    rows = Resample("under", ratio=ratio).sampling(problem, seed=0).rows
    kept = Problem.from_labels(problem.y[rows], problem.g[rows], n_groups=n_groups).cell_counts()
    assert (kept.amax(0) <= ratio * kept.amin(0)).all()
    assert (kept > 0).all()  # it is not bound by leaving nothing
    assert torch.equal(rows, Resample("under", ratio=ratio).sampling(problem, seed=0).rows)


def test_under_with_several_labels_removes_nothing_that_need_not_go() -> None:
    problem = Problem.from_labels(y=[[1, 0], [1, 0], [1, 1], [1, 0], [0, 1]], g=[0, 0, 0, 1, 1])
    assert len(Resample("under", ratio=3).sampling(problem, 0).rows) == 5
    for seed in range(8):  # rows 0 and 1 relieve label 0; row 2 would too, but tighten label 1
        assert Resample("under", ratio=1).sampling(problem, seed).rows.tolist() == [2, 3, 4]


def test_balanced_batches_are_by_cell_or_by_group() -> None:
    problem = Problem.from_labels(y=[0, 1, 1, 1, 0], g=[0, 0, 2, -1, 0])
    assert Resample("balanced").sampling(problem, 0).strata.tolist() == [0, 1, 2, -1, 0]
    assert Resample("balanced", by="group").sampling(problem, 0).strata.tolist() == [0, 0, 1, -1, 0]


def test_rows_of_unknown_group_are_left_out_or_come_once() -> None:
    problem = Problem.from_labels(y=[0, 0, 0, 0], g=[0, 1, 1, -1])
    assert Resample("over").sampling(problem, 0).rows.tolist() == [0, 0, 1, 2]
    assert Resample("over", unknown="keep").sampling(problem, 0).rows.tolist() == [0, 0, 1, 2, 3]
    assert Resample("under", unknown="keep").sampling(problem, 0).rows.tolist()[-1] == 3
    labels = Problem.from_labels(y=[[1], [1], [1], [1]], g=[0, 1, 1, -1])
    assert len(Resample("under", unknown="keep").sampling(labels, 0).rows) == 3
    assert len(Resample("over").sampling(labels, 0).rows) == 4  # several labels: whole groups


@pytest.mark.parametrize("shape", [{"n_classes": 3}, {"labels": 3}])
def test_the_loss_is_that_of_erm_and_stacks(tools, shape: dict[str, int]) -> None:
    problem = tools.problem(**shape)
    batch = tools.batch(problem, torch.arange(9), 0)
    batch = Batch(batch.x[:, :3], batch.y, batch.g)
    nets = tools.logits(problem.sizes)
    ours, erm = Resample().loss(nets, batch, {}), ERM().loss(nets, batch, {})
    assert torch.equal(ours.losses["model"], erm.losses["model"])
    tools.assert_stacks(Resample(), problem, {})

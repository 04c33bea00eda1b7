"""Rules that look at all rows at once: in pieces, in stacks, by task, by run, with groups or without."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
import torch
from torch import Tensor

import evenhand
from evenhand.errors import InputError
from evenhand.methods.base import Method
from evenhand.methods.discriminative import DomainDiscriminative
from evenhand.methods.discriminative_rba import DiscriminativeRBA
from evenhand.methods.erm import ERM
from evenhand.methods.independent import DomainIndependent
from evenhand.records import Needs, Sizes
from evenhand.train import evaluate, trained
from evenhand.train.building import joined_state
from evenhand.train.evaluate import Predictor
from evenhand.train.runs import Run, stacked_numbers


@dataclass(frozen=True)
class Ranked(ERM):
    """The best `share` of all rows, or of each group's, get class 1: nobody can say so of a row alone."""

    key: ClassVar[str] = "ranked"
    needs: ClassVar[Needs] = Needs(groups=True, groups_at_test=True)
    share: float = 0.5

    def settle(self, scores: Tensor, g: Tensor, sizes: Sizes) -> Tensor:
        found = torch.zeros_like(scores)
        for group in g.unique():
            mine = (g == group).nonzero()[:, 0]
            best = scores[mine, 1].argsort(descending=True)[: round(self.share * len(mine))]
            found[mine[best], 1] = 1.0
        return torch.stack([1 - found[:, 1], found[:, 1]], dim=1)


@dataclass(frozen=True)
class RankedBlindly(Ranked):
    """The same without groups: they are not shown."""

    key: ClassVar[str] = "ranked-blindly"
    needs: ClassVar[Needs] = Needs()


@pytest.fixture
def small_pieces(monkeypatch):
    """64 rows at a time in training, 16 afterwards."""
    monkeypatch.setattr(evaluate, "MOST_NUMBERS", 1)
    monkeypatch.setattr(trained, "PIECE", 16)


@pytest.mark.parametrize("kind", [Ranked, RankedBlindly])
def test_all_rows_of_a_part_are_settled_together_with_each_runs_numbers(kit, kind, small_pieces):
    task, methods = kit.task(n_train=200), [kind(share=0.25), kind(share=0.75)]
    trainer = kit.trainer(task, [0, 1], methods, epochs=1).fit()
    assert trainer.predictor.rows_at_a_time(1) == 64
    scores = trainer.scores(trainer.train)
    alone = Predictor(ERM(), {}, trainer.stack, trainer.sizes).scores(trainer.train, {})
    g = trainer.train.g if kind is Ranked else torch.full((200,), -1)
    for place, method in enumerate(methods):
        assert torch.equal(scores[place], method.settle(alone[place], g.view(-1), trainer.sizes))
    if kind is RankedBlindly:
        assert scores[..., 1].sum(1).tolist() == [50, 150]


def test_each_run_is_settled_with_the_groups_of_its_own_task(kit):
    tasks = [kit.task(seed=1), kit.task(seed=2)]
    both = kit.trainer(tasks, [0, 0], Ranked(), tasks=[0, 1], epochs=1).fit()
    for place, task in enumerate(tasks):
        one = kit.trainer(task, [0], Ranked(), epochs=1, stacked=True).fit()
        assert torch.equal(both.scores(both.train)[place], one.scores(one.train)[0])


def test_rows_in_memory_are_settled_together_of_all_runs_or_of_one(kit, small_pieces):
    task = kit.task()
    rows = task.rows("test")
    g = task.groups([task.attributes[0].name]).ids[rows.numpy()]
    method = Ranked(share=0.25)
    fitted = evenhand.fit("mlp", method, task, seeds=[0, 1], epochs=1, batch_size=32)
    found = fitted.scores_of_runs(task.x[rows], g)
    for k in (0, 1):
        assert found[:, g == k, 1].sum(1).tolist() == [round(0.25 * (g == k).sum())] * 2
    for run in (0, 1):
        assert np.array_equal(fitted.scores_of_runs(task.x[rows], g, run=run)[0], found[run])


def reading(trainer, methods: list[Method]) -> Tensor:
    """The scores of a trained stack's training rows, read by these methods, one for each run."""
    runs = [replace(run, method=method) for run, method in zip(trainer.runs, methods, strict=True)]
    names = [name for name in ("target", "margin", "rate") if hasattr(methods[0], name)]
    hyper = stacked_numbers(runs, names, trainer.device, trainer.dtype) if trainer.stack.stacked else {}
    states = [method.init(trainer.train.problems[0]) for method in methods]
    predictor = Predictor(methods[0], hyper, trainer.stack, trainer.sizes)
    return predictor.scores(trainer.train, joined_state(states, trainer.stack))


READINGS = (
    DomainDiscriminative(),
    DomainDiscriminative("max-prob-shift"),
    DomainDiscriminative("sum-prob-shift"),
    DiscriminativeRBA(rate=0.1),
    DomainIndependent(),
    DomainIndependent("sum-prob"),
    DomainIndependent("conditional"),
)


@pytest.mark.parametrize("method", READINGS)
def test_one_network_read_in_several_ways_is_what_each_way_trains(kit, method):
    """To the bit, alone and in a stack: parameters and scores."""
    task = kit.task(classes=3)
    for seeds in ([0], [3, 4]):
        shared = kit.trainer(task, seeds, method.trains_as(), epochs=2).fit()
        own = kit.trainer(task, seeds, method, epochs=2).fit()
        for name, value in own.stack.parameters["model"].items():
            assert torch.equal(value, shared.stack.parameters["model"][name])
        assert torch.equal(reading(shared, [method] * len(seeds)), own.scores(own.train))


def test_readings_of_one_stack_may_differ_in_numbers(kit):
    task, methods = kit.task(classes=3), [DiscriminativeRBA(rate=0.02), DiscriminativeRBA(margin=0.4)]
    trainer = kit.trainer(task, [0, 1], DomainDiscriminative(), epochs=2).fit()
    found = reading(trainer, methods)
    for place, method in enumerate(methods):
        single = kit.trainer(task, [place], method, epochs=2, stacked=True).fit()
        assert torch.equal(found[place], single.scores(single.train)[0])
    assert not torch.equal(found[0], reading(trainer, methods[::-1])[0])


def test_a_rule_over_all_rows_is_found_again_in_a_file(kit, tmp_path):
    task = kit.task(classes=3)
    rows = task.rows("test")
    g = task.groups([task.attributes[0].name]).ids[rows.numpy()]
    fitted = evenhand.fit("mlp", DiscriminativeRBA(rate=0.1), task, seeds=[0, 1], epochs=2, batch_size=32)
    fitted.save(tmp_path / "fit")
    again = evenhand.Fitted.load(tmp_path / "fit")
    assert np.array_equal(again.scores_of_runs(task.x[rows], g), fitted.scores_of_runs(task.x[rows], g))
    with pytest.raises(InputError, match="give the group ids"):
        fitted.scores_of_runs(task.x[rows])


def test_nothing_is_settled_where_a_method_does_not(kit):
    trainer = kit.trainer(kit.task(), [0], ERM(), epochs=1)
    found = torch.rand(1, 5, 2)
    assert trainer.predictor.settled(found, torch.zeros(5, dtype=torch.int64)) is found
    assert Run(ERM()).method.trains_as() == ERM()

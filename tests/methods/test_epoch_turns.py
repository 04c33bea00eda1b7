"""S0's adversaries by whole epochs: whose networks move in which epoch, through the trainer."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch

import evenhand
from evenhand.methods import Problem, method_of
from evenhand.nets import NetSpec
from evenhand.nets.head import Head
from evenhand.train.recipe import Recipe
from evenhand.train.runs import Run
from evenhand.train.trainer import Trainer

S_UC = method_of("a-cens", alpha=1.0, ratio=2, every="epoch")  # S0 calls the 2 "training_ratio 3"
S_GR = method_of("gradproj", alpha=1.0, ratio=3, every="epoch")


@pytest.fixture(scope="module")
def task():
    return evenhand.load("synthetic", n_train=96, n_validation=0, n_test=20, d=6, seed=0)


def moved(task, method, epochs: int, stacked: bool) -> list[set[str]]:
    """The networks whose parameters changed in each epoch."""
    recipe = Recipe(epochs=epochs, batch_size=32, optimizer="adam", rate=1e-4, weight_decay=3e-4)
    runs = [Run(method, seed) for seed in ((0, 1) if stacked else (0,))]
    trainer = Trainer(runs, [task], NetSpec("mlp", widths=(8,)), recipe, protect=["a0"], stacked=stacked)
    seen: list[dict[str, torch.Tensor]] = [snapshot(trainer)]

    def look(progress) -> None:
        if trainer.position.step == 0:  # an epoch has ended
            seen.append(snapshot(trainer))

    trainer.fit(look)
    return [
        {name for name in after if not torch.equal(before[name], after[name])}
        for before, after in pairwise(seen)
    ]


def snapshot(trainer) -> dict[str, torch.Tensor]:
    return {
        name: torch.cat([value.detach().flatten() for value in values.values()])
        for name, values in trainer.stack.parameters.items()
    }


@pytest.mark.parametrize("stacked", [False, True])
def test_uniform_confusion_by_epochs(task, stacked) -> None:
    """Spec C1, S-UC: the model when epoch mod 3 is 0, without the domain head; that one in the others."""
    expected = [{"model"} if epoch % 3 == 0 else {"adversary"} for epoch in range(7)]
    assert moved(task, S_UC, 7, stacked) == expected


@pytest.mark.parametrize("stacked", [False, True])
def test_gradient_projection_by_epochs(task, stacked) -> None:
    """Spec C1, S-GR: the adversary in every epoch, the model when epoch mod 3 is 0."""
    expected = [{"model", "adversary"} if epoch % 3 == 0 else {"adversary"} for epoch in range(7)]
    assert moved(task, S_GR, 7, stacked) == expected


def test_of_500_epochs_the_model_has_167(task) -> None:
    """S0's counts: 167 of the model and 333 of the adversary; with projection the adversary has all 500."""
    for method, adversary in ((S_UC, 333), (S_GR, 500)):
        phase = method.phases()[0]
        counts = [
            sum(phase.turns_of(player, 1, epoch) for epoch in range(500)) for player in method.players()
        ]
        assert dict(zip(method.players(), counts, strict=True)) == {"model": 167, "adversary": adversary}


def test_both_adversaries_are_one_linear_layer(task) -> None:
    """On the features, and on the class logits."""
    problem = Problem.of(task, ["a0"])
    for method, inputs in ((S_UC, 8), (S_GR, 2)):
        adversary = method.extra(problem, 8)["adversary"]
        shapes = [tuple(value.shape) for value in adversary.parameters()]
        assert sorted(shapes) == [(2,), (2, inputs)]
        assert isinstance(adversary.heads[0], Head)

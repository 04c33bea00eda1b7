"""The methods with an adversary, trained: every variant stacked as alone, and its own target moved."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
import torch
from torch import Tensor

import evenhand
from evenhand.data.task import Task
from evenhand.methods.advdebias import AdvDebias
from evenhand.methods.base import Method, float_fields
from evenhand.methods.censoring import AdversarialCensoring
from evenhand.methods.erm import ERM
from evenhand.methods.projection import GradientProjection
from evenhand.methods.reversal_adversary import GradientReversal
from evenhand.nets import NetSpec
from evenhand.train.recipe import Recipe
from evenhand.train.runs import Run
from evenhand.train.trainer import Trainer

VARIANTS = [
    AdversarialCensoring(every="step", decompose=True),
    AdversarialCensoring(every="epoch", ratio=1, depth=1, width=8),
    GradientReversal(width=8, depth=1, decompose=True),
    GradientReversal(width=8, depth=1, warm_up=1),
    GradientProjection(every="step", ratio=2),
    GradientProjection(every="epoch", ratio=2),
    AdvDebias(head="parity"),
    AdvDebias(growing=True),
    AdvDebias(form="reversal", width=8),
    AdvDebias(form="reversal", head="parity", width=8),
]


@cache
def small_task() -> Task:
    return evenhand.load(
        "synthetic", n_train=200, n_validation=40, n_test=40, attributes=2, scarcity=0.2, seed=1
    )


@pytest.mark.parametrize("method", VARIANTS, ids=repr)
def test_a_variant_in_a_stack_equals_its_runs_alone(method: Method) -> None:
    recipe = Recipe(epochs=2, batch_size=32, precision="float64", rate=0.01, clip=2.0)
    net = NetSpec("mlp", widths=(8,), dropout=0.2)
    (number,) = float_fields(method)
    runs = [Run(replace(method, **{number: value}), seed) for seed, value in ((3, 0.2), (4, 1.0), (9, 2.0))]

    def fitted(some: list[Run], stacked: bool) -> Trainer:
        return Trainer(some, [small_task()], net, recipe, protect=["a0", "a1"], stacked=stacked).fit()

    stack = fitted(runs, stacked=True)
    for place, run in enumerate(runs):
        single = fitted([run], stacked=False)
        for network, values in single.stack.parameters.items():
            for name, value in values.items():
                assert (stack.stack.parameters[network][name][place] - value).abs().max() <= 1e-10, name


@cache
def skewed() -> Task:
    """The label goes with the group in training, less so than in the contract tests."""
    return evenhand.load("synthetic", n_train=1500, n_validation=500, n_test=1000, spurious=1.0, seed=3)


@cache
def trained(method: Method) -> Trainer:
    recipe = Recipe(epochs=8, batch_size=64, rate=0.01)
    runs = [Run(method, seed) for seed in range(4)]
    return Trainer(runs, [skewed()], NetSpec("mlp", widths=(32, 16)), recipe, protect=["a0"]).fit()


def features(made: Trainer, part: str) -> tuple[Tensor, Tensor, Tensor]:
    """Scores of class 1 and features of every run, and the groups of the rows."""
    task = made.tasks[0]
    rows = task.rows(part)
    x, g = task.x[rows], torch.as_tensor(task.attributes[0].codes)[rows]
    model, values = made.stack.templates["model"], made.stack.parameters["model"]
    call = lambda own: torch.func.functional_call(model, own, (x,))  # noqa: E731
    with torch.no_grad():
        found = [call({name: value[run] for name, value in values.items()}) for run in range(4)]
    scores = torch.stack([logits.softmax(-1)[:, 1] for logits, _ in found])
    return scores, torch.stack([h for _, h in found]), g


def spotted(made: Trainer) -> Tensor:
    """How often a linear probe (least squares on training rows) tells the group of a new row, by run."""
    (_, known, g), (_, new, truth) = features(made, "train"), features(made, "validation")
    lift = lambda h: torch.cat([h, torch.ones_like(h[..., :1])], -1).double()  # noqa: E731
    target = (2 * g - 1).double().expand(4, -1)[..., None]
    square = lift(known).mT @ lift(known) + 1e-4 * torch.eye(lift(known).shape[-1])
    weights = torch.linalg.solve(square, lift(known).mT @ target)
    return (((lift(new) @ weights)[..., 0] > 0) == (truth == 1)).double().mean(1)


def parity_gap(made: Trainer) -> Tensor:
    """How far the groups are apart in the share of positive predictions on validation rows, for each run."""
    scores, _, g = features(made, "validation")
    positive = (scores >= 0.5).double()
    return (positive[:, g == 0].mean(1) - positive[:, g == 1].mean(1)).abs()


def accuracy(made: Trainer) -> Tensor:
    """Of each run on test rows, where the label does not go with the group."""
    task, (scores, _, _) = made.tasks[0], features(made, "test")
    return ((scores >= 0.5) == (task.y[task.rows("test")] == 1)).double().mean(1)


HIDERS = [AdversarialCensoring(), GradientReversal(width=32, depth=1)]
EVENERS = [
    GradientReversal(width=32, depth=1),
    GradientProjection(),
    AdvDebias(),
    AdvDebias(head="parity"),
    AdvDebias(form="reversal", head="parity", alpha=1.0),
]


@pytest.mark.parametrize("method", HIDERS, ids=repr)
def test_features_tell_less_of_the_group(method: Method) -> None:
    """To a fresh linear probe, and not to the adversary of the training, which may merely be outrun."""
    assert (spotted(trained(method)) < spotted(trained(ERM()))).all()
    assert accuracy(trained(method)).mean() > accuracy(trained(ERM())).mean() - 0.01  # hidden, not given up


@pytest.mark.parametrize("method", EVENERS, ids=repr)
def test_outputs_tell_less_of_the_group(method: Method) -> None:
    assert (parity_gap(trained(method)) < parity_gap(trained(ERM()))).all()
    assert accuracy(trained(method)).mean() > accuracy(trained(ERM())).mean()  # the group misled on test rows

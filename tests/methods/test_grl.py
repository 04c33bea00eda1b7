"""Gradient reversal: who sees which gradient, split points, maps, heads for attributes and the warm-up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

import evenhand
from evenhand.errors import InputError
from evenhand.methods.group_adversary import GroupAdversary
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.methods.reversal_adversary import GradientReversal
from evenhand.methods.terms import row_losses
from evenhand.nets import NetSpec
from evenhand.records import Batch, Phase
from evenhand.train.recipe import Recipe
from evenhand.train.runs import Run
from evenhand.train.trainer import Trainer


def parts(n_groups: int = 3) -> tuple[nn.Linear, nn.Linear, nn.Linear, Problem, Batch]:
    """An encoder, a classifier, a linear adversary, and rows of which one has no known group."""
    torch.manual_seed(0)
    y, g = torch.tensor([0, 1, 1, 0, 1]), torch.tensor([0, 1, 2, -1, 1])
    problem = Problem.from_labels(y, g, n_groups=n_groups)
    x = torch.randn(5, 4, dtype=torch.float64)
    layers = [nn.Linear(4, 3).double(), nn.Linear(3, 2).double(), nn.Linear(3, n_groups).double()]
    return *layers, problem, Batch(x, y, g)  # type: ignore[return-value]


def model_of(encoder: nn.Linear, classifier: nn.Linear) -> Any:
    def model(x: Tensor) -> tuple[Tensor, Tensor]:
        h = torch.tanh(encoder(x))
        return classifier(h), h

    return model


@pytest.mark.parametrize("lam", [0.0, 1.0, 2.5])
def test_the_model_gets_minus_lam_and_the_adversary_one(lam) -> None:
    encoder, classifier, adversary, problem, batch = parts()
    model = model_of(encoder, classifier)
    nets = Nets({"model": model, "adversary": adversary}, problem.sizes)
    loss = GradientReversal(lam=lam).loss(nets, batch, {}).losses["model"]
    logits, h = model(batch.x)
    known = batch.g >= 0
    task, spotted = (
        row_losses(logits, batch.y).mean(),
        functional.cross_entropy(adversary(h)[known], batch.g[known]),
    )
    assert torch.allclose(loss, task + spotted)
    for module, factor in ((encoder, -lam), (classifier, 0.0), (adversary, 1.0)):
        for leaf in module.parameters():
            (found,) = torch.autograd.grad(loss, leaf, retain_graph=True)
            own, other = (
                torch.autograd.grad(value, leaf, retain_graph=True, allow_unused=True)[0]
                for value in (task, spotted)
            )
            expected = torch.zeros_like(leaf)
            if own is not None:
                expected = expected + own
            if other is not None:
                expected = expected + factor * other
            assert torch.allclose(found, expected, atol=1e-12)


def test_a_batch_of_unknown_groups_is_erm() -> None:
    encoder, classifier, adversary, problem, batch = parts()
    nets = Nets({"model": model_of(encoder, classifier), "adversary": adversary}, problem.sizes)
    unknown = batch._replace(g=torch.full_like(batch.g, -1))
    loss = GradientReversal().loss(nets, unknown, {}).losses["model"]
    assert torch.equal(loss, row_losses(nets["model"](batch.x)[0], batch.y).mean())


def test_the_adversary_of_s0_has_three_hidden_layers_of_300() -> None:
    problem = Problem.from_labels([0, 1], g=[0, 1])
    shapes = [tuple(p.shape) for p in GradientReversal().extra(problem, 1024)["adversary"].parameters()]
    assert shapes[::2] == [(300, 1024), (300, 300), (300, 300), (2, 300)]
    linear = GradientReversal(depth=0, decompose=True).extra(problem, 8)["adversary"]
    assert [tuple(p.shape) for p in linear.parameters()] == [(2, 8), (2,)]


def test_maps_are_flattened_without_pooling() -> None:
    x = torch.randn(2, 3, 4, 4)
    adversary = GroupAdversary(48, (2,))
    assert torch.equal(adversary(x), adversary(x.flatten(1)))


def task_of(n_train: int = 200) -> Any:
    return evenhand.load("synthetic", n_train=n_train, n_validation=50, n_test=50, attributes=2, seed=1)


@pytest.mark.parametrize("split", ["layer0", "layer1", "layer2"])
def test_any_split_point_of_the_network(split) -> None:
    task, net = task_of(), NetSpec("mlp", widths=(12, 8), split=split)
    made = Trainer([Run(GradientReversal(width=9, depth=1))], [task], net, Recipe(epochs=1), protect=["a0"])
    found = made.fit().stack.parameters["adversary"]["heads.0.body.layers.0.weight"]
    assert found.shape[-1] == {"layer0": task.x.shape[1], "layer1": 12, "layer2": 8}[split]


def test_a_convolutional_split_trains() -> None:
    net = NetSpec("convnet", widths=(4, 8), split="conv1").build((3, 8, 8), 2)
    problem = Problem.from_labels([0, 1, 1, 0], g=[0, 1, 1, 0])
    method = GradientReversal(width=6, depth=1)
    nets = Nets({"model": net, **method.extra(problem, net.n_features)}, problem.sizes)
    batch = Batch(torch.randn(4, 3, 8, 8), problem.y, problem.g)
    loss = method.loss(nets, batch, {}).losses["model"]
    gradients = torch.autograd.grad(loss, list(net.parameters()))
    assert all(torch.isfinite(gradient).all() for gradient in gradients)


@dataclass(frozen=True)
class OnlyWarmUp(GradientReversal):
    """The first of the two phases, to see where it leaves off."""

    def phases(self) -> tuple[Phase, ...]:
        return super().phases()[:1]


def trained(method: GradientReversal, seeds: list[int]) -> Trainer:
    runs, net = [Run(method, seed) for seed in seeds], NetSpec("mlp", widths=(8,))
    recipe = Recipe(epochs=1, batch_size=32)
    return Trainer(runs, [task_of()], net, recipe, protect=["a0"], stacked=len(seeds) > 1)


@pytest.mark.parametrize("seeds", [[0], [0, 1]], ids=["single", "stacked"])
def test_warm_up_moves_the_adversary_alone_and_then_both(seeds) -> None:
    fields: dict[str, Any] = {"width": 8, "depth": 1, "warm_up": 2}
    start = trained(GradientReversal(**fields), seeds).stack.parameters
    warm = trained(OnlyWarmUp(**fields), seeds).fit().stack.parameters
    end = trained(GradientReversal(**fields), seeds).fit()
    assert all(torch.equal(value, warm["model"][name]) for name, value in start["model"].items())
    assert all(not torch.equal(value, warm["adversary"][name]) for name, value in start["adversary"].items())
    for network, values in end.stack.parameters.items():
        assert all(not torch.equal(value, warm[network][name]) for name, value in values.items())
    assert [entry["phase"] for entry in end.history] == ["warm up", "warm up", "train"]


def test_what_cannot_be_served_is_told() -> None:
    with pytest.raises(InputError, match="'grl' has an adversary on the network's features"):
        GradientReversal().extra(Problem.from_labels([0, 1], g=[0, 1]), 0)

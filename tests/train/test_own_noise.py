"""Layers of torch that draw by themselves: what they draw follows from the seed, wherever they are."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import torch
from torch import nn

from evenhand.methods.erm import ERM
from evenhand.nets import NetSpec
from evenhand.nets.wrap import as_net
from evenhand.records import Out
from evenhand.train.own_noise import draws_by_itself, own_noise
from evenhand.train.recipe import Recipe
from evenhand.train.runs import Run
from evenhand.train.stack import Stack
from evenhand.train.trainer import Trainer


def stack_of(**networks: nn.Module) -> Stack:
    return Stack([lambda: networks], [0], torch.device("cpu"))


@pytest.mark.parametrize(
    ("layer", "draws"),
    [
        (nn.Dropout(0.5), True),
        (nn.AlphaDropout(0.5), True),
        (nn.RReLU(), True),
        (nn.MultiheadAttention(4, 2, dropout=0.1), True),
        (nn.MultiheadAttention(4, 2), False),
        (nn.LSTM(4, 4, num_layers=2, dropout=0.1), True),
        (nn.LSTM(4, 4), False),
        (nn.BatchNorm1d(4), False),
        (as_net(nn.Linear(2, 2)), True),  # who knows
        (NetSpec("mlp", dropout=0.2).build((4,), 2), False),  # it is fed
    ],
    ids=lambda item: type(item).__name__ if isinstance(item, nn.Module) else str(item),
)
def test_who_draws(layer, draws):
    assert draws_by_itself(stack_of(model=nn.Linear(2, 2), beside=nn.Sequential(layer))) is draws


@dataclass(frozen=True)
class Beside(ERM):
    """ERM with a network of its own beside the model, which has dropout."""

    def extra(self, problem, n_features):
        return {"beside": nn.Sequential(nn.Dropout(0.5), nn.Linear(n_features, 1))}

    def players(self):
        return {"model": ("model", "beside")}

    def loss(self, nets, batch, state):
        _, features = nets["model"](batch.x)
        own = super().loss(nets, batch, state).losses["model"]
        return Out({"model": own + nets["beside"](features).square().mean()}, state)


def test_a_run_with_dropout_beside_the_model_can_be_repeated(kit):
    """Whatever else the program draws meanwhile, which finds its generator as it was."""
    ends, drawn = [], []
    for seed in (1, 2):
        torch.manual_seed(seed)
        trainer = Trainer([Run(Beside(), 3)], [kit.task()], NetSpec("mlp", widths=(8,)), Recipe(epochs=2))
        ends.append(list(trainer.fit().stack.parameters["model"].values()))
        drawn.append(torch.rand(()))
        torch.manual_seed(seed)
        assert torch.rand(()) == drawn[-1]
    assert all(torch.equal(one, other) for one, other in zip(*ends, strict=True))


def test_generators_of_gpus_that_are_not_in_use_are_left_alone(monkeypatch):
    def seeded(*_):
        raise AssertionError

    monkeypatch.setattr(torch.cuda, "manual_seed_all", seeded)
    with own_noise(stack_of(model=as_net(nn.Linear(2, 2))), 3, 5):
        one = torch.rand(3)
    with own_noise(stack_of(model=as_net(nn.Linear(2, 2))), 3, 5):
        assert torch.equal(torch.rand(3), one)

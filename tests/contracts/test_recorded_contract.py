"""Every method may be recorded: replayed by a GPU, with Python's numbers frozen, it ends in the same bits.

On a CPU, by a tape in the graph's place. What a step looks at must be a tensor among its inputs, or stay.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest
import torch
from tests.contracts.test_methods_contract import KEYS, brief, net_for, protect_of, seen_by
from tests.train.tape import on_tape
from torch import nn

import evenhand
from evenhand.methods import (
    ERM,
    METHODS,
    with_curvature_matching,
    with_pretraining,
    with_pruning,
    with_stages,
)
from evenhand.methods.base import Method
from evenhand.records import Out
from evenhand.train.own_net import OwnNet
from evenhand.train.recipe import Recipe
from evenhand.train.recorded import PLAIN_CALLS
from evenhand.train.runs import Run
from evenhand.train.trainer import Trainer

# what changes from step to step, turn to turn or epoch to epoch, beside what methods do by default
CHANGING = {
    "irm": {"anneal_steps": 5},
    "fairalm": {"growth": 2.0},
    "a-cens": {"every": "step", "ratio": 2},
    "a-cens-ad": {"every": "epoch", "ratio": 1},
    "gdro": {"eta": 0.5, "balanced": False},
}
WRAPPED = {
    "pruned": lambda: with_pruning(brief("gdro"), 0.6, kind="magnitude", every=1, until=0.7),
    "pre-trained": lambda: with_pretraining(brief("w-erm"), 2),
    "in stages": lambda: with_stages(brief("gap"), 2),
    "matched": lambda: with_curvature_matching(brief("erm")),
}


@pytest.fixture(autouse=True)
def one_thread():
    """Tiny products: two threads that wait for each other take longer than one."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def task():
    return evenhand.load(
        "synthetic", n_train=312, n_test=20, n_validation=60, attributes=2, scarcity=0.2, seed=1
    )


def trained(method: Method, task, net, seeds, **recipe) -> Trainer:
    numbers = {"epochs": 3, "batch_size": 32, "rate": 0.01, "schedule": "cosine", "clip": 1.0, "keep": "best"}
    runs = [Run(method, seed) for seed in seeds]
    return Trainer(runs, [task], net, Recipe(**numbers | recipe), protect=protect_of(task)).fit()


def told(trainer: Trainer) -> list[dict]:
    return [{name: value for name, value in entry.items() if name != "seconds"} for entry in trainer.history]


def compared(method, task, net, seeds, patch, **recipe) -> bool:
    """Whether a training on tape ends as a plain one does; that it was on tape is seen to."""
    plain = trained(method, task, net, seeds, **recipe)
    with patch.context() as inner:
        tapes = on_tape(inner)
        taped = trained(method, task, net, seeds, **recipe)
    assert tapes
    for tape in tapes:
        assert not tape.refused
        assert tape.missed == 0
        assert tape.replays is (tape.given > PLAIN_CALLS)
    assert any(tape.replays for tape in tapes)
    ends = []
    for each in (plain, taped):
        parameters = [leaf for own in each.stack.parameters.values() for leaf in own.values()]
        ends.append([*parameters, *each.stack.buffers().values(), *each.state.values()])
    same = all(torch.equal(one, other) for one, other in zip(*ends, strict=True))
    return same and str(told(plain)) == str(told(taped))


@pytest.mark.parametrize("seeds", [(3,), (3, 4)], ids=["alone", "stacked"])
@pytest.mark.parametrize("key", KEYS)
def test_a_method_on_tape_ends_in_the_same_bits(key, seeds, task, monkeypatch):
    if len(seeds) > 1 and not METHODS[key].needs.stackable:
        pytest.skip("says of itself that it cannot be stacked")
    net = net_for(key, widths=(12, 8), dropout=0.2)
    method = replace(brief(key), **CHANGING.get(key, {}))
    assert compared(method, seen_by(key, task), net, seeds, monkeypatch)


@pytest.mark.parametrize("seeds", [(3,), (3, 4)], ids=["alone", "stacked"])
@pytest.mark.parametrize("name", WRAPPED)
def test_what_is_put_around_a_method_may_be_recorded(name, seeds, task, monkeypatch):
    net = net_for("erm", widths=(12, 8), dropout=0.2)
    assert compared(WRAPPED[name](), task, net, seeds, monkeypatch, epochs=5)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize("key", ["erm", "kd"])
def test_batch_statistics_go_on(key, precision, task, monkeypatch):
    """Written into by every replay, in the teacher's phase and then left alone; looked at between epochs."""

    def build(shape, outputs):
        inner = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten())
        return nn.Sequential(inner, nn.Linear(4 * 36, outputs))

    pictures = seen_by("at", task)
    assert compared(brief(key), pictures, OwnNet(build), (3,), monkeypatch, precision=precision)


@dataclass(frozen=True)
class Counting(ERM):
    """What no method may do: its loss depends on how often it was called."""

    calls: list = field(default_factory=lambda: [0], compare=False)

    def loss(self, nets, batch, state):
        self.calls[0] += 1
        out = super().loss(nets, batch, state)
        return Out({"model": out.losses["model"] * (1 + self.calls[0])}, out.state)


class Looking(ERM):
    """Its loss is decided by a number that a GPU would have to be waited for."""

    def loss(self, nets, batch, state):
        out = super().loss(nets, batch, state)
        return out if out.losses["model"].item() > 0 else Out({}, state)


class Reordering(ERM):
    """Its state comes back in another order of names."""

    def init(self, problem):
        return {"b": torch.zeros(()), "a": torch.ones(())}

    def loss(self, nets, batch, state):
        out = super().loss(nets, batch, state)
        return Out(out.losses, {"a": state["a"], "b": state["b"] + 1})


def test_a_method_that_counts_in_python_is_found_out(task, monkeypatch):
    net = net_for("erm", widths=(8,))
    runs = [Counting(), Counting()]  # each with a count of its own
    plain = trained(runs[0], task, net, (3,))
    on_tape(monkeypatch)
    taped = trained(runs[1], task, net, (3,))
    one, other = (each.stack.parameters["model"]["layers.0.weight"] for each in (plain, taped))
    assert runs[0].calls[0] > runs[1].calls[0]
    assert not torch.equal(one, other)


def test_a_method_that_looks_is_trained_plainly(task, monkeypatch):
    net = net_for("erm", widths=(8,))
    plain = trained(Looking(), task, net, (3,))
    tapes = on_tape(monkeypatch)
    taped = trained(Looking(), task, net, (3,))
    assert ["not permitted" in tape.refused for tape in tapes] == [True]
    one, other = (each.stack.parameters["model"]["layers.0.weight"] for each in (plain, taped))
    assert torch.equal(one, other)


@pytest.mark.parametrize("seeds", [(3,), (3, 4)], ids=["alone", "stacked"])
def test_a_state_in_another_order_is_recorded_all_the_same(seeds, task, monkeypatch):
    assert compared(Reordering(), task, net_for("erm", widths=(8,)), seeds, monkeypatch)

"""Phases: what starts anew, what the method is told in between, and how long each lasts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor

from evenhand.methods.base import Method
from evenhand.methods.terms import probabilities, row_losses
from evenhand.nets import NetSpec
from evenhand.nets.head import Head
from evenhand.records import Batch, Out, Phase


@dataclass(frozen=True)
class Twice(Method):
    """Two phases; the second starts from a fresh model and remembers the scores of the first."""

    fresh: tuple[str, ...] = ("model",)
    first: int = 2
    select: bool = False

    def extra(self, problem: Any, n_features: int) -> dict[str, torch.nn.Module]:
        return {"helper": Head(6, 2)}

    def players(self) -> Mapping[str, tuple[str, ...]]:
        return {"model": ("model", "helper")}

    def phases(self) -> tuple[Phase, ...]:
        return Phase("warm", epochs=self.first, select=self.select), Phase("real", fresh=self.fresh)

    def init(self, problem: Any) -> Mapping[str, Tensor]:
        shape = (len(problem), problem.sizes.n_classes)
        return {"scores": torch.zeros(shape), "seen": torch.zeros(2), "steps": torch.zeros(2)}

    def loss(self, nets: Any, batch: Batch, state: Mapping[str, Tensor]) -> Out:
        logits = nets["model"](batch.x)[0] + nets["helper"](batch.x)
        place = torch.tensor([1.0, 0.0] if nets.phase == "warm" else [0.0, 1.0])
        return Out({"model": row_losses(logits, batch.y).mean()}, {**state, "steps": state["steps"] + place})

    def predict(self, nets: Any, batch: Batch, state: Mapping[str, Tensor]) -> Tensor:
        """In the warm phase the scores are marked, so that a test can tell in which phase it was asked."""
        found = probabilities(nets["model"](batch.x)[0], nets.sizes)
        return found * 0.5 if nets.phase == "warm" else found

    def after(self, phase: str, problem: Any, scores: Tensor, state: Mapping[str, Tensor]) -> Any:
        assert phase == "warm"
        assert scores.shape == (len(problem), 2)
        return {**state, "scores": scores, "seen": state["seen"] + 1}


def test_after_gets_the_scores_of_all_training_rows_in_their_order(kit):
    task = kit.task()
    for seeds in ([3], [3, 4]):
        trainer = kit.trainer(task, seeds, Twice(fresh=()))
        warm = kit.trainer(task, seeds, Twice(fresh=()), epochs=1)
        warm._tell = warm._checkpoint = None
        warm._run_phase(warm.phases[0])
        trainer.fit()
        for run in range(len(seeds)):
            found = kit.numbers(trainer, run)
            weights = kit.numbers(warm, run)
            own = {k.removeprefix("model."): v for k, v in weights.items() if k.startswith("model.")}
            x = task.x[task.rows("train")]
            logits, _ = torch.func.functional_call(warm.stack.templates["model"], own, (x,))
            assert torch.allclose(found["state scores"], 0.5 * torch.softmax(logits, -1), atol=1e-6)
            assert found["state seen"].tolist() == [1.0, 1.0]


def test_the_steps_of_each_phase(kit):
    trainer = kit.trainer(kit.task(), [0, 1], Twice(), epochs=5).fit()
    assert trainer.state["steps"].tolist() == [[12.0, 30.0]] * 2  # 2 and 5 epochs of 6 batches
    assert [(entry["phase"], entry["epoch"]) for entry in trainer.history] == [
        ("warm", 1), ("warm", 2), *(("real", epoch) for epoch in range(1, 6)),
    ]  # fmt: skip
    assert "loss" not in trainer.history[0]  # a phase that selects nothing is not validated
    assert "loss" in trainer.history[2]


@pytest.mark.parametrize("fresh", [(), ("model",), ("helper",), ("model", "helper")])
def test_fresh_networks_restart_and_the_others_go_on(kit, fresh):
    for seeds in ([0], [0, 1]):
        begun = kit.trainer(kit.task(), seeds, Twice(fresh=fresh))
        initial = [kit.numbers(begun, run) for run in range(len(seeds))]
        begun._tell = begun._checkpoint = None
        begun._run_phase(begun.phases[0])
        warm = [kit.numbers(begun, run) for run in range(len(seeds))]
        begun._start(begun.phases[1])
        for run in range(len(seeds)):
            now = kit.numbers(begun, run)
            for name, value in now.items():
                network = name.split(".")[0]
                if network not in ("model", "helper"):
                    continue
                assert torch.equal(value, warm[run][name]) is (network not in fresh), name
                assert not torch.equal(value, initial[run][name]), name
        again = kit.trainer(kit.task(), seeds, Twice(fresh=fresh))
        again.position.phase = 1
        again._start(again.phases[1])
        for name in fresh:
            for key, value in begun.stack.parameters[name].items():
                assert torch.equal(value, again.stack.parameters[name][key])  # reproducible, from the seed


def test_fresh_weights_are_drawn_as_a_network_is_built(kit):
    from evenhand.train.stack import seeded

    trainer = kit.trainer(kit.task(), [5], Twice())
    trainer.position.phase = 1
    trainer._start(trainer.phases[1])
    with seeded(5 + 2 * 7919):
        expected = NetSpec("mlp", widths=(16,)).build((6,), 2)
    for key, value in expected.named_parameters():
        assert torch.equal(trainer.stack.parameters["model"][key], value)


def test_fresh_networks_forget_their_running_statistics(kit):
    net = NetSpec("cifar-resnet18")
    trainer = kit.trainer(kit.images(n=12), [0], Refresh(), net=net, epochs=1, batch_size=4)
    trainer._tell = trainer._checkpoint = None
    trainer._run_phase(trainer.phases[0])
    assert max(value.abs().max() for name, value in means(trainer)) > 0
    trainer._start(trainer.phases[1])
    assert all((value == 0).all() for name, value in means(trainer))


def means(trainer):
    return [(name, value) for name, value in trainer.stack.buffers().items() if name.endswith("running_mean")]


@dataclass(frozen=True)
class Refresh(Method):
    """ERM twice over, from a fresh network."""

    def phases(self) -> tuple[Phase, ...]:
        return Phase("warm", epochs=1, select=False), Phase("real", fresh=("model",))

    def loss(self, nets: Any, batch: Batch, state: Mapping[str, Tensor]) -> Out:
        return Out({"model": row_losses(nets["model"](batch.x)[0], batch.y).mean()}, state)


def test_the_optimiser_remembers_nothing_of_the_phase_before(kit):
    trainer = kit.trainer(kit.task(), [0], Twice(fresh=()))
    trainer._tell = trainer._checkpoint = None
    trainer._run_phase(trainer.phases[0])
    step = trainer._start(trainer.phases[1])
    optimizer = step.optimizers["model"]
    assert optimizer.steps == 0
    assert all(value.abs().sum() == 0 for values in optimizer.slots.values() for value in values)


def test_phases_stacked_and_single_agree(kit):
    for method in (Twice(), Twice(fresh=("helper",)), Twice(select=True)):
        make = lambda seeds, m=method: kit.trainer(kit.task(), seeds, m, precision="float64").fit()  # noqa: E731
        kit.assert_each_alone(make, 3, 1e-10)


def test_rows_and_noise_of_a_phase_do_not_depend_on_when_another_run_stopped(kit):
    """One run of the stack stops early in the first phase, the other does not; both go on as if alone."""
    options = {
        "epochs": 3,
        "patience": 1,
        "rate": (0.0, 0.01, 0.3),
        "net": NetSpec("mlp", widths=(16,), dropout=0.3),
    }

    def make(places):
        own = {**options, "rate": tuple(options["rate"][place] for place in places), "optimizer": "sgd"}
        return kit.trainer(kit.task(), places, Twice(first=8, select=True), precision="float64", **own)

    together = make([0, 1, 2]).fit()
    lengths = []
    for run in range(3):
        alone = make([run]).fit()
        lengths.append(sum(entry["phase"] == "warm" for entry in alone.history))
        kit.assert_same(kit.numbers(together, run), kit.numbers(alone), 1e-10)
    assert len(set(lengths)) > 1  # they did stop at different epochs

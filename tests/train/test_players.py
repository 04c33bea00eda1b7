"""Players, turns, crossed gradients and constraints: who moves when, by which gradient, and what stays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from evenhand.methods.base import Method
from evenhand.methods.nets import Nets
from evenhand.methods.terms import row_losses
from evenhand.nets import NetSpec
from evenhand.nets.head import Head
from evenhand.records import Batch, Needs, Out, Phase, Sizes
from evenhand.train.recipe import Recipe
from evenhand.train.stack import Stack
from evenhand.train.step import Step

TURNS = (("model",), ("adversary",), ("adversary",))


@dataclass(frozen=True)
class Adversary(Method):
    """A model that classifies and hides the group from an adversary that reads its features."""

    key: ClassVar[str] = "adversary"
    weight: float = 0.5
    every: str = "batch"

    def extra(self, problem: Any, n_features: int) -> dict[str, nn.Module]:
        return {"adversary": Head(n_features, problem.sizes.n_groups, widths=(16,))}

    def players(self) -> Mapping[str, tuple[str, ...]]:
        return {"model": ("model",), "adversary": ("adversary",)}

    def phases(self) -> tuple[Phase, ...]:
        return (Phase(turns=TURNS, every=self.every),)

    def init(self, problem: Any) -> Mapping[str, Tensor]:
        return {"log": torch.zeros(64), "step": torch.zeros((), dtype=torch.int64)}

    def loss(self, nets: Any, batch: Batch, state: Mapping[str, Tensor]) -> Out:
        logits, features = nets["model"](batch.x)
        spotted = functional.cross_entropy(nets["adversary"](features), batch.g.clamp(min=0))
        task = row_losses(logits, batch.y).mean()
        here = (torch.arange(64) == state["step"]).to(logits.dtype)
        mark = {("model",): 1.0, ("adversary",): 2.0, ("model", "adversary"): 3.0}[nets.turn]
        after = {"log": state["log"] + here * mark, "step": state["step"] + 1}
        return Out({"model": task - self.weight * spotted, "adversary": spotted}, after)


@dataclass(frozen=True)
class Together(Adversary):
    """Both players in one turn."""

    def phases(self) -> tuple[Phase, ...]:
        return (Phase(turns=(("model", "adversary"),)),)


def marks(trainer, n):
    """Who moved at each of the first n steps: 1 the model, 2 the adversary."""
    return trainer.state["log"].flatten()[:n].to(torch.int64).tolist()


def batch_of(task, rows=16):
    codes = torch.as_tensor(task.attributes[0].codes)
    return Batch(task.x[:rows], task.y[:rows], codes[:rows], codes[:rows, None], torch.arange(rows), {})


@pytest.mark.parametrize("seeds", [[0], [0, 1]], ids=["single", "stacked"])
@pytest.mark.parametrize("turn", [("model",), ("adversary",), ("model", "adversary")], ids=" ".join)
def test_a_turn_moves_its_own_players_along_their_own_gradient(kit, seeds, turn):
    trainer = kit.trainer(kit.task(), seeds, Adversary(), optimizer="sgd", momentum=0.0, rate=0.1)
    step = trainer.new_step(trainer.phases[0])
    rows = torch.arange(16).expand(len(seeds), -1)
    batch = trainer.batches.batch(rows, 0, "train")
    before = [kit.numbers(trainer, run) for run in range(len(seeds))]
    step.run(batch, {}, trainer.state, turn, 1.0)
    for run in range(len(seeds)):
        after = kit.numbers(trainer, run)
        expected = by_hand(trainer, before[run], batch_of(kit.task()))
        for name, value in before[run].items():
            player = name.split(".")[0]
            if player in turn:
                assert torch.allclose(after[name], value - 0.1 * expected[player][name], atol=1e-6), name
                assert not torch.equal(after[name], value), name
            else:
                assert torch.equal(after[name], value), name


def by_hand(trainer, values, batch):
    """The gradient of each player's loss on its own networks, from modules and loss.backward alone."""
    nets = trainer.stack.templates
    leaves = {name: value.clone().requires_grad_() for name, value in values.items() if "." in name}

    def call(network, x):
        own = {k.removeprefix(f"{network}."): v for k, v in leaves.items() if k.startswith(f"{network}.")}
        return torch.func.functional_call(nets[network], own, (x,))

    logits, features = call("model", batch.x)
    spotted = functional.cross_entropy(call("adversary", features), batch.g)
    losses = {"model": functional.cross_entropy(logits, batch.y) - 0.5 * spotted, "adversary": spotted}
    found = {}
    for player, loss in losses.items():
        own = {name: leaf for name, leaf in leaves.items() if name.startswith(player)}
        grads = torch.autograd.grad(loss, list(own.values()), retain_graph=True)
        found[player] = dict(zip(own, grads, strict=True))
    return found


@pytest.mark.parametrize(
    ("every", "expected"),
    [
        ("batch", [1, 2, 2] * 6 + [1, 2, 2] * 6),
        ("step", [1, 2, 2, 1, 2, 2, 1, 2, 2, 1, 2, 2]),
        ("epoch", [1] * 6 + [2] * 6),
    ],
)
def test_turns_come_in_their_order(kit, every, expected):
    for seeds in ([0], [0, 1]):
        trainer = kit.trainer(kit.task(), seeds, Adversary(every=every), epochs=2).fit()
        assert marks(trainer, len(expected)) == expected
        assert trainer.state["step"].flatten().tolist() == [len(expected)] * len(seeds)


def test_turns_of_each_step_go_on_over_epochs(kit):
    """Five batches an epoch and three turns: the second epoch begins with the third turn."""
    trainer = kit.trainer(kit.task(n_train=80), [0], Adversary(every="step"), epochs=2).fit()
    assert marks(trainer, 10) == [1, 2, 2, 1, 2, 2, 1, 2, 2, 1]


def test_turns_on_one_batch_see_the_same_rows(kit):
    @dataclass(frozen=True)
    class Rows(Adversary):
        def loss(self, nets, batch, state):
            out = super().loss(nets, batch, state)
            here = (torch.arange(64) == state["step"]).float()
            return out._replace(state={**out.state, "log": state["log"] + here * batch.index.sum()})

    log = kit.trainer(kit.task(), [0], Rows(), epochs=1).fit().state["log"][:18].view(6, 3)
    assert torch.equal(log, log[:, :1].expand(-1, 3))
    assert len(log[:, 0].unique()) > 3
    log = kit.trainer(kit.task(), [0], Rows(every="step"), epochs=1).fit().state["log"][:6]
    assert len(log.unique()) > 3


def test_the_loss_in_the_history_is_the_mean_over_the_models_own_steps(kit):
    @dataclass(frozen=True)
    class Constant(Adversary):
        def loss(self, nets, batch, state):
            out = super().loss(nets, batch, state)
            return out._replace(losses={name: loss * 0 + 5.0 for name, loss in out.losses.items()})

    for every, expected in (("batch", [5.0, 5.0]), ("step", [5.0, 5.0]), ("epoch", [5.0, None])):
        history = kit.trainer(kit.task(), [0], Constant(every=every), epochs=2).fit().history
        found = [entry["train"][0] for entry in history]
        assert [None if value != value else value for value in found] == expected


def test_players_stacked_and_single_agree(kit):
    for method in (Adversary(), Adversary(every="step"), Together()):
        make = lambda seeds, m=method: kit.trainer(kit.task(), seeds, m, precision="float64").fit()  # noqa: E731
        kit.assert_each_alone(make, 3, 1e-10)


# -- gradient surgery ---------------------------------------------------------------------------------------


class Vector(nn.Module):
    """Two numbers that are the whole network."""

    stackable = True

    def __init__(self) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.tensor([0.0, 0.0]))

    def forward(self, x: Tensor, noise: Any = None) -> tuple[Tensor, Tensor]:
        return self.w.expand(len(x), 2), self.w


@dataclass(frozen=True)
class Projection(Method):
    """`g - proj_h g - alpha h` for g the gradient of the task and h that of the domain loss on the model."""

    needs: ClassVar[Needs] = Needs(cross_gradients=(("domain", "model"),))
    alpha: float = 1.0

    def players(self) -> Mapping[str, tuple[str, ...]]:
        return {"model": ("model",), "domain": ("critic",)}

    def extra(self, problem: Any, n_features: int) -> dict[str, nn.Module]:
        return {"critic": Vector()}

    def phases(self) -> tuple[Phase, ...]:
        return (Phase(turns=(("model", "domain"),)),)

    def loss(self, nets: Any, batch: Batch, state: Mapping[str, Tensor]) -> Out:
        _, w = nets["model"](batch.x)
        _, v = nets["critic"](batch.x)
        return Out({"model": 3 * w[0] + w[1], "domain": 2 * w[0] + 7 * v[1]}, state)

    def combine(self, grads: Mapping[tuple[str, str], Mapping[str, Tensor]]) -> Any:
        own, other = grads["model", "model"], grads["domain", "model"]
        return {**grads, ("model", "model"): {key: self._project(own[key], other[key]) for key in own}}

    def _project(self, g: Tensor, h: Tensor) -> Tensor:
        return g - (g * h).sum() / (h * h).sum() * h - self.alpha * h


def projected(alphas, stacked, turn=("model", "domain"), method=Projection, precision="float32"):
    builds = [lambda: {"model": Vector(), "critic": Vector()}] * len(alphas)
    stack = Stack(builds, [0] * len(alphas), torch.device("cpu"), stacked=stacked)
    hyper = {"alpha": torch.tensor(alphas)} if stacked else {}
    recipe = Recipe(optimizer="sgd", rate=1.0, momentum=0.0, precision=precision)
    step = Step(method(alpha=alphas[0]), hyper, stack, Sizes((1,), 2, 1), recipe)
    shape = (len(alphas), 4) if stacked else (4,)
    zeros = torch.zeros(shape, dtype=torch.int64)
    step.run(Batch(torch.zeros((*shape, 1)), zeros, zeros), {}, {}, turn, 1.0)
    return {name: stack.parameters[name]["w"].detach() for name in ("model", "critic")}


def test_combine_sees_the_crossed_gradient_and_decides_the_step():
    """g = (3, 1), h = (2, 0), alpha = 1: g loses its part along h, and h is taken off: (-2, 1)."""
    found = projected([1.0], stacked=False)
    assert found["model"].tolist() == [2.0, -1.0]  # a step of rate 1 against (-2, 1)
    assert found["critic"].tolist() == [0.0, -7.0]  # by its own gradient, untouched


def test_combine_in_a_stack_has_each_runs_own_numbers():
    found = projected([1.0, 0.0, 3.0], stacked=True)
    assert found["model"].tolist() == [[2.0, -1.0], [0.0, -1.0], [6.0, -1.0]]
    assert found["critic"].tolist() == [[0.0, -7.0]] * 3


def test_combine_is_not_asked_where_the_crossed_network_does_not_move():
    found = projected([1.0], stacked=False, turn=("domain",))
    assert found["model"].tolist() == [0.0, 0.0]
    assert found["critic"].tolist() == [0.0, -7.0]


@pytest.mark.parametrize("separate", [False, True])
def test_combine_without_crossed_gradients_is_heard_too(separate):
    @dataclass(frozen=True)
    class Signs(Projection):
        needs: ClassVar[Needs] = Needs(separate_losses=separate)

        def loss(self, nets, batch, state):
            _, w = nets["model"](batch.x)
            _, v = nets["critic"](batch.x)
            return Out({"model": 3 * w[0] + w[1], "domain": 7 * v[1]}, state)

        def combine(self, grads):
            return {pair: {key: g.sign() for key, g in tensors.items()} for pair, tensors in grads.items()}

    for stacked in (False, True):
        found = projected([1.0], stacked=stacked, method=Signs)
        assert found["model"].flatten().tolist() == [-1.0, -1.0]
        assert found["critic"].flatten().tolist() == [0.0, -1.0]


@dataclass(frozen=True)
class Resting(Projection):
    """The model's loss goes through the critic, which is at rest for it: one backward pass for both."""

    needs: ClassVar[Needs] = Needs(separate_losses=True)

    def loss(self, nets, batch, state):
        _, w = nets["model"](batch.x)
        _, still = nets.at_rest("critic")(batch.x)
        _, v = nets["critic"](batch.x)
        return Out({"model": (w * (still + 2)).sum() + self.alpha * w[0], "domain": 7 * v[1]}, state)

    def combine(self, grads):
        return grads


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize("stacked", [False, True])
def test_losses_that_keep_to_their_own_networks_share_a_backward_pass(stacked, precision):
    found = projected([1.0], stacked=stacked, method=Resting, precision=precision)
    assert found["model"].flatten().tolist() == [-3.0, -2.0]
    assert found["critic"].flatten().tolist() == [0.0, -7.0]


def test_a_network_at_rest_has_no_gradient_in_one_s_own_loop_either():
    model, critic = nn.Linear(3, 2), nn.Linear(3, 2)
    x = torch.ones(4, 3, requires_grad=True)
    Nets.of(model, Sizes((3,), 2, 1), critic=critic).at_rest("critic")(x).sum().backward()
    assert critic.weight.grad is None
    assert x.grad is not None


# -- constraints --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pruned(Method):
    """ERM whose first layer keeps zeros where the mask of its state has them."""

    def init(self, problem: Any) -> Mapping[str, Tensor]:
        return {"mask": (torch.arange(16 * 6).view(16, 6) % 3 > 0).float()}

    def loss(self, nets: Any, batch: Batch, state: Mapping[str, Tensor]) -> Out:
        return Out({"model": row_losses(nets["model"](batch.x)[0], batch.y).mean()}, state)

    def constrain(self, parameters: Any, state: Mapping[str, Tensor]) -> Any:
        own = dict(parameters["model"])
        own["layers.0.weight"] = own["layers.0.weight"] * state["mask"]
        return {"model": own}


def test_constrain_keeps_its_zeros(kit):
    for seeds in ([0], [0, 1, 2]):
        trainer = kit.trainer(kit.task(), seeds, Pruned(), weight_decay=0.1).fit()
        for run in range(len(seeds)):
            weight = kit.numbers(trainer, run)["model.layers.0.weight"]
            mask = torch.arange(16 * 6).view(16, 6) % 3 > 0
            assert (weight[~mask] == 0).all()
            assert (weight[mask] != 0).all()
    kit.assert_each_alone(lambda s: kit.trainer(kit.task(), s, Pruned()).fit(), 3)


# -- second derivatives -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SmoothInputs(Method):
    """ERM with a penalty on the gradient of the loss in the inputs: a derivative of a derivative."""

    lam: float = 0.5

    def loss(self, nets: Any, batch: Batch, state: Mapping[str, Tensor]) -> Out:
        def total(x: Tensor) -> Tensor:
            return row_losses(nets["model"](x, dropout=False)[0], batch.y).sum()

        slope = torch.func.grad(total)(batch.x)
        return Out({"model": total(batch.x) / len(batch.y) + self.lam * slope.square().sum(1).mean()}, state)


def test_a_gradient_inside_the_loss_is_differentiated_again(kit):
    net = NetSpec("mlp", widths=(16,), activation="tanh")
    make = lambda seeds: kit.trainer(  # noqa: E731
        kit.task(), seeds, SmoothInputs(), precision="float64", net=net
    ).fit()
    kit.assert_each_alone(make, 3, 1e-10)
    plain = kit.trainer(kit.task(), [0], SmoothInputs(lam=0.0), precision="float64", net=net).fit()
    one, other = kit.numbers(make([0])), kit.numbers(plain)
    assert (one["model.layers.0.weight"] - other["model.layers.0.weight"]).abs().max() > 1e-3

"""FairALM: the spec's hand check, the authors' steps and multipliers, empty cells, inner steps."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

import evenhand
from evenhand.errors import InputError
from evenhand.methods.fairalm import FairALM, centred
from evenhand.methods.problem import Problem
from evenhand.records import Batch
from evenhand.train.own_net import OwnNet
from evenhand.train.recipe import Recipe
from evenhand.train.runs import Run
from evenhand.train.trainer import Trainer

AUTHORS = ("fair_alm_1", "fair_alm_2")
OURS = ("alm_simultaneous_independent_21", "alm_simultaneous_independent_22")


def logits_with(losses: list[float]) -> Tensor:
    """Logits of rows of class 1 with these cross-entropies."""
    p = torch.exp(-torch.tensor(losses, dtype=torch.float64))
    return torch.stack([(1 - p).log(), p.log()], dim=1)


@pytest.mark.parametrize(("dual", "expected"), [("simultaneous", (3.0, -3.0)), ("sequential", (3.0, -4.5))])
def test_hand_check_of_the_spec_c3(dual, expected, tools) -> None:
    """eta = 20, multipliers 0, mean .5, L_10 = .9, L_11 = .6: the loss is .5 + 5 (.9 + .6) = 8."""
    problem = Problem.from_labels(y=[1, 1, 0, 0], g=[0, 1, 0, 1])
    left = (4 * 0.5 - 0.9 - 0.6) / 2
    logits = torch.cat([logits_with([0.9, 0.6]), logits_with([left, left]).flip(1)])
    method = FairALM(eta=20.0, growth=1.0, inner_steps=1, dual=dual)
    batch = Batch(logits, problem.y, problem.g)
    out = method.loss(tools.logits(problem.sizes), batch, tools.double(method.init(problem)))
    assert float(out.losses["model"]) == pytest.approx(8.0)
    assert out.state["dual"].tolist() == pytest.approx(expected)


def epoch_of(
    case: dict[str, Any], method: FairALM, tools: Any
) -> tuple[list[dict[str, float]], list[Any], Any]:
    """A golden case trained by plain gradient descent: its steps, the multipliers after them, the weights."""
    weight, bias = (
        torch.tensor(case["inputs"][k], dtype=torch.float64).requires_grad_() for k in ("weight", "bias")
    )
    batches = [
        Batch(torch.tensor(b["x"], dtype=torch.float64), torch.tensor(b["y"]), torch.tensor(b["s"]))
        for b in case["inputs"]["batches"]
    ]
    problem = Problem.from_labels(*(torch.cat([b[k] for b in batches]) for k in (1, 2)), n_classes=2)
    state, steps, duals = tools.double(method.init(problem)), [], []
    for batch in batches:
        for _ in method.phases()[0].turns:
            before = state["dual"].tolist()
            out = method.loss(tools.linear(weight, bias, problem.sizes), batch, state)
            grads = torch.autograd.grad(out.losses["model"], (weight, bias))
            with torch.no_grad():
                for leaf, grad in zip((weight, bias), grads, strict=True):
                    leaf -= case["parameters"]["lr"] * grad
            norm = math.sqrt(sum(float(grad.square().sum()) for grad in grads))
            told = {"loss": out.losses["model"].item(), "eta": float(out.logs["eta"]), "grad_norm": norm}
            steps.append(told | {"lam0_before": before[0], "lam1_before": before[1]})
            state = out.state
        duals.append(state["dual"].tolist())
    return steps, duals, (weight.detach(), bias.detach())


@pytest.mark.parametrize("name", AUTHORS)
def test_the_authors_steps(name, golden, assert_close, tools) -> None:
    """Golden 05: their multipliers move one after the other, which keeps no sum; ours is the other form."""
    case = next(case for case in golden("05_fairalm")["cases"] if case["name"] == name)
    given, expected = case["parameters"], case["expected"]
    fields = {"eta": given["eta_before_first_epoch"], "growth": given["eta_growth"]}
    method = FairALM(**fields, inner_steps=given["inner_steps"], dual="sequential")
    steps, duals, (weight, bias) = epoch_of(case, method, tools)
    assert len(steps) == len(expected["steps"])
    for found, theirs in zip(steps, expected["steps"], strict=True):
        for key, value in found.items():
            assert_close(value, theirs[key], case["tolerance"])
    assert_close(duals, expected["dual_after_each_batch_as_coded"], case["tolerance"])
    assert_close(weight, expected["final_weight"], case["tolerance"])
    assert_close(bias, expected["final_bias"], case["tolerance"])
    ours = FairALM(**fields, inner_steps=given["inner_steps"])
    first = epoch_of(case, ours, tools)[1][0]
    assert_close(first, expected["dual_after_first_batch_simultaneous"], case["tolerance"])


@pytest.mark.parametrize("name", OURS)
def test_multipliers_that_move_at_once(name, golden, assert_close, tools) -> None:
    case = next(case for case in golden("05_fairalm")["cases"] if case["name"] == name)
    given = case["parameters"]
    method = FairALM(eta=given["eta"], growth=given["eta_growth"], inner_steps=given["inner_steps"])
    steps, duals, (weight, bias) = epoch_of(case, method, tools)
    last = steps[given["inner_steps"] - 1 :: given["inner_steps"]]
    per_batch = case["expected"]["per_batch"]
    assert_close(
        [step["loss"] for step in last], [b["last_inner_loss"] for b in per_batch], case["tolerance"]
    )
    assert_close(duals, [[b["lam0"], b["lam1"]] for b in per_batch], case["tolerance"])
    assert_close(weight, case["expected"]["final_weight"], case["tolerance"])
    assert_close(bias, case["expected"]["final_bias"], case["tolerance"])


def test_a_group_that_the_batch_lacks_is_left_out_and_keeps_its_multiplier(tools) -> None:
    problem = Problem.from_labels(y=[1, 1, 1], g=[0, 1, -1])
    for dual in ("simultaneous", "sequential"):
        method = FairALM(eta=4.0, growth=1.0, inner_steps=1, dual=dual)
        state = tools.double(method.init(problem)) | {"dual": torch.tensor([2.0, -1.0]).double()}
        batch = Batch(logits_with([0.9, 0.2, 0.3])[[0, 2]], problem.y[:2], torch.tensor([0, -1]))
        out = method.loss(tools.logits(problem.sizes), batch, state)
        assert float(out.losses["model"]) == pytest.approx((0.9 + 0.3) / 2 + (1.0 + 1.5) * 0.9)
        assert out.state["dual"].tolist() == [2.0, -1.0]


def test_three_groups_lean_against_their_mean(tools) -> None:
    """A fourth that training never shows has no part in any mean."""
    problem = Problem.from_labels(y=[1, 1, 1, 0], g=[0, 1, 2, 3], n_groups=4)
    method = FairALM(eta=6.0, growth=1.0, inner_steps=1)
    batch = Batch(logits_with([0.9, 0.6, 0.3, 1.0]), problem.y, problem.g)
    out = method.loss(tools.logits(problem.sizes), batch, tools.double(method.init(problem)))
    assert out.state["dual"].tolist() == pytest.approx([6 * 0.3, 0.0, -6 * 0.3, 0.0])
    again = method.loss(tools.logits(problem.sizes), batch, out.state)
    mean = functional.cross_entropy(batch.x, batch.y).item()
    leaning = (1 + 1.8) * 0.9 + 1 * 0.6 + (1 - 1.8) * 0.3
    assert float(again.losses["model"]) == pytest.approx(mean + leaning)
    assert centred(torch.tensor([1.0, 5.0]), torch.zeros(2)).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("dual", ["simultaneous", "sequential"])
def test_stacked_runs_equal_single_ones(dual, tools) -> None:
    method = FairALM(inner_steps=2, dual=dual)
    tools.assert_stacks(method, tools.problem(), {"eta": [1.0, 5.0, 20.0], "growth": [1.0, 1.01, 1.1]})


@pytest.fixture(scope="module")
def task():
    return evenhand.load("synthetic", n_train=60, n_validation=0, n_test=20, d=3, seed=2)


def by_hand(
    task, weight: Tensor, bias: Tensor, *, epochs: int, inner: int, rate: float
) -> tuple[Tensor, ...]:
    """The spec's two-group formulas on all rows at once: parameters and multipliers after so many epochs."""
    rows = task.rows("train")
    x, y = task.scaling(task.x[rows]).double(), task.y[rows]
    s = torch.as_tensor(task.groups([task.attributes[0].name]).ids)[rows]
    eta, lam = 20.0, [0.0, 0.0]
    for _ in range(epochs):
        eta *= 1.01
        for _ in range(inner):
            weight, bias = weight.detach().requires_grad_(), bias.detach().requires_grad_()
            losses = functional.cross_entropy(x @ weight.T + bias, y, reduction="none")
            cells = [losses[(y == 1) & (s == k)].mean() for k in (0, 1)]
            total = losses.mean() + sum((eta / 4 + (lam[k] - lam[1 - k]) / 2) * cells[k] for k in (0, 1))
            grads = torch.autograd.grad(total, (weight, bias))
            weight, bias = weight - rate * grads[0], bias - rate * grads[1]
        apart = (cells[0] - cells[1]).item()
        half = (lam[0] - lam[1]) / 2 + eta / 2 * apart
        lam = [half, -half]
    return weight.detach(), bias.detach(), torch.tensor(lam, dtype=torch.float64)


@pytest.mark.parametrize("inner", [1, 5])
def test_training_takes_the_inner_steps_and_then_moves_the_multipliers(task, inner) -> None:
    torch.manual_seed(0)
    net = nn.Linear(3, 2).double()
    recipe = Recipe(epochs=3, batch_size=60, optimizer="sgd", momentum=0.0, rate=0.02, precision="float64")
    protect = [task.attributes[0].name]
    trainer = Trainer(
        [Run(FairALM(inner_steps=inner), 0)], [task], OwnNet(net), recipe, protect=protect
    ).fit()
    found = trainer.stack.parameters["model"]
    weight, bias, dual = by_hand(
        task, net.weight.detach(), net.bias.detach(), epochs=3, inner=inner, rate=0.02
    )
    ours = {name.rsplit(".", 1)[-1]: value.detach() for name, value in found.items()}
    torch.testing.assert_close(ours["weight"].view(2, 3), weight, atol=1e-12, rtol=0)
    torch.testing.assert_close(ours["bias"].view(2), bias, atol=1e-12, rtol=0)
    torch.testing.assert_close(trainer.state["dual"].view(2), dual, atol=1e-11, rtol=0)


def test_eta_grows_with_epochs_whatever_the_batch_size(task) -> None:
    for size, inner in ((60, 1), (13, 5), (7, 2)):
        recipe = Recipe(epochs=4, batch_size=size, precision="float64")
        method = FairALM(eta=2.0, growth=1.5, inner_steps=inner)
        fit = Trainer([Run(method, 0)], [task], OwnNet(nn.Linear(3, 2)), recipe, protect=["a0"]).fit()
        told = [epoch["method.eta"][0] for epoch in fit.history]
        assert told == pytest.approx([2 * 1.5**k for k in (1, 2, 3, 4)])


def test_it_is_for_two_classes() -> None:
    with pytest.raises(InputError, match="two classes"):
        FairALM().check(Problem.from_labels([0, 1, 2], g=[0, 1, 0]))

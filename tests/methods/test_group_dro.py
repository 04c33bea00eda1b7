"""Group DRO: the authors' and DomainBed's numbers, the spec's hand check, and what no reference covers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from evenhand.methods.group_dro import GroupDRO
from evenhand.methods.problem import Problem
from evenhand.methods.terms import row_losses
from evenhand.records import Batch


def test_hand_check_of_the_spec_d3(tools: SimpleNamespace) -> None:
    problem = Problem.from_labels(y=[[1], [1]], g=[0, 1])  # one label a row, so that groups are groups
    logits = -torch.expm1(torch.tensor([[1.0], [2.0]], dtype=torch.float64)).log()  # losses 1 and 2
    state = tools.double(GroupDRO().init(problem))
    out = GroupDRO(eta=0.1).loss(tools.logits(problem.sizes), Batch(logits, problem.y, problem.g), state)
    assert out.state["q"].tolist() == pytest.approx([0.47502, 0.52498], abs=5e-6)
    assert float(out.losses["model"]) == pytest.approx(1.52498, abs=5e-6)


def _cases(golden: Any, file: str, start: str) -> list[dict[str, Any]]:
    return [case for case in golden(file)["cases"] if case["name"].startswith(start)]


def test_authors_code_over_three_batches_with_absent_groups(golden, assert_close, tools) -> None:
    """Golden 02a, with and without adjustment: there the value of the loss has a constant more than ours."""
    cases = _cases(golden, "02a_group_dro", "group_dro")
    assert len(cases) == 4
    for case in cases:
        counts, facts = case["inputs"]["train_group_counts"], case["parameters"]
        problem = Problem.from_labels(
            y=[0] * sum(counts), g=torch.arange(len(counts)).repeat_interleave(torch.tensor(counts))
        )
        adjustment = facts["adjustment"][0] if facts["adjustment"] else 0.0
        method = GroupDRO(eta=facts["step_size"], adjustment=adjustment, by="group")
        state = tools.double(method.init(problem))
        state["spread"] = torch.tensor(counts, dtype=torch.float64).rsqrt()  # not rounded to float32
        for batch, expected in zip(case["inputs"]["batches"], case["expected"]["per_batch"], strict=True):
            logits = torch.tensor(batch["logits"], dtype=torch.float64, requires_grad=True)
            rows = Batch(logits, torch.tensor(batch["labels"]), torch.tensor(batch["groups"]))
            out = method.loss(tools.logits(problem.sizes), rows, state)
            (gradient,) = torch.autograd.grad(out.losses["model"], logits)
            leak = (out.state["q"] * adjustment * state["spread"]).sum()
            state = out.state
            assert_close(state["q"], expected["q_after"], case["tolerance"])
            assert_close(out.losses["model"].detach() + leak, expected["loss"], case["tolerance"])
            assert_close(gradient.norm(), expected["grad_norm_logits"], case["tolerance"])


def test_domainbed_over_two_steps_of_sgd(golden, assert_close, tools) -> None:
    """Golden 02b: there q starts at ones; since it is divided by its sum before use, that is uniform."""
    cases = _cases(golden, "02b_domainbed_irm_groupdro_sd", "groupdro")
    assert len(cases) == 3
    for case in cases:
        places = case["inputs"]["environments"]
        x = torch.cat([torch.tensor(place["x"], dtype=torch.float64) for place in places])
        y = torch.cat([torch.tensor(place["y"]) for place in places])
        g = torch.cat([torch.full((len(place["y"]),), number) for number, place in enumerate(places)])
        weight = torch.tensor(case["inputs"]["linear_weight"], dtype=torch.float64, requires_grad=True)
        bias = torch.tensor(case["inputs"]["linear_bias"], dtype=torch.float64, requires_grad=True)
        problem = Problem.from_labels(y, g, n_classes=len(bias))
        method = GroupDRO(eta=case["parameters"]["eta"], by="group")
        state = {
            **tools.double(method.init(problem)),
            "q": torch.full((len(places),), 1 / len(places)).double(),
        }
        for expected in case["expected"]["per_step"]:
            out = method.loss(tools.linear(weight, bias, problem.sizes), Batch(x, y, g), state)
            grads = torch.autograd.grad(out.losses["model"], (weight, bias))
            weight = (weight - case["parameters"]["lr"] * grads[0]).detach().requires_grad_()
            bias = (bias - case["parameters"]["lr"] * grads[1]).detach().requires_grad_()
            state = out.state
            assert_close(out.losses["model"].detach(), expected["loss"], case["tolerance"])
            assert_close(state["q"], expected["q"], case["tolerance"])
            assert_close(weight.detach(), expected["weight_after"], case["tolerance"])
            assert_close(bias.detach(), expected["bias_after"], case["tolerance"])


@pytest.mark.parametrize("by", ["group", "label-group"])
@pytest.mark.parametrize("shape", [{"n_classes": 2}, {"n_classes": 3}, {"labels": 4}])
def test_stacked_equals_single(tools, by: str, shape: dict[str, int]) -> None:
    values = {"eta": [0.0, 0.1, 1.0], "adjustment": [0.0, 1.0, 2.0]}
    tools.assert_stacks(GroupDRO(by=by), tools.problem(**shape), values)


def test_cells_are_crossed_with_the_label_by_default(tools) -> None:
    problem = Problem.from_labels(y=[0, 1, 0, 1], g=[0, 0, 1, 1])
    logits = torch.tensor([[3.0, 0.0], [3.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    out = GroupDRO(eta=1.0).loss(
        tools.logits(problem.sizes), Batch(logits, problem.y, problem.g), GroupDRO().init(problem)
    )
    assert int(out.state["q"].argmax()) == 1  # group 0, label 1: the only cell that is mostly wrong
    assert len(out.state["q"]) == 4


def test_groups_without_training_rows_have_no_share(tools) -> None:
    problem = Problem.from_labels(y=[[0, 1], [1, 1]], g=[0, 2], n_groups=4)
    state = GroupDRO(adjustment=1.0).init(problem)
    assert state["q"].tolist() == [0.5, 0.0, 0.5, 0.0]
    assert state["spread"].tolist() == [1.0, 0.0, 1.0, 0.0]


def test_a_huge_loss_does_not_overflow(tools) -> None:
    problem = Problem.from_labels(y=[1, 1], g=[0, 1])
    logits = torch.tensor([[500.0, 0.0], [0.0, 0.0]])
    out = GroupDRO(eta=1.0, by="group").loss(
        tools.logits(problem.sizes), Batch(logits, problem.y, problem.g), GroupDRO(by="group").init(problem)
    )
    assert out.state["q"].tolist() == [1.0, 0.0]
    assert float(out.losses["model"]) == 500.0


def test_q_moves_towards_the_group_that_is_served_worse(tools) -> None:
    """A group of every tenth row that wants the opposite: with q the loss of the worse group falls."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(200, 2, generator=generator, dtype=torch.float64)
    g = (torch.arange(200) % 10 == 0).long()
    y = torch.where(g == 1, x[:, 0] + 0.5 * x[:, 1] < 0, x[:, 0] > 0).long()
    problem = Problem.from_labels(y, g)

    def worst(eta: float, steps: int = 300) -> float:
        weight, bias = torch.zeros(2, 2).double().requires_grad_(), torch.zeros(2).double().requires_grad_()
        method = GroupDRO(eta=eta, by="group")
        state = tools.double(method.init(problem))
        for _ in range(steps):
            out = method.loss(tools.linear(weight, bias, problem.sizes), Batch(x, y, g), state)
            grads = torch.autograd.grad(out.losses["model"], (weight, bias))
            weight, bias = (
                (old - 0.1 * new).detach().requires_grad_()
                for old, new in zip((weight, bias), grads, strict=True)
            )
            state = out.state
        losses = row_losses(x @ weight.T + bias, y).detach()
        return max(float(losses[g == k].mean()) for k in (0, 1))

    assert worst(0.1) < worst(0.0)


def test_the_sampler_draws_every_cell_equally_often_and_no_unknown_row() -> None:
    problem = Problem.from_labels(y=[0, 0, 0, 1, 1, 1], g=[0, 0, 1, 0, 1, -1])
    weights = GroupDRO().sampling(problem, seed=0).weights
    assert weights.tolist() == [0.5, 0.5, 1.0, 1.0, 1.0, 0.0]
    assert GroupDRO(by="group").sampling(problem, 0).weights.tolist() == pytest.approx(
        [1 / 3] * 2 + [0.5, 1 / 3, 0.5, 0]
    )
    assert GroupDRO(balanced=False).sampling(problem, 0).rows.tolist() == [0, 1, 2, 3, 4]

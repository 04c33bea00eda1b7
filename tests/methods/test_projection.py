"""Gradient projection: the spec's hand check, the authors' gradients, the rule for flat ones, stacks."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.func import vmap
from torch.nn import functional

from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.methods.projection import FLAT, GradientProjection, projected
from evenhand.methods.terms import row_losses
from evenhand.records import Batch, Phase

OWN = ("hidden_weight", "hidden_bias", "class_weight", "class_bias")
ADVERSARY = ("adversary_weight", "adversary_bias")


def test_hand_check_of_the_spec_c1() -> None:
    found = projected(torch.tensor([3.0, 1.0]), torch.tensor([2.0, 0.0]), 1.0, flat=FLAT)
    assert found.tolist() == [-2.0, 1.0]


def from_numbers(case: dict[str, Any]) -> tuple[dict[str, Tensor], Nets, Batch]:
    leaves = {
        name: torch.tensor(case["inputs"][name], dtype=torch.float64).requires_grad_()
        for name in (*OWN, *ADVERSARY)
    }
    y, g = (torch.tensor(case["inputs"][name]) for name in ("labels", "domains"))

    def model(x: Tensor) -> tuple[Tensor, Tensor]:
        h = functional.linear(x, leaves["hidden_weight"], leaves["hidden_bias"]).relu()
        return functional.linear(h, leaves["class_weight"], leaves["class_bias"]), h

    def adversary(z: Tensor) -> Tensor:
        return functional.linear(z, leaves["adversary_weight"], leaves["adversary_bias"])

    sizes = Problem.from_labels(y, g, n_classes=3, n_groups=2).sizes
    x = torch.tensor(case["inputs"]["x"], dtype=torch.float64)
    return leaves, Nets({"model": model, "adversary": adversary}, sizes), Batch(x, y, g)


@pytest.mark.parametrize("name", ["gradient_projection_41", "gradient_projection_42"])
def test_authors_losses_and_gradients(name, golden, assert_close) -> None:
    """Golden 04: all gradients at the same weights; a tensor that the adversary's gradient misses is kept."""
    case = next(case for case in golden("04_domain_bias_mitigation")["cases"] if case["name"] == name)
    leaves, nets, batch = from_numbers(case)
    method, expected = GradientProjection(alpha=case["parameters"]["alpha"]), case["expected"]
    out = method.loss(nets, batch, {})
    near = case["tolerance"]
    assert_close(out.losses["model"].detach(), expected["class_loss"], near)
    assert_close(out.losses["adversary"].detach(), expected["domain_loss"], near)

    def gradients(player: str, names: tuple[str, ...]) -> dict[str, Tensor]:
        found = torch.autograd.grad(out.losses[player], [leaves[key] for key in names], retain_graph=True)
        return dict(zip(names, found, strict=True))

    grads = {
        ("model", "model"): gradients("model", OWN),
        ("adversary", "adversary"): gradients("adversary", ADVERSARY),
        ("adversary", "model"): gradients("adversary", OWN),
    }
    found = method.combine(grads)
    for key in OWN:
        assert_close(grads["model", "model"][key], expected["grad_from_class"][key], near)
        assert_close(grads["adversary", "model"][key], expected["grad_from_domain"][key], near)
        assert_close(found["model", "model"][key], expected["grad_used"][key], near)
    for key in ("weight", "bias"):
        assert_close(
            found["adversary", "adversary"][f"adversary_{key}"], expected["adversary_grad"][key], near
        )


def test_what_is_left_stands_across_the_adversarys_gradient() -> None:
    generator = torch.Generator().manual_seed(0)
    for shape in ((7,), (3, 5), (2, 3, 4, 4), ()):
        g, h = (torch.randn(shape, dtype=torch.float64, generator=generator) for _ in range(2))
        left = projected(g, h, 0.7)
        assert torch.allclose((left * h).sum(), -0.7 * (h * h).sum())


@pytest.mark.parametrize(("size", "flat", "projects"), [(1e-5, FLAT, False), (1.01e-5, FLAT, True)])
def test_a_flat_gradient_is_not_projected_on(size, flat, projects) -> None:
    g, h = torch.tensor([3.0, 1.0], dtype=torch.float64), torch.tensor([size, 0.0], dtype=torch.float64)
    expected = torch.tensor([0.0 if projects else 3.0, 1.0], dtype=torch.float64) - h
    assert torch.allclose(projected(g, h, 1.0, flat=flat), expected, atol=1e-12)


def test_no_gradient_and_a_tiny_one_are_finite() -> None:
    """The square of 1e-25 is 0 in float32, and dividing by it would be the end of the run."""
    g = torch.tensor([3.0, 1.0])
    assert projected(g, torch.zeros(2), 1.0).tolist() == [3.0, 1.0]
    assert projected(g, torch.tensor([1e-25, 0.0]), 0.0).tolist() == [0.0, 1.0]
    assert projected(g, torch.tensor([1e25, 0.0]), 0.0).tolist() == [0.0, 1.0]


def test_in_a_stack_each_run_has_its_own_rule() -> None:
    g = torch.tensor([[3.0, 1.0]] * 3, dtype=torch.float64)
    h = torch.tensor([[2.0, 0.0], [1e-6, 0.0], [0.0, 0.0]], dtype=torch.float64)
    alpha = torch.tensor([1.0, 0.0, 5.0], dtype=torch.float64)
    found = vmap(lambda g, h, alpha: projected(g, h, alpha, flat=FLAT))(g, h, alpha)
    assert found.tolist() == [[-2.0, 1.0], [3.0, 1.0], [3.0, 1.0]]


def test_turns() -> None:
    both, alone = ("model", "adversary"), ("adversary",)
    assert GradientProjection().phases() == (Phase(turns=(both, alone, alone)),)
    (s0,) = GradientProjection(every="epoch").phases()
    assert [s0.turn(7, epoch)[0] for epoch in range(4)] == [both, alone, alone, both]
    assert GradientProjection(ratio=1).phases()[0].turns == (both,)


def test_rows_of_unknown_group_serve_the_task_only() -> None:
    y, g = torch.tensor([0, 1, 1, 0]), torch.tensor([0, 1, -1, -1])
    problem = Problem.from_labels(y, g)
    torch.manual_seed(0)
    x = torch.randn(4, 2, requires_grad=True)
    nets = Nets({"model": lambda x: (x, x), **GradientProjection().extra(problem, 0)}, problem.sizes)
    out = GradientProjection().loss(nets, Batch(x, y, g), {})
    assert torch.equal(out.losses["model"], row_losses(x, y).mean())
    (slope,) = torch.autograd.grad(out.losses["adversary"], x)
    assert (slope[2:] == 0).all()
    assert (slope[:2] != 0).any()


def test_where_the_adversary_moves_alone_the_model_is_not_differentiated() -> None:
    problem = Problem.from_labels([0, 1], g=[0, 1])
    x = torch.randn(2, 2, requires_grad=True)
    networks = {"model": lambda x: (x, x), **GradientProjection().extra(problem, 0)}
    nets = Nets(networks, problem.sizes, turn=("adversary",))
    out = GradientProjection().loss(nets, Batch(x, problem.y, problem.g), {})
    assert set(out.losses) == {"adversary"}
    assert torch.autograd.grad(out.losses["adversary"], x, allow_unused=True) == (None,)

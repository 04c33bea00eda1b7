"""Adversarial censoring: the authors' numbers, who is paid for what, and rows whose group nobody knows."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from evenhand.errors import InputError
from evenhand.methods.censoring import AdversarialCensoring
from evenhand.methods.group_adversary import GroupAdversary, confusion_loss, spotting_loss
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.methods.terms import row_losses
from evenhand.records import Batch, Phase

PARTS = ("base", "class_head", "domain_head")


def from_numbers(case: dict[str, Any]) -> tuple[dict[str, list[Tensor]], Nets, Batch, Problem]:
    """The networks of a golden case, their tensors by part, and its batch."""
    given = {
        name: torch.tensor(value, dtype=torch.float64)
        for name, value in case["inputs"].items()
        if name not in ("labels", "domains")
    }
    y, g = (torch.tensor(case["inputs"][name]) for name in ("labels", "domains"))
    parts = {
        part: [given[f"{name}_weight"].requires_grad_(), given[f"{name}_bias"].requires_grad_()]
        for part, name in zip(PARTS, ("base", "class", "domain"), strict=True)
    }

    def model(x: Tensor) -> tuple[Tensor, Tensor]:
        h = functional.linear(x, *parts["base"]).relu()
        return functional.linear(h, *parts["class_head"]), h

    def adversary(h: Tensor) -> Tensor:
        return functional.linear(h, *parts["domain_head"])

    problem = Problem.from_labels(y, g, n_classes=3, n_groups=2)
    return (
        parts,
        Nets({"model": model, "adversary": adversary}, problem.sizes),
        Batch(given["x"], y, g),
        problem,
    )


@pytest.mark.parametrize("name", ["uniform_confusion_31", "uniform_confusion_32"])
def test_authors_losses_and_gradients(name, golden, assert_close, tools) -> None:
    """Golden 04. The authors' graph reaches further than their steps do; so may ours, before R7 cuts it."""
    case = next(case for case in golden("04_domain_bias_mitigation")["cases"] if case["name"] == name)
    parts, nets, batch, problem = from_numbers(case)
    method = AdversarialCensoring(alpha=case["parameters"]["alpha"])
    out = method.loss(nets, batch, tools.double(method.init(problem)))
    main, adversary = (case["expected"][step] for step in ("main_step", "adversary_step"))
    assert_close(out.losses["model"].detach(), main["total_loss"], case["tolerance"])
    assert_close(out.logs["confusion"], main["confusion_loss"], case["tolerance"])
    for step in (main, adversary):
        assert_close(out.losses["adversary"].detach(), step["domain_loss"], case["tolerance"])
    task = row_losses(nets["model"](batch.x)[0], batch.y).mean()
    assert_close(task.detach(), main["class_loss"], case["tolerance"])
    for player, step in (("model", main), ("adversary", adversary)):
        for part in PARTS:
            found = torch.autograd.grad(out.losses[player], parts[part], allow_unused=True, retain_graph=True)
            for gradient, expected in zip(found, step[f"grad_norm_{part}"], strict=True):
                if expected is None:
                    assert gradient is None
                else:
                    assert gradient is not None
                    assert_close(gradient.norm(), expected, case["tolerance"])


def test_where_the_adversary_moves_alone_the_model_is_not_differentiated(golden, tools) -> None:
    case = next(
        c for c in golden("04_domain_bias_mitigation")["cases"] if c["name"] == "uniform_confusion_31"
    )
    parts, nets, batch, problem = from_numbers(case)
    method, state = AdversarialCensoring(), tools.double(AdversarialCensoring().init(problem))
    together = method.loss(nets, batch, state)
    nets.turn = ("adversary",)
    alone = method.loss(nets, batch, state)
    assert set(alone.losses) == {"adversary"}
    assert torch.equal(alone.losses["adversary"], together.losses["adversary"])
    one, two = (
        torch.autograd.grad(
            out.losses["adversary"], [*parts["base"], *parts["domain_head"]], allow_unused=True
        )
        for out in (alone, together)
    )
    assert one[0] is None
    assert one[1] is None
    assert all(torch.equal(a, b) for a, b in zip(one[2:], two[2:], strict=True))


def test_confusion_is_least_where_every_group_is_as_likely() -> None:
    codes, met = torch.tensor([[0], [2]]), torch.ones(3)
    uniform = confusion_loss(torch.zeros(2, 3), codes, (3,), met)
    assert float(uniform) == pytest.approx(math.log(3))
    surely_wrong = torch.tensor(
        [[0.0, 9.0, 0.0], [9.0, 0.0, 0.0]]
    )  # not hiding: an adversary would turn round
    assert float(confusion_loss(surely_wrong, codes, (3,), met)) > 5


def test_confusion_by_hand() -> None:
    """p = (1/2, 1/4, 1/4): -(log 1/2 + 2 log 1/4)/3 = (5/3) log 2."""
    logits = torch.tensor([[math.log(2.0), 0.0, 0.0]])
    found = confusion_loss(logits, torch.tensor([[1]]), (3,), torch.ones(3))
    assert float(found) == pytest.approx(5 / 3 * math.log(2))


def test_a_group_without_training_rows_does_not_count() -> None:
    problem = Problem.from_labels([0, 1, 1], g=[0, 2, 2], n_groups=4)
    met = AdversarialCensoring().init(problem)["met"]
    assert met.tolist() == [1, 0, 1, 0]
    logits = torch.tensor([[1.0, -50.0, 1.0, -50.0]])  # what an adversary learns of groups that never come
    assert float(confusion_loss(logits, torch.tensor([[0]]), (4,), met)) == pytest.approx(math.log(2))


def small(decompose: bool, labels: int = 0, **fields: Any) -> tuple[AdversarialCensoring, Problem, Nets]:
    torch.manual_seed(0)
    y = torch.randint(0, 2, (40, labels) if labels else (40,))
    a = torch.stack([torch.randint(-1, 2, (40,)), torch.randint(-1, 3, (40,))], 1)
    g = torch.where((a < 0).any(1), -1, a[:, 0] * 3 + a[:, 1])
    problem = Problem.from_labels(y, g, a, n_classes=labels or 2, n_groups=6)
    method = AdversarialCensoring(decompose=decompose, **fields)
    model = torch.nn.Linear(5, labels or 2)
    nets = {"model": lambda x: (model(x), x), **method.extra(problem, 5)}
    return method, problem, Nets(nets, problem.sizes)


def batch_of(problem: Problem) -> Batch:
    x = torch.randn(len(problem), 5, generator=torch.Generator().manual_seed(1))
    return Batch(x, problem.y, problem.g, problem.a)


@pytest.mark.parametrize("decompose", [False, True])
@pytest.mark.parametrize("labels", [0, 3])
def test_rows_of_unknown_group_serve_the_task_only(decompose, labels) -> None:
    method, problem, nets = small(decompose, labels)
    batch, state = batch_of(problem), method.init(problem)
    task = row_losses(nets["model"](batch.x)[0], batch.y).mean()
    assert batch.a is not None
    unknown = batch._replace(g=torch.full_like(batch.g, -1), a=torch.full_like(batch.a, -1))
    out = method.loss(nets, unknown, state)
    assert torch.equal(out.losses["model"], task)
    assert out.losses["adversary"] == 0
    known = (batch.a >= 0).all(1).nonzero()[:, 0]
    some = batch._replace(g=batch.g.clone(), a=torch.where((batch.a >= 0).all(1)[:, None], batch.a, -1))
    alone = Batch(batch.x[known], batch.y[known], batch.g[known], batch.a[known])
    whole, part = method.loss(nets, some, state), method.loss(nets, alone, state)
    for name in ("confusion", "adversary"):
        assert torch.allclose(whole.logs[name], part.logs[name], atol=1e-6)


def test_decompose_has_a_head_for_each_attribute_and_sums_their_losses() -> None:
    method, problem, nets = small(decompose=True)
    batch = batch_of(problem)
    assert batch.a is not None
    guess = nets["adversary"](batch.x)
    assert guess.shape == (40, 5)
    expected = torch.zeros(())
    for part, codes in zip((guess[:, :2], guess[:, 2:]), batch.a.T, strict=True):
        known = codes >= 0  # an attribute is used where it is known, whatever the other one
        expected = expected + functional.cross_entropy(part[known], codes[known])
    out = method.loss(nets, batch, method.init(problem))
    assert torch.allclose(out.losses["adversary"], expected, atol=1e-6)


def test_for_one_attribute_decomposing_changes_nothing() -> None:
    problem = Problem.from_labels([0, 1, 1, 0], g=[0, 1, 2, -1])
    x = torch.randn(4, 5, generator=torch.Generator().manual_seed(0))
    found = []
    for method in (AdversarialCensoring(), AdversarialCensoring(decompose=True)):
        torch.manual_seed(3)
        nets = Nets({"model": lambda x: (x[:, :2], x), **method.extra(problem, 5)}, problem.sizes)
        batch = Batch(x, problem.y, problem.g, problem.a)
        found.append(method.loss(nets, batch, method.init(problem)).losses)
    assert all(torch.equal(found[0][player], found[1][player]) for player in found[0])


def test_turns_by_batch_by_step_and_by_epoch() -> None:
    turns = (("model",), ("adversary",), ("adversary",), ("adversary",))
    assert AdversarialCensoring().phases() == (Phase(turns=turns, every="batch"),)
    (by_step,) = AdversarialCensoring(every="step").phases()
    assert [by_step.turn(step, 0)[0][0] for step in range(5)] == ["model", *["adversary"] * 3, "model"]
    (s0,) = AdversarialCensoring(every="epoch", ratio=2).phases()
    assert [s0.turn(9, epoch) == (("model",),) for epoch in range(6)] == [True, False, False] * 2


def test_the_adversary_is_linear_unless_it_is_told() -> None:
    problem = Problem.from_labels([0, 1, 1], g=[0, 1, 2])
    sizes = lambda **fields: [  # noqa: E731
        tuple(p.shape) for p in AdversarialCensoring(**fields).extra(problem, 5)["adversary"].parameters()
    ]
    assert sizes() == [(3, 5), (3,)]
    assert sizes(depth=2, width=7) == [(7, 5), (7,), (7, 7), (7,), (3, 7), (3,)]


def test_each_player_lowers_what_it_is_paid_for() -> None:
    """One small step of the adversary lowers its loss; one of the model lowers the confusion."""
    method, problem, _ = small(decompose=False)
    batch, state = batch_of(problem), method.init(problem)
    features = batch.x.clone().requires_grad_()
    adversary = GroupAdversary(5, (6,))
    codes = problem.g[:, None]
    own = torch.autograd.grad(spotting_loss(adversary(features), codes, (6,)), list(adversary.parameters()))
    confusion = confusion_loss(adversary(features), codes, (6,), state["met"])
    (slope,) = torch.autograd.grad(confusion, features)
    before = spotting_loss(adversary(features), codes, (6,))
    moved = confusion_loss(adversary(features - slope), codes, (6,), state["met"])
    assert moved < confusion
    with torch.no_grad():
        for parameter, gradient in zip(adversary.parameters(), own, strict=True):
            parameter -= 0.1 * gradient
    assert spotting_loss(adversary(features), codes, (6,)) < before


def test_what_cannot_be_served_is_told() -> None:
    problem = Problem.from_labels([0, 1], g=[0, 1])
    with pytest.raises(InputError, match="'a-cens' has an adversary on the network's features"):
        AdversarialCensoring().extra(problem, 0)
    with pytest.raises(InputError, match="'ratio' of 'a-cens' must be a whole number of at least 1"):
        replace(AdversarialCensoring(), ratio=0).check(problem)
    method, problem, nets = small(decompose=True)
    with pytest.raises(InputError, match=r"Batch\(a=...\)"):
        method.loss(nets, batch_of(problem)._replace(a=None), method.init(problem))

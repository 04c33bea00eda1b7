"""Gap penalties: by hand, FairALM's numbers, batches that lack a group, and a gap that shrinks."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from evenhand.methods.erm import ERM
from evenhand.methods.gap import TARGETS, GapPenalty
from evenhand.methods.problem import Problem
from evenhand.records import Batch, Out, State

FORMS = ("absolute", "squared", "loss")


def _logits(p: list[float]) -> Tensor:
    """Logits of two classes whose second has these probabilities."""
    p = torch.tensor(p, dtype=torch.float64)
    return torch.stack([(1 - p).log(), p.log()], dim=1)


@pytest.fixture
def four() -> tuple[Problem, Tensor]:
    """Group 0 has p = .9 (y=1), .3 (y=0); group 1 has p = .5 (y=1), .2 (y=0); and a row of unknown group."""
    problem = Problem.from_labels(y=[1, 0, 1, 0, 1], g=[0, 0, 1, 1, -1])
    return problem, _logits([0.9, 0.3, 0.5, 0.2, 0.01])


@pytest.mark.parametrize(
    ("target", "absolute", "squared"),
    [("parity", 0.25, 0.0625), ("opportunity", 0.4, 0.16), ("odds", (0.4 + 0.1) / 2, (0.16 + 0.01) / 2)],
)
def test_two_groups_by_hand(tools, four, target: str, absolute: float, squared: float) -> None:
    problem, logits = four
    for form, expected in (("absolute", absolute), ("squared", squared)):
        method = GapPenalty(lam=3.0, target=target, form=form)
        batch = Batch(logits, problem.y, problem.g)
        out = method.loss(tools.logits(problem.sizes), batch, tools.double(method.init(problem)))
        assert float(out.logs["gap"]) == pytest.approx(expected)
        mean = ERM().loss(tools.logits(problem.sizes), batch, {}).losses["model"]
        assert float(out.losses["model"]) == pytest.approx(float(mean) + 3 * expected)


def test_three_groups_are_each_held_against_their_mean(tools) -> None:
    problem = Problem.from_labels(y=[0, 1, 0], g=[0, 1, 2], n_groups=4)  # group 3 never comes
    logits = _logits([0.2, 0.5, 0.8])
    for form, expected in (("absolute", 2 * (0.3 + 0 + 0.3) / 3), ("squared", 4 * (0.09 + 0 + 0.09) / 3)):
        method = GapPenalty(form=form)
        out = method.loss(
            tools.logits(problem.sizes),
            Batch(logits, problem.y, problem.g),
            tools.double(method.init(problem)),
        )
        assert float(out.logs["gap"]) == pytest.approx(expected)


def test_more_classes_and_several_labels_are_means_over_each(tools) -> None:
    p = torch.tensor([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]], dtype=torch.float64)
    classes = Problem.from_labels(y=[0, 0], g=[0, 1], n_classes=3)
    out = GapPenalty().loss(
        tools.logits(classes.sizes),
        Batch(p.log(), classes.y, classes.g),
        tools.double(GapPenalty().init(classes)),
    )
    assert float(out.logs["gap"]) == pytest.approx((0.4 + 0.0 + 0.4) / 3)
    labels = Problem.from_labels(y=[[1, 1, 0], [1, 0, 0]], g=[0, 1])
    method = GapPenalty(target="opportunity")
    out = method.loss(
        tools.logits(labels.sizes), Batch(p.logit(), labels.y, labels.g), tools.double(method.init(labels))
    )
    assert float(out.logs["gap"]) == pytest.approx(0.4)  # only the first label has positives of both groups


def test_fairalm_l2_by_hand_c3(tools) -> None:
    """eta 20, mean loss .5, L_10 .9, L_11 .6: the loss is 1.4."""
    losses = torch.tensor([0.9, 0.6, 0.25, 0.25], dtype=torch.float64)  # their mean is .5
    problem = Problem.from_labels(y=[1, 1, 0, 0], g=[0, 1, 0, 1])
    right = torch.exp(-losses)
    logits = _logits(torch.where(problem.y == 1, right, 1 - right).tolist())
    method = GapPenalty(lam=20.0, momentum=0.0, target="opportunity", form="loss")
    out = method.loss(
        tools.logits(problem.sizes), Batch(logits, problem.y, problem.g), tools.double(method.init(problem))
    )
    assert float(out.losses["model"]) == pytest.approx(1.4)


def test_fairalm_l2_over_three_steps_of_sgd(golden, assert_close, tools) -> None:
    """Golden 05, the cases of the L2 penalty."""
    cases = [case for case in golden("05_fairalm")["cases"] if case["name"].startswith("l2_penalty")]
    assert len(cases) == 2
    for case in cases:
        weight = torch.tensor(case["inputs"]["weight"], dtype=torch.float64, requires_grad=True)
        bias = torch.tensor(case["inputs"]["bias"], dtype=torch.float64, requires_grad=True)
        problem = Problem.from_labels(y=[0, 1], g=[0, 1])
        for batch, expected in zip(case["inputs"]["batches"], case["expected"]["steps"], strict=True):
            method = GapPenalty(lam=expected["eta"], momentum=0.0, target="opportunity", form="loss")
            rows = Batch(
                torch.tensor(batch["x"], dtype=torch.float64),
                torch.tensor(batch["y"]),
                torch.tensor(batch["s"]),
            )
            state = tools.double(method.init(problem))
            out = method.loss(tools.linear(weight, bias, problem.sizes), rows, state)
            grads = torch.autograd.grad(out.losses["model"], (weight, bias))
            assert_close(out.losses["model"].detach(), expected["loss"], case["tolerance"])
            assert_close(
                torch.cat([g.flatten() for g in grads]).norm(), expected["grad_norm"], case["tolerance"]
            )
            rate = case["parameters"]["lr"]
            weight = (weight - rate * grads[0]).detach().requires_grad_()
            bias = (bias - rate * grads[1]).detach().requires_grad_()
        assert_close(weight.detach(), case["expected"]["final_weight"], case["tolerance"])
        assert_close(bias.detach(), case["expected"]["final_bias"], case["tolerance"])


@pytest.mark.parametrize(("target", "form"), list(itertools.product(TARGETS, FORMS)))
@pytest.mark.parametrize("shape", [{"n_classes": 2}, {"n_classes": 3}, {"labels": 3}])
def test_stacked_equals_single(tools, target: str, form: str, shape: dict[str, int]) -> None:
    method = GapPenalty(target=target, form=form)
    tools.assert_stacks(method, tools.problem(**shape), {"lam": [0.0, 1.0, 5.0], "momentum": [0.0, 0.9, 0.5]})


@pytest.mark.parametrize(("target", "form"), list(itertools.product(TARGETS, FORMS)))
def test_weight_zero_is_erm_exactly(tools, target: str, form: str) -> None:
    problem = tools.problem()
    batch = tools.batch(problem, torch.arange(20), 0)
    batch = batch._replace(x=batch.x[:, :2])
    method, nets = GapPenalty(lam=0.0, target=target, form=form), tools.logits(problem.sizes)
    ours = method.loss(nets, batch, method.init(problem)).losses["model"]
    assert torch.equal(ours, ERM().loss(nets, batch, {}).losses["model"])


@pytest.mark.parametrize("target", TARGETS)
def test_a_batch_without_a_group_is_finite_where_the_plain_gap_is_not(tools, four, target: str) -> None:
    problem, logits = four
    plain = logits.softmax(1)[:2, 1]
    g = problem.g[:2]
    assert torch.isnan(plain[g == 0].mean() - plain[g == 1].mean())  # what the usual form gives
    x = logits[:2].clone().requires_grad_()
    method = GapPenalty(target=target)
    out = method.loss(
        tools.logits(problem.sizes), Batch(x, problem.y[:2], g), tools.double(method.init(problem))
    )
    (gradient,) = torch.autograd.grad(out.losses["model"], x)
    assert float(out.logs["gap"]) == 0.0  # a lone group has nobody to be held against
    assert torch.isfinite(gradient).all()


def test_a_group_the_batch_lacks_is_compared_by_what_it_was(tools, four) -> None:
    problem, logits = four
    method, nets = GapPenalty(momentum=0.5), tools.logits(problem.sizes)
    batch = Batch(logits, problem.y, problem.g)
    first = method.loss(nets, batch, tools.double(method.init(problem)))
    x = _logits([0.8, 0.8]).requires_grad_()
    second = method.loss(nets, Batch(x, problem.y[:2], problem.g[:2]), first.state)
    # group 0: (.5 * (.9 + .3) + .8 + .8) / (.5 * 2 + 2) = .7333; group 1 is .35 as it was
    assert float(second.logs["gap"]) == pytest.approx(2.2 / 3 - 0.35)
    assert second.state["counts"].flatten().tolist() == [3.0, 2.0]
    (pull,) = torch.autograd.grad(second.losses["model"], x)
    alone = x.detach().requires_grad_()
    mean = (
        alone.softmax(1)[:, 1].mean()
        + ERM()
        .loss(nets, Batch(alone, *batch[1:3])._replace(y=problem.y[:2], g=problem.g[:2]), {})
        .losses["model"]
    )
    assert torch.allclose(pull, torch.autograd.grad(mean, alone)[0])  # the batch's own mean, at full weight


def test_momentum_zero_forgets(tools, four) -> None:
    problem, _ = four
    nets, method = tools.logits(problem.sizes), GapPenalty(momentum=0.0)
    state = tools.double(method.init(problem))
    for p in ([0.1, 0.1, 0.9, 0.9, 0.5], [0.9, 0.3, 0.5, 0.2, 0.01]):
        out = method.loss(nets, Batch(_logits(p), problem.y, problem.g), state)
        state = out.state
    assert float(out.logs["gap"]) == pytest.approx(0.25)  # that of the last batch alone


@pytest.fixture(scope="module")
def trained(tools) -> Callable[[GapPenalty], tuple[Tensor, Tensor]]:
    """Ten stacked runs on batches of 16, some of which lack a group: the gaps and losses at the end."""
    generator = torch.Generator().manual_seed(0)
    g = (torch.rand(2000, generator=generator) < 0.2).long()
    y = (torch.rand(2000, generator=generator) < 0.3 + 0.4 * g).long()
    x = torch.randn(2000, 3, generator=generator, dtype=torch.float64)
    x = x + torch.stack([2.0 * y, 1.0 * g, 1.5 * y * g], 1)
    problem = Problem.from_labels(y, g)

    def train(method: GapPenalty, steps: int = 200) -> tuple[Tensor, Tensor]:
        draw, first = torch.Generator().manual_seed(1), tools.double(method.init(problem))
        leaves = torch.zeros(10, 2, 3, dtype=torch.float64), torch.zeros(10, 2, dtype=torch.float64)
        state = {name: value.expand(10, *value.shape) for name, value in first.items()}

        def loss(weight: Tensor, bias: Tensor, batch: Batch, state: State) -> Out:
            return method.loss(tools.linear(weight, bias, problem.sizes), batch, state)

        for step in range(steps):
            rows = torch.randint(0, len(y), (10, 16), generator=draw)
            leaves = tuple(leaf.requires_grad_() for leaf in leaves)
            batch = Batch(x[rows], y[rows], g[rows], g[rows], rows, {})
            out = torch.func.vmap(loss)(*leaves, batch, state)
            grads = torch.autograd.grad(out.losses["model"].sum(), leaves)
            rate = 0.2 * (1 - step / steps)
            leaves = tuple((leaf - rate * grad).detach() for leaf, grad in zip(leaves, grads, strict=True))
            state = out.state
        whole = replace(method, lam=0.0, momentum=0.0, form="absolute")
        ends = [
            whole.loss(tools.linear(*parts, problem.sizes), Batch(x, y, g), first)
            for parts in zip(*leaves, strict=True)
        ]
        return torch.stack([end.logs["gap"] for end in ends]), torch.stack(
            [end.losses["model"] for end in ends]
        )

    return train


@pytest.mark.parametrize("target", TARGETS)
def test_the_gap_shrinks_compared_with_erm(trained, target: str) -> None:
    ours, _ = trained(GapPenalty(target=target))
    erm, _ = trained(GapPenalty(lam=0.0, target=target))
    assert (ours < erm).all()
    assert ours.mean() < 0.5 * erm.mean()


def test_running_rates_pay_less_for_the_same_gap_when_batches_are_small(trained) -> None:
    """Why rates are running: a small batch's gap is mostly noise, and holding that down has its price."""
    running, its_loss = trained(GapPenalty(lam=10.0, target="odds", form="squared"))
    single, their_loss = trained(GapPenalty(lam=10.0, target="odds", form="squared", momentum=0.0))
    assert running.mean() < 1.2 * single.mean()
    assert (its_loss < their_loss).all()

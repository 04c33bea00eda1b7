"""AdvDebias: what its adversary sees, the oracle of its step, S4's reading, and a weight that grows."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional

import evenhand
from evenhand.errors import InputError
from evenhand.methods.advdebias import AdvDebias, OutputAdversary, ScaledAdversary, log_odds
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.methods.reversal import reverse
from evenhand.methods.terms import row_losses
from evenhand.nets import NetSpec
from evenhand.records import Batch
from evenhand.train.recipe import Recipe
from evenhand.train.runs import Run
from evenhand.train.trainer import Trainer


def problem_of(n_groups: int = 2) -> Problem:
    generator = torch.Generator().manual_seed(0)
    y = torch.randint(0, 2, (30,), generator=generator)
    g = torch.randint(-1, n_groups, (30,), generator=generator)
    return Problem.from_labels(y, g, n_classes=2, n_groups=n_groups, inputs=(4,))


def setting(method: AdvDebias, n_groups: int = 2) -> tuple[Problem, Any, Nets, Batch]:
    problem = problem_of(n_groups)
    torch.manual_seed(1)
    model = NetSpec("mlp", widths=(6,)).build((4,), 2).double()
    extra = {name: module.double() for name, module in method.extra(problem, 6).items()}
    x = torch.randn(30, 4, dtype=torch.float64)
    return problem, model, Nets({"model": model, **extra}, problem.sizes), Batch(x, problem.y, problem.g)


def gradients(loss: Tensor, module: torch.nn.Module) -> dict[str, Tensor]:
    leaves = dict(module.named_parameters())
    found = torch.autograd.grad(loss, list(leaves.values()), retain_graph=True)
    return dict(zip(leaves, found, strict=True))


def combined(method: AdvDebias, out: Any, model: Any) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The step of the model, and the adversary's gradient on it."""
    own, other = (gradients(out.losses[player], model) for player in ("model", "adversary"))
    found = method.combine({("model", "model"): own, ("adversary", "model"): other})
    return dict(found["model", "model"]), other


@pytest.mark.parametrize("head", ["odds", "parity"])
@pytest.mark.parametrize("alpha", [0.0, 0.1, 3.0])
def test_oracle_of_the_spec(head, alpha) -> None:
    """Section 10: for each tensor `<g, gA> = -alpha |gA|^2`."""
    method = AdvDebias(alpha=alpha, head=head)
    _, model, nets, batch = setting(method)
    step, other = combined(method, method.loss(nets, batch, {}), model)
    for name, h in other.items():
        assert (h != 0).any()
        assert torch.allclose((step[name] * h).sum(), -alpha * (h * h).sum(), atol=1e-12), name


def test_step_by_the_formula_of_the_spec() -> None:
    method = AdvDebias(alpha=0.3)
    _, model, nets, batch = setting(method)
    out = method.loss(nets, batch, {})
    step, other = combined(method, out, model)
    for name, g in gradients(out.losses["model"], model).items():
        e = other[name] / (other[name].norm() + torch.finfo(torch.float64).tiny)
        expected = g - (g * e).sum() * e - 0.3 * other[name]
        assert torch.allclose(step[name], expected, atol=1e-14)


def test_the_odds_head_by_hand() -> None:
    """Logit 0.5 and c = 1: u = sigmoid(1); a row of label 1 shows [u, u, 0], of label 0 [u, 0, u]."""
    adversary = ScaledAdversary(1, odds=True)
    assert adversary.c.tolist() == 1.0
    with torch.no_grad():
        adversary.linear.weight.copy_(torch.tensor([[1.0, 10.0, 100.0]]))
        adversary.linear.bias.fill_(0.5)
    u = 1 / (1 + math.exp(-1.0))
    found = adversary(torch.tensor([[0.0, 0.5], [1.0, 1.5]]), torch.tensor([1, 0]))[:, 0].tolist()
    assert found == pytest.approx([0.5 + 11 * u, 0.5 + 101 * u])


def test_the_parity_head_does_not_see_the_label() -> None:
    logits = torch.randn(6, 2)
    for head in (ScaledAdversary(1, odds=False), OutputAdversary(2, odds=False)):
        assert torch.equal(head(logits, torch.zeros(6)), head(logits, torch.ones(6)))
    for head in (ScaledAdversary(1, odds=True), OutputAdversary(2, odds=True)):
        assert not torch.equal(head(logits, torch.zeros(6)), head(logits, torch.ones(6)))


def test_c_is_learned() -> None:
    method = AdvDebias()
    _, _, nets, batch = setting(method)
    adversary = nets._networks["adversary"]
    (slope,) = torch.autograd.grad(method.loss(nets, batch, {}).losses["adversary"], adversary.c)
    assert slope != 0


def test_the_adversary_is_paid_for_the_known_groups() -> None:
    method = AdvDebias()
    _, model, nets, batch = setting(method)
    out, known = method.loss(nets, batch, {}), batch.g >= 0
    logit = nets["adversary"](model(batch.x)[0], batch.y)[:, 0]
    expected = functional.binary_cross_entropy_with_logits(logit[known], batch.g[known].double())
    assert torch.allclose(out.losses["adversary"], expected)
    assert torch.equal(out.losses["model"], row_losses(model(batch.x)[0], batch.y).mean())


def test_one_output_is_a_log_odds() -> None:
    assert log_odds(torch.tensor([[3.0]])).tolist() == [3.0]
    two = ScaledAdversary(1, odds=True)
    y = torch.tensor([1])
    assert torch.equal(two(torch.tensor([[3.0]]), y), two(torch.tensor([[1.0, 4.0]]), y))


def test_more_groups_have_a_softmax() -> None:
    method = AdvDebias()
    _, model, nets, batch = setting(method, n_groups=4)
    known = batch.g >= 0
    guess = nets["adversary"](model(batch.x)[0], batch.y)
    assert guess.shape == (30, 4)
    out = method.loss(nets, batch, {})
    assert torch.allclose(out.losses["adversary"], functional.cross_entropy(guess[known], batch.g[known]))
    step, other = combined(method, out, model)
    assert all(torch.allclose((step[n] * h).sum(), -0.1 * (h * h).sum()) for n, h in other.items())


@pytest.mark.parametrize("head", ["odds", "parity"])
def test_form_reversal_is_gradient_reversal(head) -> None:
    """S4's reading: the same step as the gradient of task + CE behind a reversal of strength alpha."""
    method = AdvDebias(form="reversal", alpha=2.0, head=head)
    _, model, nets, batch = setting(method)
    step, _ = combined(method, method.loss(nets, batch, {}), model)
    logits, known = model(batch.x)[0], batch.g >= 0
    guess = nets["adversary"](reverse(logits, 2.0), batch.y)
    loss = row_losses(logits, batch.y).mean() + functional.cross_entropy(guess[known], batch.g[known])
    for name, expected in gradients(loss, model).items():
        assert torch.allclose(step[name], expected, atol=1e-12)


def test_the_adversary_of_s4_is_2_32_2_on_probabilities() -> None:
    adversary = AdvDebias(form="reversal", head="parity").extra(problem_of(), 0)["adversary"]
    assert [tuple(p.shape) for p in adversary.parameters()] == [(32, 2), (32,), (2, 32), (2,)]
    logits = torch.tensor([[0.3, -1.0]])
    expected = adversary.head(torch.softmax(logits, -1))
    assert torch.allclose(adversary(logits, torch.zeros(1)), expected)


def test_the_adversary_steps_after_the_model_on_the_same_batch() -> None:
    assert AdvDebias().phases()[0].turns == (("model",), ("adversary",))
    assert AdvDebias().phases()[0].every == "batch"


def test_a_growing_weight_is_the_root_of_the_models_steps() -> None:
    method, plain = AdvDebias(growing=True, alpha=0.2), AdvDebias(alpha=0.2 * math.sqrt(5))
    problem, model, nets, batch = setting(method)
    state = {"step": torch.tensor(4)}  # four steps were taken: this is the fifth
    out = method.loss(nets, batch, state)
    assert out.state["step"] == 5
    found, _ = combined(method, out, model)
    expected, _ = combined(plain, plain.loss(nets, batch, {}), model)
    assert all(torch.allclose(found[name], expected[name], atol=1e-12) for name in expected)
    nets.turn = ("adversary",)
    alone = method.loss(nets, batch, state)
    assert alone.state["step"] == 4
    assert torch.allclose(alone.losses["adversary"], out.logs["adversary"])
    assert method.init(problem)["step"] == 0


def test_a_growing_weight_counts_through_training() -> None:
    task = evenhand.load("synthetic", n_train=128, n_validation=20, n_test=20, seed=1)
    runs = [Run(AdvDebias(growing=True, alpha=alpha), seed) for seed, alpha in enumerate((0.1, 0.2))]
    recipe = Recipe(epochs=3, batch_size=32)
    made = Trainer(runs, [task], NetSpec("mlp", widths=(4,)), recipe, protect=["a0"]).fit()
    assert made.state["step"].tolist() == [12, 12]


def test_a_batch_without_known_groups_is_erm() -> None:
    for form in ("projection", "reversal"):
        method = AdvDebias(form=form)
        _, model, nets, batch = setting(method)
        out = method.loss(nets, batch._replace(g=torch.full_like(batch.g, -1)), {})
        step, _ = combined(method, out, model)
        expected = gradients(row_losses(model(batch.x)[0], batch.y).mean(), model)
        assert all(torch.equal(step[name], expected[name]) for name in expected)


def test_what_cannot_be_served_is_told() -> None:
    with pytest.raises(InputError, match="'advdebias' is for two classes; this task has 3"):
        AdvDebias().check(Problem.from_labels([0, 1, 2], g=[0, 1, 0]))
    with pytest.raises(InputError, match="compares groups; this task has one only"):
        AdvDebias().check(Problem.from_labels([0, 1], g=[0, 0]))
    with pytest.raises(InputError, match="belongs to form='projection'"):
        AdvDebias(growing=True, form="reversal").check(Problem.from_labels([0, 1], g=[0, 1]))

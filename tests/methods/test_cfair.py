"""CFAIR: the authors' network and the corrected weights of golden 08, gradient signs, lacking classes."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from evenhand.errors import InputError
from evenhand.methods.cfair import CFair, CFairEO
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.methods.reversal import reverse
from evenhand.methods.terms import row_losses
from evenhand.records import Batch

CELLS = ("s0_y0", "s0_y1", "s1_y0", "s1_y1")
ENCODER = "hiddens.0.weight"


def problem_of(case: dict[str, Any]) -> Problem:
    numbers = torch.tensor([case["inputs"]["training_cell_counts"][cell] for cell in CELLS])
    cells = torch.arange(4).repeat_interleave(numbers)
    return Problem.from_labels(y=cells % 2, g=cells // 2)


def state_of(method: CFair, problem: Problem) -> dict[str, Tensor]:
    """The method's state in float64: it is made in the default type."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    state = dict(method.init(problem))
    torch.set_default_dtype(before)
    return state


class Golden:
    """A case: its parameters as leaves, the network of the file around them, its rows."""

    def __init__(self, case: dict[str, Any]) -> None:
        values, inputs = case["inputs"]["parameters"], case["inputs"]
        self.leaves = {
            name: torch.tensor(value, dtype=torch.float64).requires_grad_() for name, value in values.items()
        }
        x, y, s = (torch.tensor(inputs[name]) for name in ("x", "y", "s"))
        self.batch, self.problem = Batch(x.double(), y, s), problem_of(case)

    def layer(self, name: str, x: Tensor) -> Tensor:
        return functional.linear(x, self.leaves[f"{name}.weight"], self.leaves[f"{name}.bias"])

    def model(self, x: Tensor) -> tuple[Tensor, Tensor]:
        z = self.layer("hiddens.0", x).relu()
        return self.layer("softmax", z), z

    def adversary(self, z: Tensor) -> Tensor:
        hidden = [self.layer(f"adversaries.{label}.0", z).relu() for label in (0, 1)]
        return torch.stack([self.layer(f"sensitive_cls.{label}", h) for label, h in enumerate(hidden)], 1)

    def out(self, method: CFair, **networks: Any) -> Any:
        nets = Nets({"model": self.model, "adversary": self.adversary, **networks}, self.problem.sizes)
        return method.loss(nets, self.batch, state_of(method, self.problem))

    def gradient(self, loss: Tensor, name: str = ENCODER) -> Tensor:
        return torch.autograd.grad(loss, self.leaves[name], retain_graph=True)[0]


def method_of(case: dict[str, Any], legacy: bool, gamma: float | None = None) -> CFair:
    kind = CFairEO if "_eo_" in case["name"] else CFair
    weight = case["parameters"]["mu"] if gamma is None else gamma
    return kind(gamma=weight, legacy_weights=legacy)


CASES = ("cfair_1", "cfair_2", "cfair_eo_3", "cfair_6")


@pytest.fixture(scope="module")
def cases(golden) -> dict[str, Any]:
    return {case["name"]: case for case in golden("08_cfair")["cases"]}


def test_every_case_is_looked_at(cases):
    assert set(cases) == {*CASES, "gradient_reversal_11", "gradient_reversal_12"}


@pytest.mark.parametrize("name", CASES)
def test_weights_of_golden_08(name, cases, assert_close):
    case = cases[name]
    expected, problem = case["expected"], problem_of(case)
    ours, theirs = (state_of(method_of(case, legacy), problem) for legacy in (False, True))
    assert_close(ours["classes"], expected["class_weights"], 1e-12)
    assert_close(ours["groups"].T, expected["corrected_adversary_weights_for_y0_y1"], 1e-12)
    assert_close(theirs["groups"].T, expected["official_adversary_weights_for_y0_y1"], 1e-12)


@pytest.mark.parametrize("legacy", [False, True], ids=["corrected", "official"])
@pytest.mark.parametrize("name", CASES)
def test_losses_and_gradients_of_golden_08(name, legacy, cases, assert_close):
    case = cases[name]
    expected, rows = case["expected"]["official" if legacy else "corrected"], Golden(case)
    out = rows.out(method_of(case, legacy))
    total = out.losses["model"]
    assert_close(out.logs["task"], expected["classification_loss"], case["tolerance"])
    assert_close(out.logs["adversary"], expected["adversary_loss"], case["tolerance"])
    assert_close(total.detach(), expected["total_loss"], case["tolerance"])
    assert_close(rows.gradient(total), expected["encoder_weight_grad"], case["tolerance"])
    for leaf, norm in expected["grad_norms"].items():
        assert_close(rows.gradient(total, leaf).norm(), norm, case["tolerance"])


@pytest.mark.parametrize("legacy", [False, True], ids=["corrected", "official"])
@pytest.mark.parametrize("name", CASES)
def test_each_adversary_and_the_signs_of_golden_08(name, legacy, cases, assert_close):
    case = cases[name]
    expected, rows = case["expected"]["official" if legacy else "corrected"], Golden(case)
    method, state = method_of(case, legacy), state_of(method_of(case, legacy), rows.problem)
    z = rows.model(rows.batch.x)[1]
    loss = method._adversaries(rows.adversary(z), rows.batch, state, rows.problem.sizes)
    plain = rows.gradient(loss)
    assert_close(plain, expected["encoder_weight_grad_adversary_without_reversal"], case["tolerance"])
    task = rows.gradient(rows.out(method_of(case, legacy, gamma=0.0)).losses["model"])
    assert_close(task, expected["encoder_weight_grad_classification_only"], case["tolerance"])
    both = rows.gradient(rows.out(method).losses["model"])
    assert_close(both, task - method.gamma * plain, 1e-12)  # reversed at the encoder
    own = rows.gradient(rows.out(method).losses["model"], "sensitive_cls.0.weight")
    assert_close(own, method.gamma * rows.gradient(loss, "sensitive_cls.0.weight"), 1e-12)  # and not here
    for label in (0, 1):  # the other class has no row: its share of the mean is 0
        chosen = rows.batch.y == label
        part = Batch(*(value[chosen] for value in rows.batch[:3]))
        alone = method._adversaries(rows.adversary(z)[chosen], part, state, rows.problem.sizes)
        assert_close(2 * alone.detach(), expected["adversary_loss_per_class"][label], case["tolerance"])


@pytest.mark.parametrize("name", ["gradient_reversal_11", "gradient_reversal_12"])
def test_reversal_of_golden_08(name, cases, assert_close):
    case = cases[name]
    x = torch.tensor(case["inputs"]["x"], dtype=torch.float64, requires_grad=True)
    upstream = torch.tensor(case["inputs"]["upstream_gradient"], dtype=torch.float64)
    found = reverse(x, case["parameters"]["scale"])
    (grad,) = torch.autograd.grad(found, x, upstream)
    assert torch.equal(found, x)
    assert_close(found.detach(), case["expected"]["forward"], case["tolerance"])
    assert_close(grad, case["expected"]["grad_x"], case["tolerance"])


@pytest.mark.parametrize("factor", [0.0, 0.3, 1.0, 1000.0])
def test_a_scaled_reversal_keeps_the_value_and_stacks(factor):
    h = torch.randn(4, 7, requires_grad=True)
    factors = torch.full((4,), factor)
    found = torch.func.vmap(reverse)(h, factors)
    assert torch.equal(found, h)
    (grad,) = torch.autograd.grad(found.sum(), h)
    torch.testing.assert_close(grad, torch.full_like(h, -factor))


# -- oracles of the spec ------------------------------------------------------------------------------------


def stub(problem: Problem, outputs: Tensor) -> Nets:
    return Nets({"model": lambda x: (x, x), "adversary": lambda z: outputs}, problem.sizes)


def test_weighted_loss_is_the_mean_of_the_classes_means_where_shares_agree():
    problem = Problem.from_labels(y=[0] * 6 + [1] * 2, g=[0, 1] * 4)
    logits = torch.randn(8, 2, dtype=torch.float64)
    out = CFair(gamma=0.0).loss(
        stub(problem, torch.zeros(8, 2, 2, dtype=torch.float64)),
        Batch(logits, problem.y, problem.g),
        state_of(CFair(), problem),
    )
    losses = row_losses(logits, problem.y)
    assert out.losses["model"].item() == pytest.approx(
        (losses[:6].mean() + losses[6:].mean()).item() / 2, abs=1e-12
    )


def test_the_adversaries_loss_is_balanced_over_groups():
    """Where shares agree it is the mean over classes and groups of the cells' mean losses."""
    problem = Problem.from_labels(y=[0] * 6 + [1] * 4, g=[0, 0, 0, 0, 0, 1, 0, 1, 1, 1])
    outputs = torch.randn(10, 2, 2, dtype=torch.float64)
    zeros = torch.zeros(10, 2, dtype=torch.float64)
    out = CFair().loss(stub(problem, outputs), Batch(zeros, problem.y, problem.g), state_of(CFair(), problem))
    own = functional.cross_entropy(outputs[torch.arange(10), problem.y], problem.g, reduction="none")
    cells = [own[(problem.y == y) & (problem.g == g)].mean() for y in (0, 1) for g in (0, 1)]
    assert out.logs["adversary"].item() == pytest.approx(torch.stack(cells).mean().item(), abs=1e-12)


@pytest.mark.parametrize("kind", [CFair, CFairEO])
@pytest.mark.parametrize("lacking", ["class 0", "class 1", "every group"])
def test_a_batch_without_a_class_or_a_known_group_stays_defined(kind, lacking):
    problem = Problem.from_labels(y=[0, 0, 1, 1, 0, 1], g=[0, 1, 0, 1, 1, 1])
    y = torch.full((6,), 1 - int(lacking[-1])) if "class" in lacking else problem.y
    g = problem.g if "class" in lacking else torch.full((6,), -1)
    outputs = torch.randn(6, 2, 2, dtype=torch.float64, requires_grad=True)
    x = torch.randn(6, 2, dtype=torch.float64, requires_grad=True)
    out = kind().loss(stub(problem, outputs), Batch(x, y, g), state_of(kind(), problem))
    grads = torch.autograd.grad(out.losses["model"], (x, outputs))
    assert torch.isfinite(out.losses["model"])
    assert all(torch.isfinite(grad).all() for grad in grads)
    if "class" in lacking:
        assert (grads[1][:, int(lacking[-1])] == 0).all()
    else:
        assert out.logs["adversary"] == 0
        assert (grads[1] == 0).all()


def test_rows_of_unknown_group_serve_the_classifier_only():
    problem = Problem.from_labels(y=[0, 0, 1, 1], g=[0, 1, 0, 1])
    outputs, x = torch.randn(4, 2, 2, dtype=torch.float64), torch.randn(4, 2, dtype=torch.float64)
    state, g = state_of(CFair(), problem), torch.tensor([0, 1, 0, -1])
    whole = CFair().loss(stub(problem, outputs), Batch(x, problem.y, g), state)
    part = CFair().loss(stub(problem, outputs[:3]), Batch(x[:3], problem.y[:3], g[:3]), state)
    assert torch.equal(whole.logs["adversary"], part.logs["adversary"])
    assert not torch.equal(whole.logs["task"], part.logs["task"])


def test_more_classes_and_groups_have_an_adversary_and_an_output_each():
    problem = Problem.from_labels(y=[0, 1, 2] * 8, g=[0, 1, 2, 3] * 6)
    CFair().check(problem)
    net = CFair(width=5, depth=1, bend="relu").extra(problem, 7)["adversary"]
    assert net(torch.zeros(24, 7)).shape == (24, 3, 4)
    assert sum(value.numel() for value in net.parameters()) == 3 * (7 * 5 + 5 + 5 * 4 + 4)


def test_one_player_owns_both_networks():
    assert CFair().players() == {"model": ("model", "adversary")}
    assert CFair().phases()[0].turns == (("model",),)


def test_what_cannot_be_served_is_refused_with_the_reason():
    three = Problem.from_labels(y=[0, 1, 2], g=[0, 1, 0])
    with pytest.raises(InputError, match="'legacy_weights' of 'cfair' is for two classes and two groups"):
        CFair(legacy_weights=True).check(three)
    with pytest.raises(InputError, match="'cfair-eo' is for one label a row; this task has 2 labels"):
        CFairEO().check(Problem.from_labels(y=[[0, 1], [1, 1]], g=[0, 1]))
    with pytest.raises(InputError, match="'cfair' has an adversary on the network's features"):
        CFair().extra(three, 0)

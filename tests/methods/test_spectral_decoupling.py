"""Spectral decoupling: both forms, the authors' variants, and a batch that lacks a class."""

from __future__ import annotations

import pytest
import torch

from evenhand.errors import InputError
from evenhand.methods.erm import ERM
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.methods.spectral_decoupling import SpectralDecoupling
from evenhand.records import Batch, Sizes

BINARY = Sizes((), 2, 1)
MODES = {
    "spw3": lambda given: {"form": "per-class", "gamma_0": given["gamma_0"], "gamma_1": given["gamma_1"]},
    "spw1": lambda given: {"form": "simple", "ratio_1": given["ratio"]},
    "spw2": lambda given: {"form": "simple", "ratio_0": given["ratio"]},
    "urw": lambda given: {"form": "simple", "balance": True},
}


def fixed(logits, sizes=BINARY):
    return Nets({"model": lambda x: (logits, None)}, sizes)


def rows_of(y):
    labels = torch.as_tensor(y)
    return Batch(torch.zeros(len(labels), 1), labels, torch.full((len(labels),), -1))


def loss_of(method, logits, y, sizes=BINARY):
    return method.loss(fixed(logits, sizes), rows_of(y), {}).losses["model"]


def test_every_mode_of_the_authors(golden, assert_close):
    cases = golden("03_spectral_decoupling")["cases"]
    assert {case["parameters"]["mode"] for case in cases} == set(MODES)
    for case in cases:
        given, expected, tolerance = case["parameters"], case["expected"], case["tolerance"]
        logits = torch.tensor(case["inputs"]["logits"], dtype=torch.float64, requires_grad=True)
        method = SpectralDecoupling(lam=given["lam"], **MODES[given["mode"]](given))
        out = method.loss(fixed(logits[:, None]), rows_of(case["inputs"]["labels"]), {})
        assert_close(out.losses["model"].item(), expected["loss"], tolerance)
        assert_close(
            torch.autograd.grad(out.losses["model"], logits)[0].tolist(), expected["grad_logits"], tolerance
        )
        if "penalty_part" in expected:
            assert_close(given["lam"] * out.logs["penalty"].item(), expected["penalty_part"], tolerance)
            assert_close(out.logs["risk"].item(), expected["logistic_loss_mean"], tolerance)


@pytest.mark.parametrize("name", ["sd_31", "sd_32", "sd_34"])
def test_a_step_of_the_simple_form_is_that_of_domainbed(golden, assert_close, name):
    case = next(case for case in golden("02b_domainbed_irm_groupdro_sd")["cases"] if case["name"] == name)
    inputs, expected, tolerance = case["inputs"], case["expected"], case["tolerance"]
    x = torch.tensor([row for part in inputs["environments"] for row in part["x"]], dtype=torch.float64)
    y = torch.tensor([label for part in inputs["environments"] for label in part["y"]])
    weight, bias = (
        torch.tensor(inputs[key], dtype=torch.float64, requires_grad=True)
        for key in ("linear_weight", "linear_bias")
    )
    nets = Nets({"model": lambda x: (x @ weight.T + bias, None)}, Sizes((), len(bias), 1))
    method = SpectralDecoupling(lam=case["parameters"]["sd_reg"], form="simple")
    out = method.loss(nets, rows_of(y)._replace(x=x), {})
    assert_close(out.losses["model"].item(), expected["objective"], tolerance)
    assert_close(out.logs["risk"].item(), expected["cross_entropy"], tolerance)
    assert_close(out.logs["penalty"].item(), expected["penalty"], tolerance)
    steps = torch.autograd.grad(out.losses["model"], (weight, bias))
    rate = case["parameters"]["lr"]
    assert_close((weight - rate * steps[0]).tolist(), expected["weight_after"], tolerance)
    assert_close((bias - rate * steps[1]).tolist(), expected["bias_after"], tolerance)


def test_penalty_of_spec_d8():
    z = torch.tensor([[2.0], [0.0]], dtype=torch.float64)
    out = SpectralDecoupling(lam=0.1).loss(fixed(z), rows_of([1, 0]), {})
    assert (0.1 * out.logs["penalty"]).item() == pytest.approx(0.04436, abs=1e-12)
    assert (out.losses["model"] - out.logs["risk"]).item() == pytest.approx(0.04436, abs=1e-12)


def test_a_class_that_the_batch_lacks_has_no_term():
    z = torch.tensor([[2.0], [1.0]], dtype=torch.float64, requires_grad=True)
    for balance in (False, True):
        method = SpectralDecoupling(lam=1.0, balance=balance)
        out = method.loss(fixed(z), rows_of([1, 1]), {})
        assert out.logs["penalty"].item() == pytest.approx((0.5**2 + 1.5**2) / 2)
        assert torch.isfinite(torch.autograd.grad(out.losses["model"], z)[0]).all()


def test_two_outputs_count_by_their_difference():
    z = torch.tensor([[0.3], [-1.2], [2.0]], dtype=torch.float64)
    first = torch.tensor([[1.0], [0.5], [-2.0]], dtype=torch.float64)
    pair, y = torch.cat([first, first + z], dim=1), [1, 0, 1]
    one, two = (loss_of(SpectralDecoupling(), logits, y) for logits in (z, pair))
    torch.testing.assert_close(one, two, atol=1e-15, rtol=0)


def test_several_labels_and_classes_have_the_square_of_each_logit():
    z = torch.tensor([[1.0, -2.0, 0.5], [0.0, 3.0, 1.0]], dtype=torch.float64)
    squares = z.square().mean()
    several, classes = ([[1, 0, 1], [0, 0, 1]], Sizes((), 3, 1, (), True)), ([2, 0], Sizes((), 3, 1))
    for y, sizes in (several, classes):
        ours, erm = (loss_of(method, z, y, sizes) for method in (SpectralDecoupling(lam=0.5), ERM()))
        torch.testing.assert_close(ours - erm, 0.5 * squares, atol=1e-15, rtol=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("form", ["auto", "simple"])
@pytest.mark.parametrize(("outputs", "y", "sizes"), [
    (1, [1, 0, 1], BINARY),
    (2, [1, 0, 1], BINARY),
    (4, [3, 0, 1], Sizes((), 4, 1)),
    (2, [[1, 0], [0, 0], [1, 1]], Sizes((), 2, 1, (), True)),
])  # fmt: skip
def test_without_weight_it_is_erm(dtype, form, outputs, y, sizes):
    z = torch.randn(3, outputs, dtype=dtype, generator=torch.Generator().manual_seed(0))
    ours = loss_of(SpectralDecoupling(lam=0.0, form=form), z, y, sizes)
    assert torch.equal(ours, loss_of(ERM(), z, y, sizes))


def test_one_logit_serves_two_classes_with_targets():
    binary, three = Problem.from_labels([0, 1]), Problem.from_labels([0, 1, 2])
    labels = Problem.from_labels([[0, 1], [1, 1]])
    method = SpectralDecoupling()
    assert [method.outputs(problem) for problem in (binary, three, labels)] == [1, 3, 2]
    assert SpectralDecoupling(form="simple").outputs(binary) == 2
    scores = method.predict(fixed(torch.tensor([[0.0], [3.0]])), rows_of([0, 1]), {})
    assert scores.sum(1).tolist() == [1.0, 1.0]
    assert scores.argmax(1).tolist() == [0, 1]


def test_what_is_refused():
    three, labels = Problem.from_labels([0, 1, 2]), Problem.from_labels([[0, 1], [1, 1]])
    with pytest.raises(InputError, match="form='simple'"):
        SpectralDecoupling(form="per-class").check(three)
    with pytest.raises(InputError, match="balance"):
        SpectralDecoupling(balance=True).check(labels)
    for problem in (three, Problem.from_labels([0, 1])):
        with pytest.raises(InputError, match="ratio"):
            SpectralDecoupling(ratio_1=2.0).check(problem)
    SpectralDecoupling(form="simple", ratio_1=2.0).check(Problem.from_labels([0, 1]))
    SpectralDecoupling(ratio_1=2.0).check(labels)


def test_logits_end_near_their_targets():
    z = torch.zeros(4, 1, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.SGD([z], lr=0.1)
    for _ in range(40):
        optimiser.zero_grad()
        loss_of(SpectralDecoupling(lam=10.0), z, [0, 0, 1, 1]).backward()
        optimiser.step()
    torch.testing.assert_close(
        z[:, 0].detach(), torch.tensor([0.44, 0.44, 2.5, 2.5]).double(), atol=0.03, rtol=0
    )

"""IRM: slopes of the risk, their two penalties, and what a batch may lack."""

from __future__ import annotations

import pytest
import torch

from evenhand.errors import InputError
from evenhand.methods.erm import ERM
from evenhand.methods.irm import IRM, halves, slopes
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.methods.terms import mask_of, row_losses
from evenhand.records import Batch, Sizes

CASES = ("irm_11", "irm_12", "irm_14")


def in_order(case, order):
    """A golden case as one batch: the rows of its environments, taken in this order of environments."""
    places = [0] * len(case["inputs"]["environments"])
    rows = []
    for g in order:
        environment = case["inputs"]["environments"][g]
        rows.append((environment["x"][places[g]], environment["y"][places[g]], g))
        places[g] += 1
    x, y, g = zip(*rows, strict=True)
    return Batch(torch.tensor(x, dtype=torch.float64), torch.tensor(y), torch.tensor(g))


def orders(case):
    """One environment after the other; and mixed, with the rows of each in their own order."""
    lengths = [len(environment["y"]) for environment in case["inputs"]["environments"]]
    blocks = [g for g, length in enumerate(lengths) for _ in range(length)]
    mixed = torch.randperm(len(blocks), generator=torch.Generator().manual_seed(0)).tolist()
    return blocks, [blocks[place] for place in mixed]


def linear(case, sizes):
    """The golden linear network, its weights and the networks made of it."""
    weight, bias = (
        torch.tensor(case["inputs"][name], dtype=torch.float64, requires_grad=True)
        for name in ("linear_weight", "linear_bias")
    )
    return (weight, bias), Nets({"model": lambda x: (x @ weight.T + bias, None)}, sizes)


def fixed(logits, n_classes=2, n_groups=2, multi_label=False):
    return Nets({"model": lambda x: (logits, None)}, Sizes((), n_classes, n_groups, (), multi_label))


def rows_of(y, g):
    return Batch(torch.zeros(len(g), 1), torch.as_tensor(y), torch.as_tensor(g))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("mixed", [0, 1])
def test_a_step_is_that_of_domainbed_whatever_the_order_of_environments(golden, assert_close, name, mixed):
    case = next(case for case in golden("02b_domainbed_irm_groupdro_sd")["cases"] if case["name"] == name)
    expected, tolerance = case["expected"], case["tolerance"]
    batch = in_order(case, orders(case)[mixed])
    sizes = Sizes((), len(case["inputs"]["linear_bias"]), len(case["inputs"]["environments"]))
    (weight, bias), nets = linear(case, sizes)
    out = IRM(lam=case["parameters"]["penalty_weight"]).loss(nets, batch, {})
    gradients = torch.autograd.grad(out.losses["model"], (weight, bias))
    assert_close(out.losses["model"].item(), expected["loss"], tolerance)
    assert_close(out.logs["risk"].item(), expected["nll"], tolerance)
    assert_close(out.logs["penalty"].item(), expected["penalty"], tolerance)
    norm = torch.sqrt(sum(gradient.square().sum() for gradient in gradients))
    assert_close(norm.item(), expected["grad_norm"], tolerance)
    rate = case["parameters"]["lr"]
    assert_close((weight - rate * gradients[0]).tolist(), expected["weight_after"], tolerance)
    assert_close((bias - rate * gradients[1]).tolist(), expected["bias_after"], tolerance)


@pytest.mark.parametrize("name", CASES)
def test_both_penalties_of_each_environment(golden, assert_close, name):
    case = next(case for case in golden("02b_domainbed_irm_groupdro_sd")["cases"] if case["name"] == name)
    batch = in_order(case, orders(case)[1])
    groups = len(case["inputs"]["environments"])
    _, nets = linear(case, Sizes((), len(case["inputs"]["linear_bias"]), groups))
    forms = (("product", "penalty_per_env"), ("squared", "independent_squared_form_per_env"))
    for form, key in forms:
        alone = [
            IRM(form=form).loss(nets, batch._replace(g=torch.where(batch.g == g, g, -1)), {}).logs["penalty"]
            for g in range(groups)
        ]
        assert_close([penalty.item() for penalty in alone], case["expected"][key], case["tolerance"])
        together = IRM(form=form).loss(nets, batch, {}).logs["penalty"]
        assert_close(together.item(), sum(case["expected"][key]) / groups, case["tolerance"])


def test_slope_and_penalty_of_spec_d5():
    z, y = torch.tensor([[1.0], [-1.0]], dtype=torch.float64), torch.tensor([1, 0])
    assert slopes(z, y).mean().item() == pytest.approx(-0.268941, abs=1e-6)
    for form in ("squared", "product"):
        out = IRM(form=form).loss(fixed(z, n_groups=1), rows_of(y, [0, 0]), {})
        assert out.logs["penalty"].item() == pytest.approx(0.072329, abs=1e-6)


@pytest.mark.parametrize(("outputs", "labels"), [(1, 0), (4, 0), (3, 3)])
def test_the_closed_form_is_the_derivative_and_so_is_its_gradient(outputs, labels):
    source = torch.Generator().manual_seed(1)
    z = torch.randn(6, outputs, dtype=torch.float64, generator=source, requires_grad=True)
    y = torch.randint(0, 2 if labels else max(outputs, 2), (6, labels) if labels else (6,), generator=source)

    def by_autograd(z):
        scale = torch.ones(len(z), dtype=z.dtype, requires_grad=True)
        losses = row_losses(z * scale[:, None], y)
        return torch.autograd.grad(losses.sum(), scale, create_graph=True)[0]

    torch.testing.assert_close(slopes(z, y), by_autograd(z), atol=1e-14, rtol=0)
    (ours,) = torch.autograd.grad(slopes(z, y).square().sum(), z)
    (theirs,) = torch.autograd.grad(by_autograd(z).square().sum(), z)
    torch.testing.assert_close(ours, theirs, atol=1e-13, rtol=0)


def test_places_are_counted_within_each_environment():
    even, odd = halves(mask_of(torch.tensor([0, 1, 1, -1, 0, 1]), 3))
    assert even.nonzero().tolist() == [[0, 0], [1, 1], [5, 1]]
    assert odd.nonzero().tolist() == [[2, 1], [4, 0]]


def test_an_environment_of_one_row_has_a_risk_but_no_product():
    z = torch.tensor([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]], dtype=torch.float64)
    y = torch.tensor([0, 0, 1])
    out = IRM().loss(fixed(z), rows_of(y, [0, 0, 1]), {})
    losses, slope = row_losses(z, y), slopes(z, y)
    assert out.logs["risk"].item() == pytest.approx(((losses[0] + losses[1]) / 2 + losses[2]).item() / 2)
    assert out.logs["penalty"].item() == pytest.approx((slope[0] * slope[1]).item())


@pytest.mark.parametrize("form", ["product", "squared"])
def test_unknown_rows_are_left_out_and_a_batch_of_them_is_finite(form):
    z = torch.randn(6, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(2), requires_grad=True)
    y = torch.tensor([0, 1, 1, 0, 1, 0])
    known = IRM(form=form).loss(fixed(z[:4]), rows_of(y[:4], [1, 1, 1, 1]), {}).losses["model"]
    with_others = IRM(form=form).loss(fixed(z), rows_of(y, [1, 1, 1, 1, -1, -1]), {}).losses["model"]
    torch.testing.assert_close(with_others, known, atol=1e-14, rtol=0)
    nobody = IRM(form=form).loss(fixed(z), rows_of(y, [-1] * 6), {}).losses["model"]
    assert nobody.item() == 0.0
    assert torch.autograd.grad(nobody, z)[0].abs().max() == 0


def test_without_penalty_equal_environments_give_erm():
    z = torch.randn(6, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    batch, nets = rows_of([0, 1, 2, 0, 1, 2], [0, 1, 0, 1, 0, 1]), fixed(z, n_classes=3)
    ours, erm = (method.loss(nets, batch, {}).losses["model"] for method in (IRM(lam=0.0), ERM()))
    torch.testing.assert_close(ours, erm, atol=1e-15, rtol=0)


def test_the_weight_is_one_until_the_annealing_ends():
    z = torch.tensor([[2.0], [1.0]], dtype=torch.float64)
    method, batch = IRM(lam=7.0, anneal_steps=2), rows_of([1, 0], [0, 0])
    state, weights = method.init(Problem.from_labels([0, 1], [0, 0])), []
    for _ in range(4):
        out = method.loss(fixed(z, n_groups=1), batch, state)
        weights.append(((out.losses["model"] - out.logs["risk"]) / out.logs["penalty"]).item())
        state = out.state
    assert weights == pytest.approx([1, 1, 7, 7])
    assert state["step"].item() == 4


def test_several_labels_have_the_risk_of_their_mean():
    z = torch.tensor([[1.0, -2.0], [0.5, 1.0]], dtype=torch.float64)
    y = torch.tensor([[1, 0], [0, 1]])
    out = IRM(form="squared").loss(fixed(z, n_groups=1, multi_label=True), rows_of(y, [0, 0]), {})
    each = z * (torch.sigmoid(z) - y)
    assert out.logs["penalty"].item() == pytest.approx(each.mean().square().item())


def test_rows_of_an_epoch_and_strata():
    problem = Problem.from_labels(y=[0, 1, 1, 0], g=[0, 1, 0, -1])
    assert IRM().sampling(problem, 0).rows.tolist() == [0, 1, 2]
    assert IRM().sampling(Problem.from_labels([0, 1], [0, 1]), 0).rows is None
    drawn = IRM(uniform=True, groups_per_batch=4).sampling(problem, 0)
    assert (drawn.rows, drawn.strata.tolist(), drawn.strata_per_batch) == (None, [0, 1, 0, -1], 4)
    assert IRM(uniform=True, by="label-group").sampling(problem, 0).strata.tolist() == [0, 3, 1, -1]


def test_what_is_refused():
    with pytest.raises(InputError, match="needs the groups"):
        IRM().check(Problem.from_labels([0, 1]))
    with pytest.raises(InputError, match="did you mean 'squared'"):
        IRM(form="square").check(Problem.from_labels([0, 1], [0, 1]))


def two_environments():
    """Feature 0 agrees with the label in 3 of 4 rows, feature 1 in 9 or in 7 of 10, independently."""
    signs, counts = ((1, 1), (1, -1), (-1, 1), (-1, -1)), ((27, 3, 9, 1), (21, 9, 7, 3))
    cells = [(side, first, second, g) for g in (0, 1) for side in (-1, 1) for first, second in signs]
    times = torch.tensor([number for g in (0, 1) for _ in (-1, 1) for number in counts[g]])
    rows = torch.tensor([(side * a, side * b, side > 0, g) for side, a, b, g in cells]).repeat_interleave(
        times, 0
    )
    rows = rows[torch.randperm(len(rows), generator=torch.Generator().manual_seed(4))]
    return Batch(rows[:, :2].double(), rows[:, 2], rows[:, 3])


@pytest.mark.parametrize("form", ["squared", "product"])
def test_the_feature_that_agrees_less_in_one_environment_loses_weight(form):
    batch = two_environments()

    def share_of_the_second(method):
        weight = torch.full((2, 1), 0.5, dtype=torch.float64, requires_grad=True)
        nets = Nets({"model": lambda x: (x @ weight, None)}, Sizes((2,), 2, 2))
        optimiser = torch.optim.Adam([weight], lr=0.05)
        for _ in range(60):
            optimiser.zero_grad()
            method.loss(nets, batch, {}).losses["model"].backward()
            optimiser.step()
        return (weight[1] / weight.abs().sum()).item()

    shares = [
        share_of_the_second(method) for method in (ERM(), *(IRM(lam, form) for lam in (1.0, 20.0, 200.0)))
    ]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > 0.5  # ERM leans on the feature that agrees more often on the whole
    assert shares[-1] < shares[0] / 2

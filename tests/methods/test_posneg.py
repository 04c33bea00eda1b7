"""Class weights #neg/#pos: by hand, against torch's own weighted losses, over the rows that are in use."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from evenhand.methods import ERM, Batch, PosNegERM, PosNegResample, Problem
from evenhand.methods.posneg import posneg_loss, posneg_weights
from evenhand.methods.terms import label_losses

CLASSES = [0] * 6 + [1] * 3 + [2] * 1  # 4/6, 7/3, 9/1
LABELS = [[1, 0, 1], [1, 0, 1], [0, 1, 1], [1, 0, 1]]  # 1/3, 3/1, 0/4


def test_weights_by_hand() -> None:
    assert posneg_weights(Problem.from_labels(CLASSES)).tolist() == pytest.approx([4 / 6, 7 / 3, 9])
    assert posneg_weights(Problem.from_labels(LABELS)).tolist() == pytest.approx([1 / 3, 3, 0])


def test_what_training_lacks_has_no_weight_and_no_loss() -> None:
    absent = Problem.from_labels([[1, 0], [0, 0]])
    weights = posneg_weights(absent)
    assert weights.tolist() == [1.0, 0.0]
    z = torch.randn(2, 2, requires_grad=True)
    loss = posneg_loss(z, absent.y, weights)
    loss.backward()
    assert torch.isfinite(loss)
    assert (z.grad[:, 1] == 0).all()
    assert (z.grad[:, 0] != 0).all()


@pytest.mark.parametrize("labels", [CLASSES, LABELS], ids=["classes", "labels"])
def test_the_loss_and_its_gradient_are_those_of_torch(labels) -> None:
    problem = Problem.from_labels(labels)
    weights, y = posneg_weights(problem).double(), problem.y
    z = torch.randn(
        len(y), 3, dtype=torch.float64, generator=torch.Generator().manual_seed(3)
    ).requires_grad_()
    if problem.sizes.multi_label:  # `weight`, which is on both terms, and not `pos_weight`
        expected = functional.binary_cross_entropy_with_logits(z, y.double(), weight=weights)
        other = functional.binary_cross_entropy_with_logits(z, y.double(), pos_weight=weights)
        assert (expected - other).abs() > 0.01
    else:
        expected = functional.cross_entropy(z, y, weight=weights)
    found = posneg_loss(z, y, weights)
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(torch.autograd.grad(found, z), torch.autograd.grad(expected, z))


def test_a_weight_multiplies_positives_and_negatives_alike() -> None:
    z, w = torch.tensor([[0.3], [-1.2]]), torch.tensor([5.0])
    for y in ([[1], [1]], [[0], [0]], [[0], [1]]):
        plain = label_losses(z, torch.tensor(y)).mean()
        assert posneg_loss(z, torch.tensor(y), w) == pytest.approx(5 * plain.item())


def test_one_output_serves_two_classes(tools) -> None:
    problem = Problem.from_labels([0, 0, 0, 1])
    z = torch.tensor([[0.4], [-1.0], [0.2], [0.7]])
    two = torch.cat([torch.zeros_like(z), z], dim=1)
    state = PosNegERM().init(problem)
    one, other = (
        PosNegERM().loss(tools.logits(problem.sizes), Batch(x, problem.y, problem.g), state).losses["model"]
        for x in (z, two)
    )
    torch.testing.assert_close(one, other)


def test_equally_large_classes_are_erm(tools) -> None:
    problem = Problem.from_labels([0, 1, 0, 1])
    batch = Batch(torch.randn(4, 2), problem.y, problem.g)
    method, nets = PosNegERM(), tools.logits(problem.sizes)
    weighted = method.loss(nets, batch, method.init(problem)).losses["model"]
    torch.testing.assert_close(weighted, ERM().loss(nets, batch, {}).losses["model"])


@pytest.mark.parametrize("kind", [{}, {"n_classes": 4}, {"labels": 3}], ids=["binary", "classes", "labels"])
@pytest.mark.parametrize("method", [PosNegERM(), PosNegResample("under")])
def test_a_stack_is_its_runs(method, kind, tools) -> None:
    tools.assert_stacks(method, tools.problem(**kind), {})


def test_resampled_rows_are_the_rows_that_are_counted() -> None:
    """Class 0: 4 and 2 rows of the groups, class 1: 1 and 3; at most as many of one as of the other."""
    problem = Problem.from_labels([0] * 6 + [1] * 4, g=[0] * 4 + [1] * 2 + [0] + [1] * 3)
    under = PosNegResample("under")
    assert under.init(problem)["posneg"].tolist() == [2 / 4, 4 / 2]
    assert PosNegResample("under", ratio=2).init(problem)["posneg"].tolist() == pytest.approx([3 / 6, 6 / 3])
    over = PosNegResample("over")  # to 4 and 4, 3 and 3
    assert over.init(problem)["posneg"].tolist() == pytest.approx([6 / 8, 8 / 6])
    assert PosNegResample("balanced").init(problem)["posneg"].tolist() == pytest.approx([4 / 6, 6 / 4])


def test_every_run_has_the_same_chosen_rows_with_several_labels_too() -> None:
    draw = torch.Generator().manual_seed(0)
    y = (torch.rand(200, 3, generator=draw) < torch.tensor([0.5, 0.2, 0.7])).to(torch.int64)
    problem = Problem.from_labels(y, g=(torch.rand(200, generator=draw) < 0.3).to(torch.int64))
    method = PosNegResample("under", ratio=1)
    rows = method.sampling(problem, seed=0).rows
    assert torch.equal(rows, method.sampling(problem, seed=9).rows)
    positives = y[rows].sum(0)
    torch.testing.assert_close(method.init(problem)["posneg"], (len(rows) - positives) / positives)
    assert 0 < len(rows) < 200

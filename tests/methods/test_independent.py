"""Domain independent heads: who trains which, who decides, and heads that were never trained."""

from __future__ import annotations

import pytest
import torch

from evenhand.errors import InputError
from evenhand.methods.independent import DomainIndependent
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.methods.terms import row_losses
from evenhand.records import Batch

CLASSES = ("dd_di_inference_1", "dd_di_inference_2", "dd_di_inference_3")
LABELS = ("multilabel_21", "multilabel_22")
RULES = ("sum-logit", "sum-prob", "conditional")


def case_of(golden, name):
    return next(case for case in golden("04_domain_bias_mitigation")["cases"] if case["name"] == name)


def of_classes(case):
    inputs = case["inputs"]
    logits = torch.tensor(inputs["outputs_2n"], dtype=torch.float64, requires_grad=True)
    problem = Problem.from_labels(
        inputs["labels"], inputs["domains"], n_classes=case["parameters"]["n_classes"]
    )
    return logits, problem


def of_labels(case):
    """The first half of the outputs belongs to domain 1, which is our group 0."""
    inputs = case["inputs"]
    logits = torch.tensor(inputs["outputs_2n"], dtype=torch.float64, requires_grad=True)
    targets = torch.tensor(inputs["targets_last_column_is_domain"], dtype=torch.int64)
    return logits, Problem.from_labels(targets[:, :-1], 1 - targets[:, -1])


def nets_of(logits, problem):
    return Nets({"model": lambda x: (logits, None)}, problem.sizes)


def rows_of(problem):
    return Batch(torch.zeros(len(problem), 1), problem.y, problem.g, problem.a)


def scores_of(method, logits, problem, batch=None):
    return method.predict(nets_of(logits, problem), batch or rows_of(problem), method.init(problem))


@pytest.mark.parametrize("name", CLASSES)
def test_loss_and_rules_of_the_authors(golden, assert_close, name):
    case = case_of(golden, name)
    logits, problem = of_classes(case)
    expected = case["expected"]
    loss = DomainIndependent().loss(nets_of(logits, problem), rows_of(problem), {}).losses["model"]
    assert_close(loss.item(), expected["di_loss"], case["tolerance"])
    keys = {
        "sum-logit": "di2_sum_logits",
        "sum-prob": "independent_di_sum_of_own_softmax",
        "conditional": "di1_conditional",
    }
    for inference, key in keys.items():
        scores = scores_of(DomainIndependent(inference), logits, problem)
        assert scores.argmax(1).tolist() == expected[key]
        torch.testing.assert_close(scores.sum(1), torch.ones(len(scores), dtype=torch.float64))


@pytest.mark.parametrize("name", LABELS)
def test_loss_and_rules_of_the_authors_for_several_labels(golden, assert_close, name):
    case = case_of(golden, name)
    logits, problem = of_labels(case)
    expected, tolerance = case["expected"], case["tolerance"]
    loss = DomainIndependent().loss(nets_of(logits, problem), rows_of(problem), {}).losses["model"]
    assert_close(loss.item(), expected["di_loss"], tolerance)
    of = {rule: scores_of(DomainIndependent(rule), logits, problem) for rule in (*RULES, "max")}
    assert_close(of["conditional"].tolist(), expected["di_conditional"], tolerance)
    assert_close(of["max"].tolist(), expected["di_max"], tolerance)
    assert_close((2 * of["sum-prob"]).tolist(), expected["di_sum_prob"], tolerance)
    assert_close((2 * torch.logit(of["sum-logit"])).tolist(), expected["di_sum_logits"], tolerance)


def test_decisions_of_spec_c1():
    problem = Problem.from_labels(y=[0, 1, 0, 1], g=[0, 0, 1, 1])  # group 0 is colour, 1 is gray
    logits = torch.tensor([[2.0, 1.0, 0.0, 1.5]] * 2)
    batch = Batch(torch.zeros(2, 1), torch.tensor([0, 0]), torch.tensor([1, 0]))
    assert scores_of(DomainIndependent("conditional"), logits, problem, batch).argmax(1).tolist() == [1, 0]
    summed = scores_of(DomainIndependent(), logits, problem, batch)
    assert summed.argmax(1).tolist() == [1, 1]
    torch.testing.assert_close(summed[0].log().diff().item(), (2.5 - 2.0) / 2)


def test_a_row_trains_its_own_head_only_and_an_unknown_one_none():
    logits = torch.randn(
        4, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(0), requires_grad=True
    )
    problem = Problem.from_labels(y=[0, 1, 1, 0], g=[2, 0, 1, -1])
    loss = DomainIndependent().loss(nets_of(logits, problem), rows_of(problem), {}).losses["model"]
    own = torch.stack([logits[0, 4:], logits[1, :2], logits[2, 2:4]])
    torch.testing.assert_close(loss, row_losses(own, problem.y[:3]).mean())
    (gradient,) = torch.autograd.grad(loss, logits)
    touched = gradient.view(4, 3, 2).abs().sum(-1) > 0
    assert touched.nonzero().tolist() == [[0, 2], [1, 0], [2, 1]]


@pytest.mark.parametrize("decompose", [False, True])
def test_a_batch_of_unknown_rows_is_finite(decompose):
    logits = torch.ones(2, 4, requires_grad=True)
    problem = Problem.from_labels(y=[0, 1], g=[-1, -1], n_groups=2)
    problem = Problem(problem.sizes._replace(n_levels=(2,)), problem.y, problem.g, problem.a)
    method = DomainIndependent(decompose=decompose)
    loss = method.loss(nets_of(logits, problem), rows_of(problem), {}).losses["model"]
    assert loss.item() == 0
    assert torch.autograd.grad(loss, logits)[0].abs().max() == 0


@pytest.mark.parametrize("inference", RULES)
def test_heads_with_too_few_rows_are_not_heard(inference):
    problem = Problem.from_labels(y=[0, 1, 0, 1, 1], g=[0, 0, 2, 2, 3], n_groups=4)
    logits = torch.randn(5, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    known = rows_of(problem)
    for n_min, moved in ((1, slice(2, 4)), (2, slice(6, 8))):  # group 1 has no row, group 3 has one
        method, noisy = DomainIndependent(inference, n_min=n_min), logits.clone()
        noisy[:, moved] += torch.tensor([50.0, -50.0])
        torch.testing.assert_close(*(scores_of(method, z, problem, known) for z in (logits, noisy)))
    heard = logits.clone()
    heard[:, :2] += torch.tensor([50.0, -50.0])
    before, after = (scores_of(DomainIndependent(inference), z, problem, known) for z in (logits, heard))
    assert not torch.allclose(before, after)


def test_the_largest_probability_is_that_of_a_trained_head():
    problem = Problem.from_labels(y=[[0, 1], [1, 0]], g=[0, 2], n_groups=3)
    scores = scores_of(
        DomainIndependent("max"), torch.tensor([[-1.0, -3.0, 9.0, 9.0, -2.0, -2.0]] * 2), problem
    )
    torch.testing.assert_close(scores[0], torch.sigmoid(torch.tensor([-1.0, -2.0])))


def test_conditional_falls_back_to_the_sum_where_there_is_no_own_head():
    problem = Problem.from_labels(y=[0, 1, 0], g=[0, 2, 2], n_groups=3)
    logits = torch.randn(3, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    batch = Batch(torch.zeros(3, 1), problem.y, torch.tensor([-1, 1, 2]))  # unknown, never trained, trained
    summed, own = (
        scores_of(DomainIndependent(rule), logits, problem, batch) for rule in ("sum-logit", "conditional")
    )
    torch.testing.assert_close(own[:2], summed[:2])
    torch.testing.assert_close(own[2], torch.softmax(logits[2, 4:], dim=-1))
    assert DomainIndependent("conditional").asks().groups_at_test
    assert not DomainIndependent().asks().groups_at_test


@pytest.mark.parametrize("inference", RULES)
def test_decomposition_of_one_attribute_is_the_same_method(golden, inference):
    logits, problem = of_classes(case_of(golden, CLASSES[0]))
    whole, parts = DomainIndependent(inference), DomainIndependent(inference, decompose=True)
    losses = [
        method.loss(nets_of(logits, problem), rows_of(problem), {}).losses["model"]
        for method in (whole, parts)
    ]
    assert torch.equal(*losses)
    assert torch.equal(*(scores_of(method, logits, problem) for method in (whole, parts)))
    assert whole.outputs(problem) == parts.outputs(problem)


def test_decomposition_trains_a_head_for_each_known_attribute():
    a = torch.tensor([[1, 2], [0, -1], [-1, -1]])
    problem = Problem.from_labels(y=[1, 0, 1], g=[5, -1, -1], a=a)
    method = DomainIndependent(decompose=True)
    assert problem.sizes.n_levels == (2, 3)
    assert method.sampling(problem, 0).rows.tolist() == [0, 1]
    assert DomainIndependent().sampling(problem, 0).rows.tolist() == [0]
    assert method.outputs(problem) == 5 * 2
    logits = torch.randn(
        3, 10, dtype=torch.float64, generator=torch.Generator().manual_seed(3), requires_grad=True
    )
    loss = method.loss(nets_of(logits, problem), rows_of(problem), {}).losses["model"]
    heads = logits.view(3, 5, 2)
    chosen = torch.stack([heads[0, 1], heads[0, 4], heads[1, 0]])
    torch.testing.assert_close(loss, row_losses(chosen, torch.tensor([1, 1, 0])).mean())
    assert method.init(problem)["heads"].tolist() == [True, True, False, False, True]
    with pytest.raises(InputError, match="Batch"):
        method.loss(nets_of(logits, problem), rows_of(problem)._replace(a=None), {})
    scores = scores_of(DomainIndependent("conditional", decompose=True), logits, problem)
    torch.testing.assert_close(scores[0], torch.softmax((heads[0, 1] + heads[0, 4]) / 2, dim=-1))
    torch.testing.assert_close(scores[1], torch.softmax(heads[1, 0], dim=-1))
    torch.testing.assert_close(scores[2], torch.softmax(heads[2, [0, 1, 4]].mean(0), dim=-1))


def test_seven_binary_attributes_have_14_heads_instead_of_128():
    codes = torch.arange(128)
    a = torch.stack([codes // 2**place % 2 for place in range(7)], dim=1)
    problem = Problem.from_labels(codes % 2, codes, a)
    assert DomainIndependent().outputs(problem) == 128 * 2
    assert DomainIndependent(decompose=True).outputs(problem) == 14 * 2


def test_what_is_refused():
    problem = Problem.from_labels([0, 1, 1], [0, 1, 1])
    with pytest.raises(InputError, match="needs the groups"):
        DomainIndependent().check(Problem.from_labels([0, 1]))
    with pytest.raises(InputError, match="several labels"):
        DomainIndependent("max").check(problem)
    with pytest.raises(InputError, match="no head has more than 2"):
        DomainIndependent(n_min=3).check(problem)
    DomainIndependent("max").check(Problem.from_labels([[0, 1], [1, 1]], [0, 1]))

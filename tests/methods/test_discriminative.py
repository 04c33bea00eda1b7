"""Domain discriminative outputs: the joint loss and three ways to take the group out."""

from __future__ import annotations

import pytest
import torch

from evenhand.errors import InputError
from evenhand.methods.discriminative import DomainDiscriminative, bent
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.records import Batch, Sizes

CLASSES = ("dd_di_inference_1", "dd_di_inference_2", "dd_di_inference_3")
LABELS = ("multilabel_21", "multilabel_22")
RULES = {
    "sum-prob": "dd1_sum_prob",
    "max-prob-shift": "dd2_max_prob_prior_shift",
    "sum-prob-shift": "dd3_sum_prob_prior_shift",
}


def case_of(golden, name):
    return next(case for case in golden("04_domain_bias_mitigation")["cases"] if case["name"] == name)


def skewed(n_classes):
    """Training rows of which class 0, 2, ... are gray (group 1) in 19 of 20, the others colour (group 0)."""
    rows = [
        (y, g) for y in range(n_classes) for g in (0, 1) for _ in range(19 if (y % 2 == 0) == (g == 1) else 1)
    ]
    y, g = zip(*rows, strict=True)
    return Problem.from_labels(y, g)


def nets_of(logits, sizes):
    return Nets({"model": lambda x: (logits, None)}, sizes)


def rows_of(y, g):
    return Batch(torch.zeros(len(g), 1), torch.as_tensor(y), torch.as_tensor(g))


def scores_of(rule, logits, problem):
    method = DomainDiscriminative(rule)
    batch = rows_of([0] * len(logits), [-1] * len(logits))
    return method.predict(nets_of(logits, problem.sizes), batch, method.init(problem))


@pytest.mark.parametrize("name", CLASSES)
def test_loss_and_rules_of_the_authors(golden, assert_close, name):
    case = case_of(golden, name)
    inputs, expected = case["inputs"], case["expected"]
    logits = torch.tensor(inputs["outputs_2n"], dtype=torch.float64)
    problem, batch = skewed(10), rows_of(inputs["labels"], inputs["domains"])
    loss = DomainDiscriminative().loss(nets_of(logits, problem.sizes), batch, {}).losses["model"]
    assert_close(loss.item(), expected["dd_loss_softmax_2n"], case["tolerance"])
    for rule, key in RULES.items():
        scores = scores_of(rule, logits, problem)
        assert scores.argmax(1).tolist() == expected[key]
        torch.testing.assert_close(scores.sum(1), torch.ones(len(scores), dtype=torch.float64))
        accuracy = (scores.argmax(1) == batch.y).double().mean().item()
        assert_close(100 * accuracy, expected[f"{key}_accuracy_percent"], case["tolerance"])


def test_weights_are_those_of_the_authors_up_to_scale(golden, assert_close):
    theirs = case_of(golden, CLASSES[0])["parameters"]["prior_shift_weight"]
    ours = DomainDiscriminative("sum-prob-shift").init(skewed(10))["weights"]
    assert_close((ours.flatten() / 100).tolist(), theirs, 1e-6)


@pytest.mark.parametrize("name", LABELS)
def test_loss_and_sums_of_the_authors_for_several_labels(golden, assert_close, name):
    """The first half of the outputs belongs to domain 1, which is our group 0."""
    case = case_of(golden, name)
    logits = torch.tensor(case["inputs"]["outputs_2n"], dtype=torch.float64)
    targets = torch.tensor(case["inputs"]["targets_last_column_is_domain"], dtype=torch.int64)
    problem = Problem.from_labels(targets[:, :-1], 1 - targets[:, -1])
    batch = rows_of(problem.y, problem.g)
    loss = DomainDiscriminative().loss(nets_of(logits, problem.sizes), batch, {}).losses["model"]
    assert_close(loss.item(), case["expected"]["dd_loss"], case["tolerance"])
    sums = torch.tensor(case["expected"]["dd_sum_prob"], dtype=torch.float64)
    scores = scores_of("sum-prob", logits, problem)
    torch.testing.assert_close(scores[sums < 0.99], sums[sums < 0.99], atol=1e-9, rtol=0)
    assert torch.equal(scores.argsort(0), sums.argsort(0))
    assert scores.max() < 1


def test_scores_and_decisions_of_spec_c1():
    logits = torch.tensor([[0.08, 0.47, 0.40, 0.05]], dtype=torch.float64).log()
    expected = {
        "sum-prob": (0.48, 0.52),
        "max-prob-shift": (0.08 / 5, 0.05 / 5),
        "sum-prob-shift": (0.08 / 5 + 0.40 / 95, 0.47 / 95 + 0.05 / 5),
    }
    for rule, unscaled in expected.items():
        scores = scores_of(rule, logits, skewed(2))[0].tolist()
        assert scores == pytest.approx([value / sum(unscaled) for value in unscaled], abs=1e-7)
        assert scores.index(max(scores)) == (1 if rule == "sum-prob" else 0)


def test_a_pair_that_training_never_showed_has_no_weight():
    problem = Problem.from_labels(y=[0, 0, 1, 1, 1], g=[0, 0, 0, 1, 1])
    weights = DomainDiscriminative("max-prob-shift").init(problem)["weights"]
    assert weights.tolist() == [[1, 3], [0, 1.5]]
    for rule in ("max-prob-shift", "sum-prob-shift"):
        scores = scores_of(
            rule, torch.tensor([[0.0, 0.0, 9.0, 0.0]]), problem
        )  # (0, 1) is likeliest, never seen
        assert scores.argmax().item() == 1


@pytest.mark.parametrize("rule", RULES)
def test_extreme_outputs_and_an_unseen_class_stay_finite(rule):
    problem = Problem.from_labels(y=[0, 0, 1], g=[0, 0, 1], n_classes=3)
    logits = torch.tensor([[-1e4, -1e4, 0.0, -1e4, -1e4, 1e4], [1e4, 0.0, 0.0, 0.0, 0.0, 0.0]])
    scores = scores_of(rule, logits, problem)
    torch.testing.assert_close(scores.sum(1), torch.ones(2))
    assert (scores >= 0).all()


def test_unknown_rows_are_left_out_and_a_batch_of_them_is_finite():
    source = torch.Generator().manual_seed(0)
    for y, sizes in (([0, 2, 1, 1], Sizes((), 3, 2)), (torch.eye(4, 3), Sizes((), 3, 2, (), True))):
        z = torch.randn(4, 6, dtype=torch.float64, generator=source, requires_grad=True)
        method, y = DomainDiscriminative(), torch.as_tensor(y).long()
        known = method.loss(nets_of(z[:2], sizes), rows_of(y[:2], [0, 1]), {}).losses["model"]
        both = method.loss(nets_of(z, sizes), rows_of(y, [0, 1, -1, -1]), {}).losses["model"]
        torch.testing.assert_close(both, known, atol=1e-15, rtol=0)
        nobody = method.loss(nets_of(z, sizes), rows_of(y, [-1] * 4), {}).losses["model"]
        assert nobody.item() == 0
        assert torch.autograd.grad(nobody, z)[0].abs().max() == 0


def test_an_epoch_has_the_rows_of_known_group():
    known = DomainDiscriminative().sampling(Problem.from_labels([0, 1, 1], [1, -1, 0]), 0)
    assert known.rows.tolist() == [0, 2]


def test_a_bent_sum_is_itself_below_the_knee_and_keeps_order_above():
    sums = torch.linspace(0, 8, 4001, dtype=torch.float64)
    scores = bent(sums)
    assert torch.equal(scores[sums <= 0.99], sums[sums <= 0.99])
    assert (scores.diff() > 0).all()
    assert scores.max() < 1
    assert (scores - sums.clamp(max=1)).abs().max() <= 0.005 + 1e-12


def test_what_is_refused():
    labels = Problem.from_labels([[0, 1], [1, 1]], [0, 1])
    with pytest.raises(InputError, match="needs the groups"):
        DomainDiscriminative().check(Problem.from_labels([0, 1]))
    with pytest.raises(InputError, match="inference='sum-prob'"):
        DomainDiscriminative("sum-prob-shift").check(labels)
    DomainDiscriminative().check(labels)
    assert DomainDiscriminative().outputs(labels) == 4

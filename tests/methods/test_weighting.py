"""Importance weighting: the spec's weights by hand, Wang et al.'s numbers, and unknown groups."""

from __future__ import annotations

import itertools

import pytest
import torch

from evenhand.errors import InputError
from evenhand.methods.erm import ERM
from evenhand.methods.problem import Problem
from evenhand.methods.terms import label_losses
from evenhand.methods.weighting import SqrtWeightedERM, WeightedERM
from evenhand.records import Batch

BY = ("label-group", "within-label", "group")


def _weights(method: WeightedERM | SqrtWeightedERM, problem: Problem, tools) -> torch.Tensor:
    """The weights of the training rows."""
    batch = Batch(problem.y, problem.y, problem.g, problem.a)
    return method.weights(batch, tools.double(method.init(problem)), problem.sizes)[0]


@pytest.fixture
def people() -> Problem:
    """Spec D2: 10 rows, (M,Y) 5, (M,O) 3, (F,Y) 0, (F,O) 2."""
    a = torch.tensor([[0, 0]] * 5 + [[0, 1]] * 3 + [[1, 1]] * 2)
    return Problem.from_labels([0, 1] * 5, a[:, 0] * 2 + a[:, 1], a, n_groups=4)


def test_intersections_and_products_of_attributes_by_hand_d2(people: Problem, tools) -> None:
    plain = _weights(WeightedERM(by="group", normalise=False), people, tools)[:, 0]
    assert plain[[0, 5, 9]].tolist() == pytest.approx([2.0, 10 / 3, 5.0])
    product = _weights(WeightedERM(by="group", normalise=False, decompose=True), people, tools)[:, 0]
    assert product[[0, 9]].tolist() == [2.5, 10.0]


def test_a_product_is_finite_for_an_intersection_without_rows_d2(people: Problem, tools) -> None:
    method = WeightedERM(by="group", normalise=False, decompose=True)
    unseen = Batch(torch.zeros(1), torch.tensor([0]), torch.tensor([2]), torch.tensor([[1, 0]]))  # (F, Y)
    weights, counted = method.weights(unseen, method.init(people), people.sizes)
    assert weights.tolist() == [[10.0]]  # 10/2 * 10/5
    assert counted.all()


def test_normalised_weights_divide_by_the_number_of_groups_that_occur_d2(people: Problem, tools) -> None:
    weights = _weights(WeightedERM(by="group"), people, tools)[:, 0]
    assert weights[[0, 5, 9]].tolist() == pytest.approx([2 / 3, 10 / 9, 5 / 3])


def test_square_root_d2(people: Problem, tools) -> None:
    weights = _weights(SqrtWeightedERM(by="group", normalise=False), people, tools)[:, 0]
    assert weights[[0, 5, 9]].tolist() == pytest.approx([2**0.5, (10 / 3) ** 0.5, 5**0.5])


def test_cells_of_label_and_group_by_default_d2(tools) -> None:
    problem = Problem.from_labels(y=[0, 0, 0, 0, 1, 1, 1, 1], g=[0, 0, 0, 1, 0, 1, 1, 1])
    weights = _weights(WeightedERM(), problem, tools)[:, 0]
    expected = [8 / (n * 4) for n in (3, 3, 3, 1, 1, 3, 3, 3)]  # w = n / (n_{y,g} * cells)
    assert weights.tolist() == pytest.approx(expected)


@pytest.mark.parametrize("kind", [WeightedERM, SqrtWeightedERM])
@pytest.mark.parametrize(("by", "decompose"), list(itertools.product(BY, (False, True))))
@pytest.mark.parametrize("labels", [0, 3])
def test_weights_have_mean_one_over_the_training_rows(
    tools, kind, by: str, decompose: bool, labels: int
) -> None:
    problem = tools.problem(3, labels=labels)
    weights = _weights(kind(by=by, decompose=decompose), problem, tools)
    known = problem.g >= 0
    assert weights[known].mean(0).tolist() == pytest.approx([1.0] * weights.shape[1], abs=1e-6)
    assert not weights[~known].any()


@pytest.mark.parametrize("by", BY)
@pytest.mark.parametrize("labels", [0, 3])
def test_with_one_attribute_a_product_is_the_plain_weight(tools, by: str, labels: int) -> None:
    both = tools.problem(3, labels=labels)
    problem = Problem.from_labels(both.y, both.a[:, 1], n_classes=3)
    plain, product = (_weights(WeightedERM(by=by, decompose=flag), problem, tools) for flag in (False, True))
    assert torch.allclose(plain, product, rtol=1e-6)


def test_cifar_10s_sample_weights(golden, assert_close, tools) -> None:
    """Golden 04 and spec part F: N_c / (2 N_{c,d}), minority 10 and majority .5263."""
    cases = [
        case for case in golden("04_domain_bias_mitigation")["cases"] if "sample_weights" in case["name"]
    ]
    assert len(cases) == 2
    for case in cases:
        counts = torch.tensor(case["inputs"]["counts_colour_gray_per_class"])
        cells = torch.arange(counts.numel()).repeat_interleave(counts.flatten())
        problem = Problem.from_labels(cells // 2, cells % 2)
        weights = _weights(WeightedERM(by="within-label"), problem, tools)[:, 0]
        expected = torch.tensor(case["expected"]["weight_colour_gray_per_class"]).flatten()[cells]
        assert_close(weights, expected, case["tolerance"])
        assert_close(weights.sum(), case["expected"]["sum_of_all_weights"], case["tolerance"])


def test_a_weight_for_each_label(golden, assert_close, tools) -> None:
    """Golden 04: Wang et al.'s weights and loss; they sum over labels where we take the mean."""
    cases = [case for case in golden("04_domain_bias_mitigation")["cases"] if "multilabel" in case["name"]]
    assert len(cases) == 2
    for case in cases:
        table = torch.tensor(case["inputs"]["targets_last_column_is_domain"])
        problem = Problem.from_labels(table[:, :-1].long(), table[:, -1].long())
        method, state = WeightedERM(), tools.double(WeightedERM().init(problem))
        weights, _ = method.weights(Batch(table, problem.y, problem.g), state, problem.sizes)
        assert_close(weights.T, case["expected"]["per_attribute_training_weight"], case["tolerance"])
        logits = torch.tensor(case["inputs"]["outputs_2n"], dtype=torch.float64)[:, :3]
        out = method.loss(tools.logits(problem.sizes), Batch(logits, problem.y, problem.g), state)
        expected = case["expected"]["weighting_loss_sum_over_attributes"]
        assert_close(out.losses["model"] * 3, expected, case["tolerance"])


def test_one_weight_a_row_with_several_labels(tools) -> None:
    problem = Problem.from_labels(y=[[1, 0], [1, 1], [0, 0], [0, 1]], g=[0, 0, 0, 1])
    logits = torch.randn(4, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    method = WeightedERM(by="group")
    batch = Batch(logits, problem.y, problem.g)
    out = method.loss(tools.logits(problem.sizes), batch, tools.double(method.init(problem)))
    weights = torch.tensor([4 / 6, 4 / 6, 4 / 6, 4 / 2], dtype=torch.float64)
    expected = (weights * label_losses(logits, problem.y).mean(1)).mean()
    assert float(out.losses["model"]) == pytest.approx(float(expected), abs=1e-7)


@pytest.mark.parametrize("by", BY)
@pytest.mark.parametrize("labels", [0, 2])
def test_equal_cells_are_erm_exactly(tools, by: str, labels: int) -> None:
    y = torch.tensor([0, 1] * 6)
    problem = Problem.from_labels(torch.stack([y, 1 - y], 1) if labels else y, [0] * 4 + [1] * 4 + [2] * 4)
    batch = tools.batch(problem, torch.arange(12), seed=3)
    batch = batch._replace(x=batch.x[:, :2])
    method, nets = WeightedERM(by=by), tools.logits(problem.sizes)
    assert torch.equal(
        method.loss(nets, batch, method.init(problem)).losses["model"],
        ERM().loss(nets, batch, {}).losses["model"],
    )


def test_rows_of_unknown_group_are_dropped_or_have_weight_one(tools) -> None:
    problem = Problem.from_labels(y=[0, 1, 0, 1], g=[0, 0, 1, -1])
    logits = torch.tensor([[1.0, 0.0], [0.5, 0.0], [0.0, 2.0], [0.0, 3.0]], dtype=torch.float64)
    batch, nets = Batch(logits, problem.y, problem.g), tools.logits(problem.sizes)
    drop, keep = WeightedERM(by="group"), WeightedERM(by="group", unknown="keep")
    state = tools.double(drop.init(problem))
    known = batch._replace(x=logits[:3], y=problem.y[:3], g=problem.g[:3])
    mean = drop.loss(nets, known, state).losses["model"]
    assert float(drop.loss(nets, batch, state).losses["model"]) == pytest.approx(float(mean))
    last = torch.nn.functional.cross_entropy(logits[3:], problem.y[3:])
    assert float(keep.loss(nets, batch, state).losses["model"]) == pytest.approx(float((3 * mean + last) / 4))
    assert drop.sampling(problem, 0).rows.tolist() == [0, 1, 2]
    assert keep.sampling(problem, 0).rows is None


@pytest.mark.parametrize("shape", [{"n_classes": 2}, {"n_classes": 3}, {"labels": 3}])
@pytest.mark.parametrize(("by", "decompose"), list(itertools.product(BY, (False, True))))
def test_stacked_equals_single(tools, by: str, decompose: bool, shape: dict[str, int]) -> None:
    for unknown in ("drop", "keep"):
        method = SqrtWeightedERM(by=by, decompose=decompose, unknown=unknown)
        tools.assert_stacks(method, tools.problem(**shape), {})


def test_decompose_without_attributes_is_told(tools) -> None:
    problem = tools.problem()
    method = WeightedERM(decompose=True)
    batch = tools.batch(problem, torch.arange(4), 0)._replace(a=None)
    with pytest.raises(InputError, match="needs the codes of the attributes"):
        method.weights(batch, method.init(problem), problem.sizes)

"""The contract's own parts: problems, networks as a method sees them, building blocks, fields, names."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
import torch
from torch.nn import functional

from evenhand.data.registry import load
from evenhand.errors import InputError
from evenhand.methods.base import Method, float_fields
from evenhand.methods.erm import ERM
from evenhand.methods.fields import check_fields, choice, number, switch
from evenhand.methods.group_dro import GroupDRO
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.methods.registry import METHODS, method_of
from evenhand.methods.terms import (
    cells_of,
    group_means,
    known_rows,
    label_losses,
    mask_of,
    probabilities,
    row_losses,
    weighted_mean,
)
from evenhand.nets.mlp import MLP
from evenhand.records import Batch, Needs, Sizes


@dataclass(frozen=True)
class Wanting(ERM):
    """A method with fields of every kind."""

    key: ClassVar[str] = "wanting"
    lam: float = number(1.0, "a weight", at_most=10.0)
    shift: float = number(0.0, "any number", at_least=None)
    rounds: int = number(3, "how often", at_least=1)
    form: str = choice("soft", ("soft", "hard"), "how")
    loud: bool = switch(False, "whether")


# -- fields and checks ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"lam": -0.1}, "'lam' of 'wanting' must be a number of at least 0.0 and at most 10.0, not -0.1"),
        ({"lam": 10.5}, "at most 10.0, not 10.5"),
        ({"lam": math.nan}, "not nan"),
        ({"lam": math.inf}, "not inf"),
        ({"lam": "1"}, "must be a number of at least 0.0 and at most 10.0, not '1'"),
        ({"lam": True}, "not True"),
        ({"shift": math.inf}, "'shift' of 'wanting' must be a number, not inf"),
        ({"rounds": 0}, "'rounds' of 'wanting' must be a whole number of at least 1, not 0"),
        ({"rounds": 2.5}, "must be a whole number of at least 1, not 2.5"),
        ({"form": "sofd"}, "'form' of 'wanting' must be one of soft, hard, not 'sofd'; did you mean 'soft'"),
    ],
)
def test_values_outside_a_fields_bounds_are_refused(values, message):
    with pytest.raises(InputError, match=message):
        check_fields(replace(Wanting(), **values))


def test_values_within_bounds_pass():
    for values in (
        {},
        {"lam": 0.0},
        {"lam": 10.0},
        {"lam": 3},
        {"shift": -7.0},
        {"rounds": 1},
        {"loud": True},
    ):
        check_fields(replace(Wanting(), **values))


def test_float_fields_are_those_declared_so_whatever_was_given():
    assert float_fields(Wanting()) == float_fields(Wanting(lam=2)) == ("lam", "shift")
    assert float_fields(ERM()) == ()


PROBLEM = Problem.from_labels([0, 1, 2], g=[0, 1, -1])


@pytest.mark.parametrize(
    ("needs", "problem", "message"),
    [
        (Needs(groups=True), Problem.from_labels([0, 1], g=[-1, -1]), "needs the groups of training rows"),
        (Needs(groups=True), Problem.from_labels([0, 1]), "name attributes to protect"),
        (Needs(single_label=True), Problem.from_labels([[0, 1, 1]]), "this task has 3 labels"),
        (Needs(binary=True), PROBLEM, "is for two classes; this task has 3"),
        (Needs(binary=True), Problem.from_labels([[0, 1]]), "for two classes; this task has 2 labels a row"),
    ],
)  # fmt: skip
def test_a_task_that_lacks_what_a_method_needs_is_refused(needs, problem, message):
    class Needing(Wanting):
        pass

    Needing.needs = needs
    with pytest.raises(InputError, match=f"the method 'wanting' .*{message}|{message}"):
        Needing().check(problem)
    Wanting().check(problem)


def test_the_defaults_of_the_contract():
    method = ERM()
    assert method.init(PROBLEM) == {}
    assert method.outputs(PROBLEM) == 3
    assert method.extra(PROBLEM, 4) == {}
    assert method.players() == {"model": ("model",)}
    assert [phase.name for phase in method.phases()] == ["train"]
    assert method.noise(PROBLEM) == {}
    assert all(part is None for part in method.sampling(PROBLEM, 0)[:3])
    assert method.after("train", PROBLEM, torch.zeros(3, 3), {"a": 1}) == {"a": 1}
    assert method.combine({("model", "model"): {}}) == {("model", "model"): {}}
    assert method.constrain({"model": {}}, {}) == {"model": {}}
    assert method.asks() == method.needs == Needs()
    with pytest.raises(TypeError, match="abstract"):
        Method()


# -- problems ------------------------------------------------------------------------------------------------


def test_counts_of_a_problem_by_hand():
    problem = Problem.from_labels(
        y=[0, 0, 1, 1, 1, 0], g=[0, 1, 1, 1, -1, 3], a=[[0, 0], [0, 1], [0, 1], [0, 1], [-1, 1], [1, 1]]
    )
    assert problem.sizes == Sizes((), 2, 4, (2, 2), False)
    assert problem.group_counts().tolist() == [1, 3, 0, 1]  # of which nobody is left out but the unknown
    assert problem.cell_counts().tolist() == [[1, 0], [1, 2], [0, 0], [1, 0]]
    assert [counts.tolist() for counts in problem.level_counts()] == [[4, 1], [1, 5]]
    assert len(problem) == 6


def test_counts_of_several_labels_are_positives_by_group():
    problem = Problem.from_labels([[1, 0], [1, 1], [0, 1], [1, 1]], g=[0, 0, 1, -1])
    assert problem.sizes.multi_label
    assert problem.cell_counts().tolist() == [[2, 1], [0, 1]]


@pytest.mark.parametrize("kind", [list, np.asarray, torch.tensor, lambda v: np.asarray(v, dtype=np.uint8)])
def test_labels_of_any_kind_become_whole_numbers(kind):
    problem = Problem.from_labels(kind([0, 1, 1]), kind([0, 1, 0]))
    assert (problem.y.dtype, problem.g.dtype, problem.a.dtype) == (torch.int64,) * 3
    assert problem.y.tolist() == [0, 1, 1]


def test_numbers_that_are_no_codes_are_refused():
    assert Problem.from_labels([0.0, 1.0]).y.tolist() == [0, 1]
    with pytest.raises(ValueError, match="labels must be whole-number codes"):
        Problem.from_labels([0.2, 0.8])


def test_known_numbers_of_classes_and_groups_are_taken():
    problem = Problem.from_labels([0, 0], g=[0, 0], n_classes=3, n_groups=5, inputs=(7,))
    assert problem.sizes == Sizes((7,), 3, 5, (1,), False)
    assert problem.cell_counts().shape == (5, 3)


def test_the_problem_of_a_task():
    task = load("synthetic", n_train=50, n_validation=20, n_test=5, attributes=2, scarcity=0.3, d=6)
    problem = Problem.of(task, ["a1", "a0"], "validation")
    rows = task.rows("validation").numpy()
    groups = task.groups(["a1", "a0"])
    assert problem.sizes == Sizes((6,), 2, 4, (2, 2), False)
    assert problem.g.tolist() == groups.ids[rows].tolist()
    assert problem.a[:, 0].tolist() == task.attribute("a1").codes[rows].tolist()
    assert problem.y.tolist() == task.y[rows].tolist()
    nobody = Problem.of(task, [])
    assert nobody.sizes == Sizes((6,), 2, 1, (), False)
    assert (len(nobody), nobody.g.unique().tolist(), nobody.a.shape) == (50, [-1], (50, 0))


# -- networks ------------------------------------------------------------------------------------------------


def test_noise_is_handed_to_its_own_network_alone():
    seen = {}

    def network(name):
        def call(x, **options):
            seen[name] = options
            return x

        return call

    masks = {"model": {"dropout1": torch.ones(2)}}
    nets = Nets({"model": network("model"), "critic": network("critic")}, PROBLEM.sizes, noise=masks)
    nets["model"](1)
    nets["critic"](1, extra=3)
    assert seen == {"model": {"noise": masks["model"]}, "critic": {"extra": 3}}
    nets["model"](1, dropout=False)
    assert seen["model"] == {}
    assert (list(nets), len(nets)) == (["model", "critic"], 2)
    with pytest.raises(KeyError):
        nets["teacher"]


def test_modules_of_ones_own():
    net = MLP(4, 3, (5,), dropout=0.5)
    nets = Nets.of(net, PROBLEM.sizes, critic=torch.nn.Linear(5, 2))
    logits, features = nets["model"](torch.ones(2, 4))
    assert nets["critic"](features).shape == (2, 2)
    assert torch.equal(logits, net(torch.ones(2, 4))[0])
    plain = Nets.of(torch.nn.Linear(4, 3), PROBLEM.sizes)
    assert plain["model"](torch.ones(2, 4))[1] is None
    assert (nets.phase, nets.turn) == ("train", ("model",))


# -- building blocks -----------------------------------------------------------------------------------------


def test_row_losses_are_exact_and_torchs_own():
    source = torch.Generator().manual_seed(0)
    z = 30 * torch.randn(200, 3, generator=source, dtype=torch.float64)
    y, labels = torch.randint(0, 3, (200,), generator=source), torch.randint(0, 2, (200, 3), generator=source)
    assert torch.allclose(row_losses(z, y), functional.cross_entropy(z, y, reduction="none"))
    wrong = ((1 - 2 * labels) * z).flatten().tolist()
    exact = [math.log1p(math.exp(-abs(value))) + max(value, 0.0) for value in wrong]
    expected = torch.tensor(exact, dtype=torch.float64).view(200, 3)
    assert torch.allclose(label_losses(z, labels), expected, rtol=1e-13, atol=0)
    theirs = functional.binary_cross_entropy_with_logits(z, labels.double(), reduction="none")
    assert torch.allclose(theirs, expected, atol=1e-12)
    assert torch.allclose(row_losses(z, labels), expected.mean(1), rtol=1e-12)
    assert torch.allclose(row_losses(z[:, :1], labels[:, 0]), expected[:, 0], rtol=1e-12)
    leaf = z.clone().requires_grad_()
    (grad,) = torch.autograd.grad(label_losses(leaf, labels).sum(), leaf)
    assert torch.allclose(grad, torch.sigmoid(z) - labels, atol=1e-13)


def test_scores_from_outputs():
    z = torch.tensor([[0.3, -1.0, 2.0]], dtype=torch.float64)
    assert torch.allclose(probabilities(z, Sizes((), 3, 1)), torch.softmax(z, -1))
    assert torch.allclose(probabilities(z, Sizes((), 3, 1, (), True)), torch.sigmoid(z))
    one = probabilities(z[:, :1], Sizes((), 2, 1))
    assert torch.allclose(one, torch.softmax(torch.tensor([[0.0, 0.3]]).double(), -1))


def test_group_means_leave_out_the_unknown_and_mark_the_absent():
    values = torch.tensor([1.0, 3.0, 10.0, 99.0], requires_grad=True)
    found = group_means(values, mask_of(torch.tensor([2, 2, 0, -1]), 3))
    assert found.means.tolist() == [10.0, 0.0, 2.0]
    assert found.present.tolist() == [True, False, True]
    assert found.counts.tolist() == [1.0, 0.0, 2.0]
    (grad,) = torch.autograd.grad(found.means.sum(), values)
    assert grad.tolist() == [0.5, 0.5, 1.0, 0.0]


def test_weighted_mean_of_nothing_is_zero_and_so_is_its_gradient():
    values = torch.tensor([1.0, 3.0], requires_grad=True)
    assert weighted_mean(values, torch.tensor([1.0, 3.0])).item() == 2.5
    nothing = weighted_mean(values, torch.zeros(2))
    assert nothing.item() == 0
    (grad,) = torch.autograd.grad(nothing, values)
    assert grad.tolist() == [0.0, 0.0]


def test_cells():
    batch = Batch(torch.zeros(4, 1), torch.tensor([0, 1, 2, 1]), torch.tensor([0, 1, 1, -1]))
    sizes = Sizes((1,), 3, 2)
    assert cells_of(batch, sizes)[0].tolist() == [0, 1, 1, -1]
    cells, n = cells_of(batch, sizes, "label-group")
    assert (cells.tolist(), n) == ([0, 4, 5, -1], 6)
    several = batch._replace(y=torch.zeros(4, 3, dtype=torch.int64))
    assert cells_of(several, sizes._replace(multi_label=True), "label-group")[1] == 2


def test_known_rows():
    assert known_rows(torch.tensor([True, True])) is None
    assert known_rows(torch.tensor([True, False, True])).tolist() == [0, 2]
    assert known_rows(torch.tensor([False])).tolist() == []


# -- names ---------------------------------------------------------------------------------------------------


def test_every_method_is_found_by_its_key():
    assert all(method_of(key) == kind() for key, kind in METHODS.items())
    assert all(kind.key == key and kind.title and kind.citation for key, kind in METHODS.items())
    wanted = {"erm", "w-erm", "w-sqrt-erm", "resample", "gdro", "irm", "sd", "jtt", "ind", "disc", "gap"}
    assert wanted <= set(METHODS)


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("grdo", {}, "there is no method 'grdo'; did you mean 'gdro'"),
        ("zzzzz", {}, "there is no method 'zzzzz'; Known: erm"),
        ("gdro", {"etta": 1.0}, "the method 'gdro' has no field 'etta'; did you mean 'eta'"),
        ("erm", {"lam": 1.0}, "the method 'erm' has no field 'lam'; it has none"),
        ("gdro", {"eta": "much"}, "'eta' of 'gdro' must be a float, not 'much'"),
        ("gdro", {"balanced": 1}, "'balanced' of 'gdro' must be a bool, not 1"),
        ("jtt", {"identify_epochs": 1.0}, "'identify_epochs' of 'jtt' must be a int, not 1.0"),
    ],
)
def test_wrong_names_and_values_are_told(name, values, message):
    with pytest.raises(InputError, match=message):
        method_of(name, **values)


def test_whole_numbers_are_numbers():
    assert method_of("gdro", eta=2) == GroupDRO(eta=2.0)
    assert isinstance(method_of("gdro", eta=2).eta, float)

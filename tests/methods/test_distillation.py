"""Distillation: divergences against outside numbers, who teaches whom, a teacher at rest, a student alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import nn

import evenhand
from evenhand.errors import InputError
from evenhand.methods import METHODS, DistilledIndependent, Nets, Problem, method_of
from evenhand.methods.distillation_terms import divergences
from evenhand.methods.distilled import DistilledIndependentByAttribute, DistilledSqrtWeightedERM
from evenhand.methods.terms import row_losses, weighted_mean
from evenhand.nets import NetSpec
from evenhand.nets.wrap import as_net
from evenhand.records import Batch
from evenhand.train.recipe import Recipe
from evenhand.train.runs import Run
from evenhand.train.trainer import Trainer

KEYS = ("ind-kd", "ind-ad-kd", "w-sqrt-erm-kd")


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def nets_of(student, teacher, sizes, phase: str = "distil") -> Nets:
    return Nets(
        {"model": lambda x: (student, None), "teacher": lambda x: (teacher, None)}, sizes, phase=phase
    )


def test_the_divergence_of_the_distillation_code(golden, assert_close) -> None:
    """Golden 01: loss and gradient of the student, T = 4, 2 and 1."""
    cases = [case for case in golden("01_distillation_losses")["cases"] if case["parameters"]["loss"] == "KD"]
    assert {case["parameters"]["T"] for case in cases} == {1.0, 2.0, 4.0}
    for case in cases:
        inputs, expected = case["inputs"], case["expected"]
        student = torch.tensor(inputs["student_logits"], dtype=torch.float64, requires_grad=True)
        teacher = torch.tensor(inputs["teacher_logits"], dtype=torch.float64)
        loss = divergences(teacher, student, case["parameters"]["T"], multi_label=False).mean()
        (gradient,) = torch.autograd.grad(loss, student)
        assert_close(loss.item(), expected["loss"], case["tolerance"])
        assert_close(gradient.norm().item(), expected["grad_norm_student"], case["tolerance"])
        assert_close(gradient[0].tolist(), expected["grad_student_first_row"], case["tolerance"])


@pytest.mark.parametrize("temperature", [1.0, 3.0])
def test_a_label_is_a_choice_between_two_classes(temperature) -> None:
    """The divergence of one logit is that of the pair (0, z): torch's own, and finite at the extremes."""
    teacher, student = 4 * drawn(20, 3), 4 * drawn(20, 3, seed=1)
    ours = divergences(teacher, student, temperature, multi_label=True)
    pairs = [torch.stack([torch.zeros_like(z), z], -1) / temperature for z in (teacher, student)]
    said, guessed = (pair.log_softmax(-1) for pair in pairs)
    theirs = nn.functional.kl_div(guessed, said, reduction="none", log_target=True).sum(-1).mean(-1)
    torch.testing.assert_close(ours, temperature**2 * theirs, atol=1e-12, rtol=0)
    far = divergences(torch.full((1, 2), 900.0), torch.full((1, 2), -900.0), 1.0, multi_label=True)
    assert far.item() == pytest.approx(900.0)  # log sigmoid(900) - log sigmoid(-900)


@pytest.mark.parametrize("labels", [0, 3])
def test_the_student_s_loss_by_hand(labels, tools) -> None:
    """Own head where the group is known and trained, mean logits of the trained heads elsewhere."""
    problem = tools.problem(n_classes=3, labels=labels, seed=3)
    problem = replace(problem, g=torch.where(problem.g == 4, -1, problem.g))  # nobody trains head 4
    student, heads = drawn(len(problem), 3), drawn(len(problem), 18, seed=1)
    method = DistilledIndependent(lam=0.7, temperature=2.0)
    asked = problem.g.clone()
    asked[:3] = 4  # a group that training did not have
    batch = Batch(torch.zeros(len(problem), 1), problem.y, asked, problem.a)
    out = method.loss(nets_of(student, heads, problem.sizes), batch, method.init(problem))
    split = heads.view(len(problem), 6, 3)
    trained = [place for place in range(6) if place != 4]
    taught = torch.stack([
        split[row, asked[row]] if int(asked[row]) in trained else split[row, trained].mean(0)
        for row in range(len(problem))
    ])  # fmt: skip
    apart = divergences(taught, student, 2.0, multi_label=labels > 0)
    expected = row_losses(student, problem.y).mean() + 0.7 * apart.mean()
    torch.testing.assert_close(out.losses["model"], expected, atol=1e-12, rtol=0)
    dropping = replace(method, unlabelled="drop")
    less = dropping.loss(nets_of(student, heads, problem.sizes), batch, method.init(problem))
    known = (asked >= 0).double()
    both = row_losses(student, problem.y) + 0.7 * apart
    torch.testing.assert_close(less.losses["model"], weighted_mean(both, known), atol=1e-12, rtol=0)


def test_who_learns_from_which_rows() -> None:
    problem = Problem.from_labels([0, 1, 0, 1], g=[0, -1, 1, -1], a=[[0, 0], [1, -1], [0, 1], [-1, -1]])
    rows = {
        key: [METHODS[key]().sampling(problem, 0, phase).rows for phase in ("teach", "distil")]
        for key in KEYS
    }
    told = {key: [None if one is None else one.tolist() for one in pair] for key, pair in rows.items()}
    assert told == {"ind-kd": [[0, 2], None], "ind-ad-kd": [[0, 1, 2], None], "w-sqrt-erm-kd": [None, [0, 2]]}
    assert DistilledIndependent(unlabelled="drop").sampling(problem, 0, "distil").rows.tolist() == [0, 2]
    assert DistilledSqrtWeightedERM(unknown="keep").sampling(problem, 0, "distil").rows is None


def test_without_divergence_the_weighted_student_is_w_sqrt_erm(tools) -> None:
    for labels in (0, 3):
        problem = tools.problem(n_classes=3, labels=labels)
        student, teacher = drawn(len(problem), 3), drawn(len(problem), 3, seed=1)
        batch = Batch(torch.zeros(len(problem), 1), problem.y, problem.g, problem.a)
        method, plain = DistilledSqrtWeightedERM(lam=0.0), METHODS["w-sqrt-erm"]()
        state = tools.double(plain.init(problem))
        nets = nets_of(student, teacher, problem.sizes)
        weighted = plain.loss(nets, batch, state).losses["model"]
        assert torch.equal(method.loss(nets, batch, state).losses["model"], weighted)
        known = (problem.g >= 0).double()
        apart = weighted_mean(divergences(teacher, student, 1.0, multi_label=labels > 0), known)
        full = replace(method, lam=1.0).loss(nets, batch, state).losses["model"]
        torch.testing.assert_close(full, weighted + apart, atol=1e-12, rtol=0)


@pytest.fixture(scope="module")
def task():
    return evenhand.load(
        "synthetic", n_train=150, n_validation=40, n_test=60, attributes=2, scarcity=0.2, seed=1
    )


@pytest.mark.parametrize("key", KEYS)
def test_the_teacher_learns_as_the_plain_method_and_then_rests(key, task) -> None:
    """The teacher of two epochs is `ind` (or ERM) trained alike from the same weights, and stays so."""
    plain = {"ind-kd": "ind", "ind-ad-kd": "ind-ad", "w-sqrt-erm-kd": "erm"}[key]
    recipe, net = Recipe(epochs=2, batch_size=32, precision="float64", rate=0.01), NetSpec("mlp", widths=(8,))
    run = {"protect": ["a0", "a1"], "stacked": False}
    whole = Trainer([Run(METHODS[key](), 3)], [task], net, recipe, **run)
    alone = Trainer([Run(METHODS[plain](), 3)], [task], net, recipe, **run)
    start = {name: value.detach().clone() for name, value in whole.stack.parameters["teacher"].items()}
    with torch.no_grad():
        for name, value in alone.stack.parameters["model"].items():
            value.copy_(start[name])
    whole.fit()
    alone.fit()
    for name, value in alone.stack.parameters["model"].items():
        assert torch.allclose(whole.stack.parameters["teacher"][name], value, atol=1e-12, rtol=0)
        assert not torch.equal(value, start[name])


def test_the_student_alone_predicts(task) -> None:
    fitted = evenhand.fit("mlp", "ind-kd", task, protect=["a0", "a1"], epochs=1, seeds=2)
    x = task.x[task.rows("test")]
    before = fitted.scores_of_runs(x)
    with torch.no_grad():
        for value in fitted.models[0].predictor.stack.parameters["teacher"].values():
            value.add_(1.0)
    assert (fitted.scores_of_runs(x) == before).all()
    assert not METHODS["ind-kd"].needs.groups_at_test


def test_validation_chooses_the_best_epoch_of_teacher_and_student_each(task) -> None:
    recipe = Recipe(epochs=3, batch_size=32, keep="best")
    runs = [Run(DistilledIndependentByAttribute(teach_epochs=5), seed) for seed in (0, 1)]
    trainer = Trainer(runs, [task], NetSpec("mlp", widths=(8,)), recipe, protect=["a0", "a1"]).fit()
    assert [entry["phase"] for entry in trainer.history] == ["teach"] * 5 + ["distil"] * 3
    assert all("error" in entry for entry in trainer.history)


class Remembering(nn.Module):
    """A network that keeps batch statistics."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, outputs))

    def forward(self, x):
        return self.body(x)


def test_a_resting_teacher_s_batch_statistics_rest_too() -> None:
    problem = Problem.from_labels([0, 1] * 8, g=[0, 0, 1, 1] * 4)
    model, teacher = (as_net(Remembering(4, n)).double() for n in (2, 4))
    teacher(drawn(16, 4))
    before = {name: value.clone() for name, value in teacher.state_dict().items()}
    nets = Nets({"model": model, "teacher": teacher}, problem.sizes, phase="distil")
    method, x = DistilledIndependent(), drawn(16, 4, seed=2)
    out = method.loss(nets, Batch(x, problem.y, problem.g, problem.a), method.init(problem))
    out.losses["model"].backward()
    assert all(torch.equal(value, before[name]) for name, value in teacher.state_dict().items())
    assert all(parameter.grad is None for parameter in teacher.parameters())
    assert teacher.training


def test_a_teacher_speaks_in_the_precision_of_training_and_curvatures_in_all_bits() -> None:
    sizes = Problem.from_labels([0, 1], g=[0, 1]).sizes
    rounded = Nets(
        {"teacher": lambda x: x}, sizes, precision=lambda network: lambda x: network(x).bfloat16().double()
    )
    x = torch.tensor([1 / 3], dtype=torch.float64)
    assert torch.equal(rounded.measured()["teacher"](x), x)
    assert not torch.equal(rounded.measured(all_bits=False)["teacher"](x), x)


def test_a_saved_student_is_loaded_by_its_key(task, tmp_path) -> None:
    fitted = evenhand.fit("mlp", "ind-ad-kd", task, protect=["a0", "a1"], epochs=1, seeds=2)
    again = evenhand.Fitted.load(fitted.save(tmp_path / "fit"))
    x = task.x[task.rows("test")]
    assert (again.scores_of_runs(x) == fitted.scores_of_runs(x)).all()


def test_values_that_are_refused() -> None:
    problem = Problem.from_labels([0, 1, 1], [0, 1, 1])
    for values, told in (({"temperature": 0.0}, "temperature"), ({"unlabelled": "keep"}, "unlabelled")):
        with pytest.raises(InputError, match=told):
            method_of("ind-kd", **values).check(problem)
    for key in ("ind-kd", "ind-ad-kd"):
        with pytest.raises(InputError, match="has no field"):
            method_of(key, inference="max")
        with pytest.raises(InputError, match=f"'n_min' of '{key}'"):
            method_of(key, n_min=5).check(problem)

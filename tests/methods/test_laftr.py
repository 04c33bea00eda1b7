"""LAFTR: the closed forms of golden 13, the spec's oracles, right signs, and four forms in one stack."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import Any

import pytest
import torch
from torch import Tensor

import evenhand
from evenhand.errors import InputError
from evenhand.methods.base import float_fields
from evenhand.methods.laftr import LaftrDP, LaftrEqOdd, LaftrEqOpp0, LaftrEqOpp1
from evenhand.methods.laftr_base import inverse_shares, misses
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.methods.registry import method_of
from evenhand.methods.terms import row_losses
from evenhand.nets import NetSpec
from evenhand.nets.wrap import as_net
from evenhand.records import Batch
from evenhand.study.backends.base import Job
from evenhand.study.execute import execute
from evenhand.study.plan import plan
from evenhand.study.records import PlannedRun, RunSpec, identity
from evenhand.train.recipe import Recipe
from evenhand.train.runs import Run
from evenhand.train.stack import Stack
from evenhand.train.step import Step
from evenhand.train.trainer import Trainer

FORMS = {"DP": LaftrDP, "EqOdd": LaftrEqOdd, "EqOpp0": LaftrEqOpp0, "EqOpp1": LaftrEqOpp1}
CELLS = ("s0_y0", "s0_y1", "s1_y0", "s1_y1")


@contextmanager
def in_double() -> Iterator[None]:
    """States are made in the default type."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


def problem_of(counts: dict[str, int]) -> Problem:
    """Training rows with these numbers of groups and labels."""
    numbers = torch.tensor([counts[cell] for cell in CELLS])
    cells = torch.arange(4).repeat_interleave(numbers)
    return Problem.from_labels(y=cells % 2, g=cells // 2)


def error_of(method: Any, problem: Problem, outputs: Tensor, y: Tensor, g: Tensor) -> Tensor:
    """The adversary's loss where it answers with these outputs."""
    with in_double():
        state = method.init(problem)
    x = torch.zeros(len(y), 2, dtype=torch.float64)
    nets = Nets({"model": lambda x: (x, x), "adversary": lambda z, label: outputs}, problem.sizes)
    return method.loss(nets, Batch(x, y, g), state).losses["adversary"]


def golden_rows(case: dict[str, Any]) -> tuple[Tensor, Tensor, Tensor]:
    """Logits of the adversary, labels and groups; a case without logits has probabilities (0 and 1 too)."""
    found = case["inputs"]
    p = torch.tensor(found["adversary_probability"], dtype=torch.float64)
    logits = found.get("adversary_logits")
    outputs = p.logit() if logits is None else torch.tensor(logits, dtype=torch.float64)
    return outputs[:, None], torch.tensor(found["y"]), torch.tensor(found["s"])


# -- golden 13 ----------------------------------------------------------------------------------------------


def test_golden_13_with_the_shares_of_training(golden, assert_close):
    cases = golden("13_laftr_group_normalised_l1")["cases"]
    assert len(cases) == 5
    for case in cases:
        outputs, y, s = golden_rows(case)
        problem = problem_of(case["inputs"]["training_cell_counts"])
        assert_close(misses(outputs, s), case["expected"]["abs_error"], case["tolerance"])
        for name, form in FORMS.items():
            ours = error_of(form(), problem, outputs, y, s)
            assert_close(ours, case["expected"][f"{name}_training_weights"], case["tolerance"])


def test_golden_13_with_the_shares_of_the_batch(golden, assert_close):
    """Were a batch all the training rows there are, weights of 1/P give the sums of its means."""
    for case in golden("13_laftr_group_normalised_l1")["cases"]:
        outputs, y, s = golden_rows(case)
        outputs.requires_grad_()
        own, expected = Problem.from_labels(y=y, g=s), case["expected"]
        for name, form in FORMS.items():
            error = error_of(form(), own, outputs, y, s)
            assert_close(error.detach(), expected[f"{name}_from_batch"], case["tolerance"])
            if f"{name}_from_batch_grad_logits" in expected:
                (grad,) = torch.autograd.grad(error, outputs)
                assert_close(grad[:, 0], expected[f"{name}_from_batch_grad_logits"], case["tolerance"])
        missed = misses(outputs.detach(), s)
        for cell, mean in expected["group_means"].items():
            rows = s == int(cell[1])
            rows = rows & (y == int(cell[-1])) if "y" in cell else rows
            assert_close(missed[rows].mean(), mean, case["tolerance"])


# -- oracles of the spec ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "chance"), [("DP", 1.0), ("EqOdd", 2.0), ("EqOpp0", 1.0), ("EqOpp1", 1.0)])
def test_chance_level_and_perfection(name, chance):
    source = torch.Generator().manual_seed(0)
    y, g = (torch.randint(0, 2, (200,), generator=source) for _ in range(2))
    problem, method = Problem.from_labels(y=y, g=g), FORMS[name]()
    assert error_of(method, problem, torch.zeros(200, 1).double(), y, g).item() == pytest.approx(chance)
    knows = (2.0 * g[:, None] - 1).double() * torch.inf
    assert error_of(method, problem, knows, y, g).item() == 0.0
    assert error_of(method, problem, -knows, y, g).item() == pytest.approx(2 * chance)


@pytest.mark.parametrize("name", FORMS)
def test_duplicated_rows_of_one_group_change_nothing(name):
    source = torch.Generator().manual_seed(1)
    y, g = (torch.randint(0, 2, (60,), generator=source) for _ in range(2))
    outputs = torch.randn(60, 1, generator=source, dtype=torch.float64)
    rows = torch.cat([torch.arange(60), *[(g == 1).nonzero()[:, 0]] * 3])
    once = error_of(FORMS[name](), Problem.from_labels(y=y, g=g), outputs, y, g)
    often = error_of(
        FORMS[name](), Problem.from_labels(y=y[rows], g=g[rows]), outputs[rows], y[rows], g[rows]
    )
    assert often.item() == pytest.approx(once.item(), abs=1e-12)


def a_step(gamma: float, form: Any = LaftrEqOdd) -> tuple[Step, Batch, dict[str, Tensor]]:
    """A model and an adversary with one fixed batch, whose inputs tell the group."""
    source = torch.Generator().manual_seed(2)
    y, g = (torch.randint(0, 2, (128,), generator=source) for _ in range(2))
    x = torch.randn(128, 4, generator=source) + g[:, None] - y[:, None] * torch.tensor([1.0, 0, 0, 0])
    problem, method = Problem.from_labels(y=y, g=g, inputs=(4,)), form(gamma=gamma)

    def build():
        model = NetSpec("mlp", widths=(16, 8)).build((4,), 2)
        return {"model": model, **method.extra(problem, model.n_features)}

    stack = Stack([build], [0], torch.device("cpu"))
    recipe = Recipe(optimizer="sgd", rate=0.02, momentum=0.0)
    return Step(method, {}, stack, problem.sizes, recipe), Batch(x, y, g), dict(method.init(problem))


@pytest.mark.parametrize("form", FORMS.values())
def test_the_adversarys_loss_falls_on_its_step_and_rises_on_the_encoders(form):
    step, batch, state = a_step(gamma=50.0, form=form)

    def seen(turn):
        return step.run(batch, {}, state, turn, 1.0)[0]["adversary"].item()

    before = [seen(("adversary",)) for _ in range(5)]
    assert before == sorted(before, reverse=True)  # it falls, step by step
    assert before[-1] < before[0] - 1e-4
    low = seen(("model",))
    assert low < before[-1]
    assert seen(("model",)) > low + 1e-3


def test_a_turn_moves_its_player_only_and_the_adversarys_gives_its_loss_alone():
    step, batch, state = a_step(gamma=1.0)
    parts = step.stack.parameters

    def copies(name):
        return [value.detach().clone() for value in parts[name].values()]

    model, adversary = copies("model"), copies("adversary")
    losses, _, _ = step.run(batch, {}, state, ("adversary",), 1.0)
    assert set(losses) == {"adversary"}
    assert all(map(torch.equal, model, copies("model")))
    assert not any(map(torch.equal, adversary, copies("adversary")))
    adversary = copies("adversary")
    losses, _, logs = step.run(batch, {}, state, ("model",), 1.0)
    assert losses["model"] == pytest.approx((logs["task"] - logs["adversary"]).item())
    assert all(map(torch.equal, adversary, copies("adversary")))
    assert not any(map(torch.equal, model, copies("model")))


def test_turns_of_a_batch():
    assert LaftrDP().phases()[0].turns == (("model",), ("adversary",), ("adversary",))
    assert LaftrDP(n_adv=1).phases()[0].turns == (("model",), ("adversary",))


# -- what the adversary sees, and which rows count -----------------------------------------------------------


@pytest.mark.parametrize(("name", "shown"), [("DP", 0.0), ("EqOdd", 1.0), ("EqOpp0", 1.0), ("EqOpp1", 1.0)])
def test_the_label_is_shown_to_all_but_parity(name, shown):
    problem, found = Problem.from_labels(y=[0, 1, 1], g=[0, 1, 0]), []

    def spy(z, label):
        found.append(label)
        return z[:, :1]

    nets = Nets({"model": lambda x: (x, x), "adversary": spy}, problem.sizes)
    method = FORMS[name]()
    method.loss(nets, Batch(torch.zeros(3, 2), problem.y, problem.g), method.init(problem))
    assert found[0].tolist() == [0.0, shown, shown]


def test_unknown_groups_serve_the_classifier_only():
    problem = Problem.from_labels(y=[0, 1, 1, 0], g=[0, 1, 0, 1])
    outputs, y = torch.randn(4, 1, dtype=torch.float64), problem.y
    known = error_of(LaftrDP(), problem, outputs[:2], y[:2], torch.tensor([0, 1]))
    assert torch.equal(error_of(LaftrDP(), problem, outputs, y, torch.tensor([0, 1, -1, -1])), known)
    none = torch.full((4,), -1)
    assert error_of(LaftrDP(), problem, outputs, y, none).item() == 0.0
    with_unknown = Problem.from_labels(y=[0, 1, 1, 0, 1], g=[0, 1, 0, 1, -1])
    assert torch.equal(LaftrDP().init(problem)["weights"], LaftrDP().init(with_unknown)["weights"])


def test_cells_without_training_rows_have_no_weight():
    counts = torch.tensor([[5.0, 0.0], [0.0, 0.0]])
    assert inverse_shares(counts, 1.0, 1.0, 1.0).tolist() == [[1.0, 0.0], [0.0, 0.0]]
    assert inverse_shares(counts, 0.0, 1.0, 1.0).tolist() == [[1.0, 1.0], [0.0, 0.0]]


def test_more_groups_have_a_softmax_whose_chance_level_is_their_number_less_one():
    problem = Problem.from_labels(y=[0, 1] * 6, g=[0, 1, 2] * 4)
    error = error_of(LaftrDP(), problem, torch.zeros(12, 3).double(), problem.y, problem.g)
    assert error.item() == pytest.approx(2.0)
    two = torch.randn(12, 1, dtype=torch.float64)
    both, g = torch.cat([torch.zeros_like(two), two], dim=1), torch.arange(12) % 2
    torch.testing.assert_close(misses(both, g), misses(two, g))


def test_the_l1_form_of_the_task_loss():
    problem = Problem.from_labels(y=[0, 1], g=[0, 1])
    logits = torch.tensor([[1.0, 0.5], [2.0, -1.0]])
    nets = Nets({"model": lambda x: (x, x), "adversary": lambda z, y: z[:, :1]}, problem.sizes)
    state, rows = LaftrDP().init(problem), Batch(logits, problem.y, problem.g)
    p = torch.softmax(logits, 1)[:, 1]
    l1 = LaftrDP(gamma=0.0, task_loss="l1").loss(nets, rows, state).losses["model"]
    assert l1.item() == pytest.approx((p - problem.y).abs().mean().item())
    plain = LaftrDP(gamma=0.0).loss(nets, rows, state).losses["model"]
    assert torch.equal(plain, row_losses(logits, problem.y).mean())


def test_the_adversarys_shape():
    problem = Problem.from_labels(y=[0, 1], g=[0, 1])
    linear = LaftrDP(depth=0).extra(problem, 8)["adversary"]
    assert [tuple(value.shape) for value in linear.parameters()] == [(1, 9), (1,)]
    deep = LaftrDP().extra(problem, 16)["adversary"]
    assert sum(value.numel() for value in deep.parameters()) == 17 * 32 + 32 + 32 * 32 + 32 + 33


# -- what is refused ----------------------------------------------------------------------------------------


def test_what_cannot_be_served_is_refused_with_the_reason():
    with pytest.raises(InputError, match="'laftr-dp' is for two classes; this task has 3"):
        LaftrDP().check(Problem.from_labels(y=[0, 1, 2], g=[0, 1, 0]))
    with pytest.raises(InputError, match="'n_adv' of 'laftr-dp' must be a whole number of at least 1"):
        LaftrDP(n_adv=0).check(Problem.from_labels(y=[0, 1], g=[0, 1]))
    with pytest.raises(InputError, match="'laftr-eqodd' has an adversary on the network's features"):
        LaftrEqOdd().extra(Problem.from_labels(y=[0, 1], g=[0, 1]), 0)


def test_a_module_without_features_is_refused_by_the_trainer():
    class Bare:
        def build(self, shape, outputs):
            return as_net(torch.nn.Linear(shape[0], outputs))

    task = evenhand.load("synthetic", n_train=100, n_test=20, n_validation=20)
    with pytest.raises(InputError, match="this network gives none"):
        Trainer([Run(LaftrDP())], [task], Bare(), Recipe(epochs=1), protect=["a0"])


# -- four forms in one stack --------------------------------------------------------------------------------


def test_the_stacked_form_says_all_that_the_form_says():
    for form in FORMS.values():
        method = form(gamma=3.0, n_adv=1, width=8, depth=1, bend="leaky-0.2", task_loss="l1")
        stacked = method.stacked_form()
        assert stacked.numbers() == method.numbers() == form.condition
        assert asdict(method).items() <= asdict(stacked).items()
        assert stacked.stacked_form() == stacked
        assert float_fields(stacked) == ("gamma", "seen", "on_0", "on_1")


def test_four_forms_in_one_stack_are_the_four_trained_alone():
    task = evenhand.load("synthetic", n_train=400, n_test=50, n_validation=80, scarcity=0.1, seed=3)
    recipe = Recipe(epochs=2, batch_size=32, precision="float64", rate=0.01, weight_decay=1e-3, clip=2.0)
    net = NetSpec("mlp", widths=(12, 8), dropout=0.2)
    methods = [form(gamma=gamma) for form, gamma in zip(FORMS.values(), (1.0, 0.5, 2.0, 4.0), strict=True)]

    def trained(runs, stacked):
        return Trainer(runs, [task], net, recipe, protect=["a0"], stacked=stacked).fit()

    stack = trained([Run(method.stacked_form(), 3 + n) for n, method in enumerate(methods)], True)
    for place, method in enumerate(methods):
        alone = trained([Run(method, 3 + place)], False)
        for network, values in alone.stack.parameters.items():
            for name, value in values.items():
                apart = (stack.stack.parameters[network][name][place] - value).abs().max().item()
                assert apart <= 1e-10, f"{method.key}: {network}.{name} differs by {apart}"


def planned(method: str, seed: int, **fields: Any) -> PlannedRun:
    spec = RunSpec(
        "synthetic", {"n_train": 600}, ("a0",), "mlp", {}, method, asdict(method_of(method, **fields)),
        asdict(Recipe.of(epochs=1)), seed, ("test",),
    )  # fmt: skip
    return PlannedRun(identity(spec, "1", "d"), spec, "synthetic", "a0", "mlp", method, fields, "d", seed)


def test_a_study_puts_the_four_forms_in_one_bucket_and_nothing_else_with_them():
    keys = [form.key for form in FORMS.values()]
    runs = [planned(key, seed, gamma=gamma) for key in keys for seed in range(2) for gamma in (0.1, 4.0)]
    (bucket,) = plan(runs)
    assert len(bucket.runs) == 16
    others = [planned("erm", 0), planned("cfair", 0), planned("laftr-dp", 0, n_adv=1)]
    assert sorted(len(bucket.runs) for bucket in plan([*runs, *others])) == [1, 1, 1, 16]


def test_a_studys_worker_trains_the_four_together_and_each_as_if_alone(tmp_path):
    runs = [planned(form.key, seed) for seed, form in enumerate(FORMS.values())]

    def records(runs, name):
        (bucket,) = plan(runs)
        return list(execute(bucket, Job(str(tmp_path / name)), lambda standing: None))

    together = records(runs, "all")
    assert [record.stack for record in together] == [4] * 4
    for run, record in zip(runs, together, strict=True):
        (alone,) = records([run], run.id)
        assert (alone.status, alone.id) == ("done", record.id)
        assert alone.measured[0].counts == record.measured[0].counts
        assert alone.weights == record.weights  # float32 on a CPU: to the last bit


def test_fit_takes_the_plain_class():
    task = evenhand.load("synthetic", n_train=200, n_test=50, n_validation=40)
    fitted = evenhand.fit("mlp", replace(LaftrEqOpp1(), gamma=0.5), task, seeds=range(2), epochs=1)
    assert fitted.scores_of_runs(task.x[:5]).shape == (2, 5, 2)

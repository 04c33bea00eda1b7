"""Pre-training: ERM on all rows, then the method from those weights; keys by rule, saved and in studies."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
import torch

import evenhand
from evenhand.errors import InputError
from evenhand.methods import ERM, METHODS, Batch, GroupDRO, LaftrEqOdd, Nets, Problem, WeightedERM, method_of
from evenhand.methods.curvature_matching import with_curvature_matching
from evenhand.methods.pretraining import Pretraining, with_pretraining
from evenhand.methods.registry import is_known, kind_of
from evenhand.methods.terms import row_losses, score_losses
from evenhand.nets import NetSpec
from evenhand.study.expand import expand
from evenhand.study.read import read_study
from evenhand.train.building import networks_of
from evenhand.train.recipe import Recipe
from evenhand.train.runs import Run
from evenhand.train.trainer import Trainer

MAPS = {key for key in METHODS if METHODS[key].needs.maps}  # tables have none
KEYS = sorted(set(METHODS) - {"ffvae", "nifr", "jtt"} - MAPS)
NET = NetSpec("mlp", widths=(8, 6), dropout=0.2)


def scarce(**options):
    return evenhand.load(
        "synthetic", n_train=320, n_validation=40, n_test=60, attributes=2, scarcity=0.9, seed=1, **options
    )


@pytest.fixture(scope="module")
def task():
    return scarce()


def brief(key: str):
    method = METHODS[key]()
    return replace(method, **{item.name: 1 for item in fields(method) if item.name.endswith("_epochs")})


def trained(methods, task, seeds, *, stacked: bool, epochs: int = 1, net=NET) -> Trainer:
    recipe = Recipe(epochs=epochs, batch_size=32, precision="float64", rate=0.01)
    runs = [Run(method, seed) for method, seed in zip(methods, seeds, strict=True)]
    return Trainer(runs, [task], net, recipe, protect=["a0", "a1"], stacked=stacked).fit()


@pytest.mark.parametrize("key", KEYS)
def test_a_stack_is_its_runs_and_phases_follow_each_other(key, task) -> None:
    method = with_pretraining(brief(key), 1)
    assert isinstance(method, METHODS[key])
    assert method == kind_of(f"pre+{key}")(
        **{item.name: getattr(method, item.name) for item in fields(method)}
    )
    stack = trained([method] * 2, task, [4, 9], stacked=True)
    single = trained([method], task, [9], stacked=False)
    names = list(dict.fromkeys(entry["phase"] for entry in stack.history))
    assert names == [phase.name for phase in method.phases()]
    assert names[0] == "pretrain"
    for network, values in single.stack.parameters.items():
        for name, value in values.items():
            assert (stack.stack.parameters[network][name][1] - value).abs().max() <= 1e-10, (
                f"{network}.{name}"
            )


def test_the_first_phase_is_erm_on_all_rows_to_the_bit(task) -> None:
    """A weighted method's one output a class: pre-training is ERM, and the method goes on from there."""
    net = NetSpec("mlp", widths=(8, 6))  # noise such as dropout is drawn for each phase anew
    whole = trained([with_pretraining(WeightedERM(), 2)], task, [5], stacked=False, net=net)
    erm = trained([ERM()], task, [5], stacked=False, epochs=2, net=net)
    assert whole.history[1]["train"] == erm.history[1]["train"]
    assert whole.history[1]["loss"] == erm.history[1]["loss"]
    known = int((whole.train.problems[0].g >= 0).sum())
    assert known < 40  # the second phase has one batch of them
    moved = [
        (whole.stack.parameters["model"][name] - value).abs().max().item()
        for name, value in erm.stack.parameters["model"].items()
    ]
    assert 0 < max(moved) < 0.03  # a step of 0.01 from ERM's weights, not from new ones


@pytest.mark.parametrize("kind", [{}, {"classes": 4}, {"labels": 3}])
@pytest.mark.parametrize("key", KEYS)
def test_its_loss_is_that_of_what_is_predicted_without_groups(key, kind) -> None:
    task = scarce(**kind)
    needs = METHODS[key].needs
    if (needs.single_label and task.multi_label) or (needs.binary and kind):
        return
    method, problem = with_pretraining(METHODS[key](), 1), Problem.of(task, ["a0", "a1"])
    torch.manual_seed(0)
    networks = {name: net.double() for name, net in networks_of(NET, method, problem).items()}
    rows = torch.arange(30)
    batch = Batch(
        task.x[task.rows("train")][rows].double(), problem.y[rows], problem.g[rows], problem.a[rows], rows
    )
    state = {k: v.double() if v.is_floating_point() else v for k, v in method.init(problem).items()}
    nets = Nets(networks, problem.sizes, phase="pretrain")
    out = method.loss(nets, batch, state)
    assert out.state is state
    unknown = batch._replace(g=torch.full((30,), -1), a=torch.full((30, 2), -1))
    scores = method.predict(nets, unknown, state)
    torch.testing.assert_close(out.losses["model"], score_losses(scores, batch.y).mean())
    assert set(out.losses) == set(method.players())
    blind = method.loss(nets, unknown, state).losses["model"]
    assert torch.equal(out.losses["model"], blind)
    if method.outputs(problem) == problem.sizes.n_classes and key != "sd":
        plain = row_losses(networks["model"](batch.x)[0], batch.y).mean()
        torch.testing.assert_close(out.losses["model"], plain)


def test_all_rows_first_then_those_that_the_method_uses() -> None:
    problem = Problem.from_labels([0, 1, 0, 1], g=[0, -1, 1, -1])
    method = with_pretraining(WeightedERM())
    assert method.sampling(problem, 0, "pretrain").rows is None
    assert method.sampling(problem, 0, "train").rows.tolist() == [0, 2]
    assert method.phases()[0].epochs is None  # as many as the recipe has
    assert not any(phase.fresh for phase in method.phases())


@pytest.mark.parametrize("key", ["ind-kd", "w-sqrt-erm-kd"])
def test_teacher_and_student_are_both_pretrained(key, task) -> None:
    method = with_pretraining(METHODS[key](teach_epochs=1), 1)
    assert method.phases()[0].turns == (("model", "teacher"),)
    begun = trained([method], task, [3], stacked=False)
    fresh = Trainer(
        [Run(method, 3)],
        [task],
        NET,
        Recipe(epochs=1, batch_size=32, precision="float64"),
        protect=["a0", "a1"],
    ).stack.parameters
    for name in ("model", "teacher"):
        first = next(iter(fresh[name]))
        assert not torch.equal(begun.stack.parameters[name][first], fresh[name][first])


def test_keys_by_rule_and_what_is_no_key() -> None:
    assert method_of("pre+gdro", eta=0.3, pre_epochs=5) == with_pretraining(GroupDRO(eta=0.3), 5)
    assert method_of("laftr-eqodd+cm", cm_gamma=2.0) == with_curvature_matching(LaftrEqOdd(), 2.0)
    both = kind_of("pre+erm+cm")
    assert both.key == "pre+erm+cm"
    assert issubclass(both, Pretraining)
    assert [is_known(name) for name in ("pre+ind", "pre+nothing", "", "pre+", "mine.py:Mine")] == [True] + [
        False
    ] * 4
    with pytest.raises(InputError, match=r"no method 'w-ern'; did you mean 'w-erm'.*pre\+KEY"):
        method_of("pre+w-ern")
    with pytest.raises(InputError, match=r"pre\+erm' is pre-trained already"):
        method_of("pre+pre+erm")
    with pytest.raises(InputError, match=r"erm\+cm' is matched already"):
        method_of("erm+cm+cm")
    with pytest.raises(InputError, match=r"'pre\+gdro' has no field 'pre_epoch'; did you mean 'pre_epochs'"):
        method_of("pre+gdro", pre_epoch=3)
    with pytest.raises(InputError, match="pre_epochs"):
        method_of("pre+gdro", pre_epochs=-1).check(Problem.from_labels([0, 1], [0, 1]))
    with pytest.raises(InputError, match="put before a method"):
        with_pretraining("erm")


def test_what_would_be_forgotten_or_cannot_be_read_is_refused() -> None:
    problem = Problem.from_labels([0, 1, 0, 1], [0, 0, 1, 1], inputs=(6,))
    with pytest.raises(
        InputError, match=r"'pre\+jtt' cannot be had: its phase 'train' begins with a new model"
    ):
        method_of("pre+jtt").check(problem)
    with pytest.raises(InputError, match=r"'pre\+ffvae' cannot be had: its model reads a code"):
        method_of("pre+ffvae", latent=4).check(problem)


def test_forms_that_are_trained_as_one_stay_so() -> None:
    form = with_pretraining(LaftrEqOdd(gamma=2.0), 3).stacked_form()
    assert isinstance(form, Pretraining)
    assert form.pre_epochs == 3
    assert isinstance(form, type(LaftrEqOdd(gamma=2.0).stacked_form()))


@pytest.mark.parametrize("key", ["pre+w-erm", "pre+ind-kd", "laftr-dp+cm"])
def test_a_saved_fit_is_loaded_by_its_key(key, task, tmp_path) -> None:
    method = replace(method_of(key), **({"pre_epochs": 1} if key.startswith("pre") else {"cm_gamma": 0.5}))
    fitted = evenhand.fit("mlp", method, task, protect=["a0"], epochs=1, seeds=2)
    again = evenhand.Fitted.load(fitted.save(tmp_path / "fit"))
    x = task.x[task.rows("test")]
    assert (again.scores_of_runs(x) == fitted.scores_of_runs(x)).all()
    assert again.models[0].predictor.method == method


def test_a_study_file_names_it_by_its_key(tmp_path) -> None:
    file = tmp_path / "scarce.toml"
    file.write_text(
        'seeds = 1\n[[task]]\ndata = "synthetic"\nscarcity = 0.9\n[[grouping]]\nattributes = ["a0"]\n'
        '[[net]]\nnet = "mlp"\n[[method]]\nkey = "pre+gdro"\npre_epochs = 3\neta = {grid = [0.01, 0.1]}\n',
        encoding="utf-8",
    )
    runs = expand(read_study(file))
    assert [(run.spec.method, run.spec.fields["eta"], run.spec.fields["pre_epochs"]) for run in runs] == [
        ("pre+gdro", 0.01, 3), ("pre+gdro", 0.1, 3)
    ]  # fmt: skip


def test_where_labels_are_scarce_pretraining_helps() -> None:
    """S1's Table 7 in shape: without ERM on all rows first, a weighted method sees one row in twenty."""
    task = evenhand.load("synthetic", n_train=1000, n_test=2000, attributes=2, scarcity=0.95, seed=3)
    rows = task.rows("test")
    right = {}
    for key in ("w-erm", "pre+w-erm"):
        fitted = evenhand.fit("mlp", key, task, protect=["a0", "a1"], epochs=5, seeds=5, batch_size=32)
        guesses = torch.as_tensor(fitted.scores_of_runs(task.x[rows])).argmax(-1)
        right[key] = (guesses == task.y[rows]).double().mean(1)
    assert (right["pre+w-erm"] > right["w-erm"]).all(), right

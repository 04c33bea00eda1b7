"""`evenhand.equalized_robustness`: of fits and of modules, of one group or many, and what it refuses."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from io import StringIO

import numpy as np
import pytest
import torch
from rich.console import Console
from torch import nn

import evenhand
from evenhand.data.task import Scaling
from evenhand.errors import InputError
from evenhand.evaluation.fitted import Fitted
from evenhand.groups import Attribute
from evenhand.metrics.curvature import one_shot, two_logit_curvature
from evenhand.metrics.mmd import KERNELS, mmd2

SIZES = {"n_train": 96, "n_validation": 24, "n_test": 120, "d": 6}


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def task():
    return evenhand.load("synthetic", **SIZES)


@pytest.fixture(scope="module")
def fitted(task):
    return evenhand.fit("mlp", "erm", task, seeds=2, epochs=3, batch_size=16, rate=0.05, device="cpu")


def groups_of(task, name: str) -> torch.Tensor:
    return torch.from_numpy(task.groups([name]).keep(task.rows("test").numpy()).ids)


def module(seed: int = 0, outputs: int = 2) -> nn.Sequential:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Dropout(0.5), nn.Linear(12, outputs))


@pytest.mark.parametrize(("how", "outputs"), [("one-shot", 2), ("power", 2), ("power", 1)])
def test_a_module_of_ones_own(task, how, outputs, assert_close):
    net, name = module(outputs=outputs), task.attributes[0].name
    with torch.no_grad():
        net[3].weight.mul_(8)
    found = evenhand.equalized_robustness(net, task, protect=name, how=how)
    assert net.training
    assert net[2].training
    rows, still = task.rows("test"), module(outputs=outputs).double().eval()
    still.load_state_dict(net.state_dict())
    x, y = task.scaling(task.x[rows]).double(), task.y[rows]
    if how == "power":
        expected = two_logit_curvature(still, x)
    else:
        expected = one_shot(lambda v: nn.functional.cross_entropy(still(v), y, reduction="none"), x)
    expected, g = expected.detach(), groups_of(task, name)
    assert_close(found.curvatures[0], expected, 1e-6)
    assert_close(found.value, mmd2(expected[g == 0], expected[g == 1]), 1e-6)
    assert found.values.shape == (1,)


def test_every_run_of_a_fit(fitted, task, assert_close):
    found = evenhand.equalized_robustness(fitted)
    g = groups_of(task, fitted.protect[0])
    expected = [
        mmd2(*(torch.from_numpy(own[g.numpy() == k]) for k in (0, 1))).item() for own in found.curvatures
    ]
    assert_close(found.values, expected, 1e-12)
    assert_close(found.value, np.mean(expected), 1e-12)
    assert_close(found.pairs[0, 1], np.mean(expected), 1e-12)
    assert found.protect == fitted.protect
    assert len(found.groups) == 2
    narrow = evenhand.equalized_robustness(fitted, kernels="narrow")
    assert_close(narrow.values, evenhand.equalized_robustness(fitted, kernels=KERNELS["narrow"]).values, 0)
    assert (narrow.values > found.values).all()
    assert not np.allclose(evenhand.equalized_robustness(fitted, h=0.1).values, found.values)


def test_a_fit_whose_runs_have_tasks_of_their_own(assert_close):
    tasks = [evenhand.load("synthetic", seed=seed, **SIZES) for seed in (0, 1)]
    options = {"epochs": 2, "batch_size": 16, "device": "cpu", "precision": "float64"}
    together = evenhand.equalized_robustness(evenhand.fit("mlp", "erm", tasks, seeds=2, **options))
    for seed in (0, 1):
        alone = evenhand.fit("mlp", "erm", tasks[seed], seeds=[seed], **options)
        assert_close(together.values[seed], evenhand.equalized_robustness(alone).value, 1e-9)


def test_a_saved_fit_wants_its_task_again(fitted, task, tmp_path, assert_close):
    loaded = Fitted.load(fitted.save(tmp_path / "fit"), device="cpu")
    with pytest.raises(InputError, match="loaded without its task; give it"):
        evenhand.equalized_robustness(loaded)
    expected = evenhand.equalized_robustness(fitted)
    assert_close(evenhand.equalized_robustness(loaded, task).values, expected.values, 1e-9)


def test_rows_of_another_task_are_read_in_the_scaling_of_the_fit(fitted, task, assert_close):
    other = replace(task, scaling=Scaling(100.0, 7.0))
    expected = evenhand.equalized_robustness(fitted)
    assert_close(evenhand.equalized_robustness(fitted, other).values, expected.values, 0)


def test_more_groups_and_unknown_ones(assert_close):
    task = evenhand.load("synthetic", attributes=2, **{**SIZES, "n_test": 300})
    names = [attribute.name for attribute in task.attributes]
    rows = task.rows("test").numpy()
    first, second = task.attributes
    codes = np.array(first.codes)
    codes[rows[:37]] = -1
    task = replace(task, attributes=(Attribute(first.name, first.levels, codes), second))
    found = evenhand.equalized_robustness(module(), task, protect=names)
    assert found.pairs.shape == (4, 4)
    assert found.value == found.runs[0].maximum > found.runs[0].mean > 0
    assert "37 rows are of unknown group and belong to no distance" in found.warnings
    known = replace(task, split={**task.split, "test": task.split["test"][37:]})
    assert_close(evenhand.equalized_robustness(module(), known, protect=names).pairs, found.pairs, 1e-12)


def test_permutations(fitted):
    found = evenhand.equalized_robustness(fitted, permutations=99)
    assert len(found.p) == 2
    assert all(0.01 <= p <= 1 for p in found.p)
    assert evenhand.equalized_robustness(fitted).p is None


def test_what_is_flat_is_said_to_be(task):
    net = module()
    with torch.no_grad():
        net[3].weight.zero_()
    found = evenhand.equalized_robustness(net, task)
    assert found.warnings == ("model: its loss does not change with the inputs of any row",)


def test_as_dictionary_json_and_on_a_terminal(fitted):
    found = evenhand.equalized_robustness(fitted, permutations=9)
    body = found.to_dict()
    assert body == json.loads(found.to_json())
    assert body["delta_er"] == found.value
    assert [group["n"] for group in body["groups"]] == found.runs[0].sizes.tolist()
    shown = StringIO()
    Console(file=shown, width=90).print(found)
    assert "Delta ER" in shown.getvalue()
    assert "p = " in shown.getvalue()
    assert "one-shot, h = 1; default kernels" in shown.getvalue()
    assert repr(found).startswith("EqualizedRobustness(")


def test_undefined_is_null(task):
    first = task.attributes[0]
    codes = np.array(first.codes)
    codes[task.rows("test").numpy()] = 0
    codes[task.rows("test").numpy()[0]] = 1
    lonely = replace(task, attributes=(Attribute(first.name, first.levels, codes),))
    found = evenhand.equalized_robustness(module(), lonely, protect=first.name)
    assert math.isnan(found.value)
    assert found.to_dict()["delta_er"] is None
    assert "a distance needs 2 rows of a group, and it has 1" in found.warnings[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"how": "exact"}, "no way 'exact' to measure curvature"),
        ({"h": 0.0}, "must be a number other than 0"),
        ({"kernels": "defalt"}, "did you mean 'default'"),
        ({"protect": "agee"}, "has no attribute 'agee'"),
        ({"permutations": -1}, "permutations must be 0 or more"),
        ({"permutations": 1.5}, "a whole number, not 1.5"),
        ({"h": "1"}, "must be a number other than 0, not '1'"),
        ({"kernels": ["a"]}, "positive numbers, at least one; not .'a'."),
        ({"kernels": 4.0}, "positive numbers, at least one; not 4.0"),
    ],
)
def test_refusals(fitted, task, options, message):
    with pytest.raises(InputError, match=message):
        evenhand.equalized_robustness(fitted, **options)
    with pytest.raises(InputError, match=message):
        evenhand.equalized_robustness(module(), task, **options)


def test_other_refusals(fitted, task):
    with pytest.raises(InputError, match="not of a str"):
        evenhand.equalized_robustness("mlp", task)
    with pytest.raises(InputError, match="give the task too"):
        evenhand.equalized_robustness(module())
    with pytest.raises(InputError, match="on one task"):
        evenhand.equalized_robustness(module(), [task, task])
    with pytest.raises(InputError, match="3 tasks for 2 runs"):
        evenhand.equalized_robustness(fitted, [task] * 3)


@pytest.mark.parametrize(
    ("net", "message"),
    [
        (nn.Linear(6, 3), "gives .3,. outputs a row, .* asks for 2 logits, or 1"),
        (nn.Linear(3, 2), "cannot read the inputs of the task 'synthetic', .6,. a row"),
    ],
)
def test_a_module_that_does_not_fit_the_task(task, net, message):
    with pytest.raises(InputError, match=message):
        evenhand.equalized_robustness(net.train(), task)
    assert net.training


def test_one_logit_does_not_serve_three_labels(task):
    several = replace(task, y=task.y[:, None].repeat(1, 3), classes=("u", "v", "w"))
    assert evenhand.equalized_robustness(nn.Linear(6, 3), several).value >= 0
    with pytest.raises(InputError, match="asks for 3 logits: u, v, w"):
        evenhand.equalized_robustness(nn.Linear(6, 1), several)


def test_one_group_has_no_distance_and_the_reason_is_told(task):
    alone = Attribute("all", ("everybody",), np.zeros(len(task.y), dtype=np.int64))
    found = evenhand.equalized_robustness(module(), replace(task, attributes=(alone,)), protect="all")
    assert math.isnan(found.value)
    assert "needs two groups, and there is one" in found.warnings[0]


def test_modes_and_batch_statistics_are_left_as_they_were(task):
    net = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 2))
    net[1].eval()
    before = {key: value.clone() for key, value in net.state_dict().items()}
    first, second = (evenhand.equalized_robustness(net, task).value for _ in range(2))
    assert first == second
    assert [part.training for part in net] == [True, False, True, True, True]
    assert all(torch.equal(value, before[key]) for key, value in net.state_dict().items())
    assert all(parameter.grad is None for parameter in net.parameters())


def test_a_task_that_a_fit_cannot_read(fitted, task):
    wider = evenhand.load("synthetic", **SIZES | {"d": 7})
    with pytest.raises(InputError, match=r"shape .7,.; this model takes .6,."):
        evenhand.equalized_robustness(fitted, wider)
    with pytest.raises(InputError, match="are not those that were trained"):
        evenhand.equalized_robustness(fitted, replace(task, classes=("other", "names")))


def test_a_part_without_rows(fitted, task):
    empty = replace(task, split={**task.split, "test": task.rows("test")[:0]})
    for net in (fitted, module()):
        with pytest.raises(InputError, match="has no rows to be measured on"):
            evenhand.equalized_robustness(net, empty)

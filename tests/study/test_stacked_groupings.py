"""Runs of one stack that protect other attributes: each is, to the bit, what it is alone."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.study.test_execute import records, same
from tests.study.test_plan import a_run

from evenhand.data.registry import load
from evenhand.errors import InputError
from evenhand.methods.registry import METHODS, method_of
from evenhand.nets.registry import NetSpec
from evenhand.study.backends.base import Job
from evenhand.study.execute import execute
from evenhand.study.plan import plan
from evenhand.train.fit import train_runs
from evenhand.train.parts import Part
from evenhand.train.recipe import Recipe
from evenhand.train.runs import Run, protect_of_each

KNOBS = {"n_train": 300, "n_validation": 200, "n_test": 200, "attributes": 3, "correlation": 0.4}
CPU = torch.device("cpu")


def run_of(method, names, seed=0, *, more=(), knobs=None, **fields):
    """A run that protects `names` and is measured by them, by each alone, and by `more`."""
    run = a_run(method, seed, knobs=KNOBS if knobs is None else knobs, protect=names, **fields)
    single = [(name,) for name in names] if len(names) > 1 else []
    spec = replace(run.spec, groupings=(names, *single, *more))
    return replace(run, id=f"{method} {'-'.join(names)} {seed}", spec=spec, grouping=" × ".join(names))


def many(method, **fields):
    return [run_of(method, (name,), seed, **fields) for name in ("a0", "a1", "a2") for seed in (0, 1)]


@pytest.mark.parametrize("method", [key for key, kind in METHODS.items() if not kind.needs.maps])
def test_runs_with_other_groups_are_what_they_are_alone(method, tmp_path):
    runs = many(method, knobs={**KNOBS, "n_train": 256})
    assert len(plan(runs, stack=8)) < len(runs)
    together = {r.id: r for b in plan(runs, stack=8) for r in execute(b, Job(str(tmp_path)), print)}
    for run in runs[1::2]:
        same(records([run], tmp_path / run.id)[run.id], together[run.id])


def test_each_run_is_measured_by_its_own_groupings(tmp_path):
    runs = [run_of("w-erm", ("a0", "a1")), run_of("w-erm", ("a2", "a0"), more=((),))]
    assert len(plan(runs)) == 1
    found = records(runs, tmp_path)
    assert [m.grouping for m in found[runs[0].id].measured] == ["a0 × a1", "a0", "a1"]
    assert [m.grouping for m in found[runs[1].id].measured] == ["a2 × a0", "a2", "a0", "all"]
    task = load("synthetic", **KNOBS)
    for run in runs:
        groups = task.groups(list(run.spec.protect)).ids[np.asarray(task.rows("test"))]
        rows = found[run.id].measured[0].counts.table.sum(axis=(-1, -2))
        assert rows.tolist() == np.bincount(groups, minlength=4).tolist()


def test_numbers_are_taken_by_the_groups_of_each_run(tmp_path):
    runs = [run_of("erm", (name,)) for name in ("a0", "a1")]
    runs = [replace(run, spec=replace(run.spec, numbers=("delta_er", "curvature"))) for run in runs]
    together = records(runs, tmp_path)
    for run in runs:
        alone = records([run], tmp_path / run.id)[run.id]
        assert alone.numbers == together[run.id].numbers
    assert len({record.numbers["delta_er"] for record in together.values()}) == 2
    assert len({record.weights for record in together.values()}) == 1  # erm does not look at them


@pytest.mark.parametrize("shift", ["gaussian 0.5", "group-share 0.5"])
def test_shifts_are_those_of_each_run(shift, tmp_path):
    runs = [run_of("w-erm", (name,)) for name in ("a0", "a1")]
    part = ("test", f"test ~ {shift} #1")
    runs = [replace(run, spec=replace(run.spec, parts=part)) for run in runs]
    together = records(runs, tmp_path)
    for run in runs:
        same(records([run], tmp_path / run.id)[run.id], together[run.id])


def test_a_stack_that_was_interrupted_goes_on(tmp_path):
    runs = many("gdro", eta=0.5)
    whole, told = records(runs, tmp_path / "whole"), []

    def stop(standing):
        told.append(standing.done)
        if len(told) == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        records(runs, tmp_path / "part", stop, checkpoint_every=0.0)
    again = records(runs, tmp_path / "part", lambda standing: None)
    for run in runs:
        same(whole[run.id], again[run.id])


def test_other_levels_part_runs():
    adult = [a_run(data="titanic", knobs={}, protect=(name,)) for name in ("sex", "pclass", "age_group")]
    sizes = sorted(len(bucket.runs) for bucket in plan(adult))
    levels = [len(load("titanic").attribute(name).levels) for name in ("sex", "pclass", "age_group")]
    assert sizes == sorted(levels.count(n) for n in set(levels))


def test_other_groups_on_other_data_part_runs():
    """Each stack would hold data that only some of its runs look at."""
    runs = [run_of("erm", ("a0",), knobs=KNOBS), run_of("erm", ("a1",), knobs={**KNOBS, "seed": 1})]
    assert len(plan(runs)) == 2
    alike = [run_of("erm", (name,), knobs={**KNOBS, "seed": s}) for name in ("a0", "a1") for s in (0, 1)]
    assert len(plan(alike)) == 1


def test_shared_batches_part_runs_with_other_groups():
    runs = [run_of("erm", (name,), recipe={"share_batches": True}) for name in ("a0", "a1")]
    assert len(plan(runs)) == 2


def test_inputs_of_one_task_are_held_once():
    task, other = load("synthetic", **KNOBS), load("synthetic", **{**KNOBS, "seed": 1})
    part = Part([task, other, task], [("a0",), ("a1",), ("a2",)], "train", CPU)
    assert len(part._inputs.x) == 2 * part.n
    assert len(part.y) == 2 * part.n
    rows, tasks = torch.tensor([[3, 5]]).expand(3, -1), torch.tensor([2, 1, 0])
    x, y, g, _ = part.take(rows, tasks)
    for place, (own, name) in enumerate([(task, "a2"), (other, "a1"), (task, "a0")]):
        there = own.rows("train")[[3, 5]]
        assert torch.equal(x[place], own.scaling(own.x[there]))
        assert torch.equal(y[place], own.y[there])
        assert g[place].tolist() == own.attribute(name).codes[there.numpy()].tolist()


def test_one_task_alone_is_looked_at_once_by_all():
    task = load("synthetic", **KNOBS)
    part = Part([task, task], [("a0",), ("a1",)], "test", CPU)
    x, *_ = part.take(torch.arange(4).expand(2, -1), torch.tensor([0, 1]))
    assert x.shape == (2, 4, 10)
    assert x.stride(0) == 0  # nothing was copied
    own, *_ = part.take(torch.tensor([[0, 1], [2, 3]]), torch.tensor([0, 1]))
    assert torch.equal(own, x[0].view(2, 2, 10))


def test_lists_must_fit_the_tasks():
    task = load("synthetic", **KNOBS)
    for wrong in ([("a0",)], ["a0", ("a1",)], [(), (), ()]):
        with pytest.raises(InputError, match="one such list for each of 2 tasks"):
            protect_of_each(wrong, 2)
    runs = [Run(method_of("erm"), 0, 0), Run(method_of("erm"), 0, 1)]
    with pytest.raises(InputError, match="same shapes, groups and numbers of rows"):
        train_runs(runs, [task, task], NetSpec("mlp"), Recipe(epochs=1), protect=[("a0",), ("a0", "a1")])

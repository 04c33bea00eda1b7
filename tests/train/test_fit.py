"""Many runs: which share a stack, that splitting changes nothing, too little memory, progress."""

from __future__ import annotations

import gc
import weakref
from dataclasses import dataclass, replace

import pytest
import torch

from evenhand.errors import InputError
from evenhand.methods.erm import ERM
from evenhand.methods.group_dro import GroupDRO
from evenhand.methods.resample import Resample
from evenhand.nets import NetSpec
from evenhand.records import Needs
from evenhand.train.fit import device_of, stack_size_for, train_runs
from evenhand.train.own_net import OwnNet, buildable
from evenhand.train.recipe import Recipe
from evenhand.train.runs import Run
from evenhand.train.trainer import Trainer

NET = NetSpec("mlp", widths=(16,), dropout=0.2)
RECIPE = Recipe(epochs=2, batch_size=16)


def runs_of(n, method=None, tasks=None):
    return [Run(method or ERM(), seed, 0 if tasks is None else tasks[seed]) for seed in range(n)]


def ends(kit, trainers):
    """What each run ends with, in the order of the trainers."""
    return [kit.numbers(trainer, run) for trainer in trainers for run in range(trainer.stack.n_runs)]


@pytest.mark.parametrize("options", [{}, {"share_batches": True}, {"patience": 1, "keep": "best"}])
@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_the_size_of_the_stacks_changes_nothing(kit, size, options):
    task, recipe = kit.task(), replace(RECIPE, **options)
    whole = train_runs(runs_of(5), [task], NET, recipe, protect=["a0"])
    parts = train_runs(runs_of(5), [task], NET, recipe, protect=["a0"], stack_size=size)
    assert len(whole) == 1
    assert [trainer.stack.n_runs for trainer in parts] == [min(size, 5 - at) for at in range(0, 5, size)]
    assert [run.seed for trainer in parts for run in trainer.runs] == list(range(5))
    for one, other in zip(ends(kit, whole), ends(kit, parts), strict=True):
        kit.assert_same(one, other)


def test_a_recipe_with_a_number_for_each_run_is_split_with_the_runs(kit):
    rates = (0.01, 0.02, 0.0, 0.03)
    recipe = replace(RECIPE, rate=rates, precision="float64")
    whole = train_runs(runs_of(4), [kit.task()], NET, recipe, stack_size=4)
    parts = train_runs(runs_of(4), [kit.task()], NET, recipe, stack_size=3)
    assert [trainer.recipe.rate for trainer in parts] == [(0.01, 0.02, 0.0), (0.03,)]
    for one, other in zip(ends(kit, whole), ends(kit, parts), strict=True):
        kit.assert_same(one, other, 1e-10)
    with pytest.raises(InputError, match="'rate' has 4 numbers for 5 runs"):
        train_runs(runs_of(5), [kit.task()], NET, recipe)


def test_a_network_that_cannot_be_stacked_is_trained_singly(kit):
    for size in (None, 8):
        recipe = Recipe(epochs=1, batch_size=8)
        found = train_runs(runs_of(2), [kit.images()], NetSpec("cifar-resnet18"), recipe, stack_size=size)
        assert [trainer.stack.stacked for trainer in found] == [False, False]


def test_a_method_that_cannot_be_stacked_is_trained_singly(kit):
    @dataclass(frozen=True)
    class Lonely(ERM):
        needs = Needs(stackable=False)

    found = train_runs(runs_of(3, Lonely()), [kit.task()], NET, RECIPE)
    assert len(found) == 3
    together = train_runs(runs_of(3), [kit.task()], NET, RECIPE)
    for one, other in zip(ends(kit, found), ends(kit, together), strict=True):
        kit.assert_same(one, other)


def test_a_task_for_each_run(kit):
    """Each stack holds the tasks of its own runs alone."""
    tasks = [kit.task(seed=seed) for seed in range(3)]
    runs = runs_of(3, GroupDRO(), tasks=[2, 0, 1])
    for size in (1, 2, 3):
        found = train_runs(runs, tasks, NET, RECIPE, protect=["a0"], stack_size=size)
        assert [len(trainer.tasks) for trainer in found] == [min(size, 3 - at) for at in range(0, 3, size)]
        for run, end in zip(runs, ends(kit, found), strict=True):
            (alone,) = train_runs([replace(run, task=0)], [tasks[run.task]], NET, RECIPE, protect=["a0"])
            kit.assert_same(end, kit.numbers(alone), 1e-6)


def test_tasks_of_different_lengths_are_trained_one_at_a_time(kit):
    tasks = [kit.task(), kit.task(n_train=80)]
    runs = runs_of(2, tasks=[0, 1])
    with pytest.raises(InputError, match="must have the same shapes, groups and numbers of rows"):
        train_runs(runs, tasks, NET, RECIPE)
    assert len(train_runs(runs, tasks, NET, RECIPE, stack_size=1)) == 2


def test_epochs_of_different_lengths_are_told(kit):
    """Balancing keeps as many rows as the smallest group has, which is another number in each task."""
    tasks = [kit.task(seed=seed, shares=(0.3, 0.7)) for seed in range(3)]
    method = Resample("under")
    with pytest.raises(InputError, match=r"epochs of one length, .* train them one at a time"):
        train_runs(runs_of(3, method, tasks=[0, 1, 2]), tasks, NET, RECIPE, protect=["a0"])


# -- sizes ---------------------------------------------------------------------------------------------------


def test_how_many_runs_share_a_stack(kit):
    size = lambda net, **more: stack_size_for(  # noqa: E731
        runs_of(2), [kit.task()], net, ["a0"], torch.device("cpu"), **more
    )
    assert size(NET) == 64
    assert size(NetSpec("mlp", widths=(1000, 1000))) == 2  # a million numbers each
    assert size(NetSpec("mlp", widths=(4000, 4000))) == 1
    assert size(NetSpec("mlp", widths=(4000, 4000)), wanted=8) == 8  # as asked
    assert size(NET, wanted=0) == 1
    assert stack_size_for(
        runs_of(2), [kit.images()], NetSpec("cifar-resnet18"), [], torch.device("cpu"), 8
    ) == 1  # fmt: skip


def test_asking_for_the_size_leaves_the_callers_generator_alone(kit):
    torch.manual_seed(5)
    expected = torch.rand(2)
    torch.manual_seed(5)
    train_runs(runs_of(1), [kit.task()], NET, RECIPE)
    assert torch.equal(torch.rand(2), expected)


# -- memory --------------------------------------------------------------------------------------------------


def test_a_stack_that_does_not_fit_is_split(kit, monkeypatch):
    """Trainers of more than two runs find no memory, once they have begun."""
    fit, tried, alive = Trainer.fit, [], []

    def scarce(self, *args, **options):
        gc.collect()
        alive.append(sum(reference() is not None for reference in tried) - 1)
        if self.stack.n_runs > 2:
            raise torch.cuda.OutOfMemoryError("no memory")
        return fit(self, *args, **options)

    def noted(self, *args, **options):
        made(self, *args, **options)
        tried.append(weakref.ref(self))

    expected = ends(kit, train_runs(runs_of(7), [kit.task()], NET, RECIPE))
    made = Trainer.__init__
    monkeypatch.setattr(Trainer, "__init__", noted)
    monkeypatch.setattr(Trainer, "fit", scarce)
    found = train_runs(runs_of(7), [kit.task()], NET, RECIPE, stack_size=7)
    assert [trainer.stack.n_runs for trainer in found] == [1, 2, 2, 2]
    assert [run.seed for trainer in found for run in trainer.runs] == list(range(7))
    for one, other in zip(expected, ends(kit, found), strict=True):
        kit.assert_same(one, other)
    assert alive[1] == 0  # what failed is gone before the next is tried


def test_a_single_run_that_does_not_fit_is_an_error(kit, monkeypatch):
    def never(self, *args, **options):
        raise torch.cuda.OutOfMemoryError("no memory")

    monkeypatch.setattr(Trainer, "fit", never)
    with pytest.raises(torch.cuda.OutOfMemoryError):
        train_runs(runs_of(3), [kit.task()], NET, RECIPE)


# -- checkpoints and progress --------------------------------------------------------------------------------


def test_finished_stacks_are_not_trained_again(kit, tmp_path, monkeypatch):
    options = {"stack_size": 2, "folder": tmp_path}
    first = train_runs(runs_of(3), [kit.task()], NET, RECIPE, **options)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "checkpoint-0000-0001.npz",
        "checkpoint-0002-0002.npz",
    ]
    monkeypatch.setattr("evenhand.train.step.Step.run", lambda *_: pytest.fail("a step was taken"))
    again = train_runs(runs_of(3), [kit.task()], NET, RECIPE, **options)
    for one, other in zip(ends(kit, first), ends(kit, again), strict=True):
        kit.assert_same(one, other)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_progress_goes_from_nothing_to_all(kit, size):
    told = []
    train_runs(runs_of(3), [kit.task()], NET, RECIPE, tell=told.append, stack_size=size)
    done = [progress.done for progress in told]
    assert done == sorted(done)
    assert 0 < done[0] < done[-1] == pytest.approx(1.0)
    last = told[-1]
    assert (last.phase, last.epoch, last.epochs, last.step, last.steps) == ("train", 2, 2, 0, 6)
    assert last.rate > 0
    assert {"train", "loss", "error"} <= set(last.numbers)  # of the epoch that has just ended


# -- devices and networks ------------------------------------------------------------------------------------


def test_devices_by_name(monkeypatch):
    assert device_of("cpu") == torch.device("cpu")
    with pytest.raises(InputError, match="there is no device 'gpu'; use auto, cpu, cuda or cuda:0"):
        device_of("gpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert device_of("auto") == torch.device("cpu")
    with pytest.raises(InputError, match="there is no CUDA device here"):
        device_of("cuda")


def test_whatever_builds_a_network(kit):
    assert buildable("s4-mlp") == NetSpec("s4-mlp")
    assert buildable(NET) is NET
    module = torch.nn.Linear(6, 2)
    made = buildable(module)
    assert isinstance(made, OwnNet)
    built = made.build((6,), 2)
    logits, features = built(torch.zeros(3, 6))
    assert (logits.shape, features) == ((3, 2), None)
    with torch.no_grad():
        next(built.parameters()).fill_(0.0)
    assert module.weight.abs().sum() > 0  # every run has a copy
    function = buildable(lambda shape, outputs: torch.nn.Linear(shape[0], outputs))
    assert function.build((6,), 5)(torch.zeros(1, 6))[0].shape == (1, 5)
    for wrong in (torch.nn.Linear, 7, None):
        with pytest.raises(InputError, match="a network is a name, a NetSpec, a module or a function"):
            buildable(wrong)
    with pytest.raises(InputError, match="there is no network 'mpl'; did you mean 'mlp'"):
        buildable("mpl")


def test_a_module_with_the_wrong_number_of_outputs_is_refused(kit):
    for outputs in (3, 5):
        with pytest.raises(InputError, match=f"the network has {outputs} outputs, and 2 are needed here"):
            train_runs(runs_of(1), [kit.task()], buildable(torch.nn.Linear(6, outputs)), RECIPE)
    (one,) = train_runs(runs_of(1), [kit.task()], buildable(torch.nn.Linear(6, 1)), RECIPE)
    assert one.scores(one.validation).shape == (1, 40, 2)  # one output serves two classes

"""Tools for tests of training: tiny tasks, trainers of them, and comparisons to the bit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from evenhand.data.card import DataCard
from evenhand.data.registry import load
from evenhand.data.task import Scaling, Task
from evenhand.groups import Attribute
from evenhand.methods.base import Method
from evenhand.methods.erm import ERM
from evenhand.nets import NetSpec
from evenhand.train.recipe import Recipe
from evenhand.train.runs import Run
from evenhand.train.trainer import Trainer


@pytest.fixture(scope="session")
def kit() -> SimpleNamespace:
    """The functions below, for test modules, which cannot import this one."""
    return SimpleNamespace(
        task=tiny_task,
        images=image_task,
        trainer=trainer_of,
        numbers=numbers_of,
        assert_same=assert_same,
        assert_each_alone=assert_each_alone,
        without_time=without_time,
    )


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Tiny products on several threads are slower, and on a busy machine very much so."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@cache
def tiny_task(seed: int = 0, n_train: int = 96, **knobs: Any) -> Task:
    """A synthetic table of six inputs."""
    sizes = {"n_train": n_train, "n_validation": 40, "n_test": 56, "d": 6}
    return load("synthetic", seed=seed, **{**sizes, **knobs})


@cache
def image_task(n: int = 48, size: int = 8, channels: int = 3, seed: int = 0) -> Task:
    """Images of random bytes with two classes and one attribute; a third of the rows each for every part."""
    source = torch.Generator().manual_seed(seed)
    x = torch.randint(0, 256, (n, channels, size, size), generator=source, dtype=torch.uint8)
    y = (x.float().mean((1, 2, 3)) > x.float().mean()).to(torch.int64)
    codes = np.arange(n) % 2
    rows = torch.randperm(n, generator=source)
    split = dict(zip(("train", "validation", "test"), rows.chunk(3), strict=True))
    card = DataCard("noise", "random bytes", "made here", "none")
    side = Attribute("side", ("left", "right"), codes)
    return Task("noise", x, y, (side,), split, card, ("dark", "light"), Scaling(127.5, 127.5))


def trainer_of(
    task: Task | Sequence[Task],
    seeds: Sequence[int] = (0,),
    method: Method | Sequence[Method] | None = None,
    *,
    net: Any = None,
    tasks: Sequence[int] | None = None,
    stacked: bool | None = None,
    resident: bool | None = None,
    watch: Sequence[str] = (),
    protect: Sequence[str] | None = None,
    **recipe: Any,
) -> Trainer:
    """A trainer of a run for each seed, on the CPU.

    The products are large enough (400 multiplications and more) that torch takes the same kernel for a stack
    of them as for a single one.
    """
    all_tasks = [task] if isinstance(task, Task) else list(task)
    method = ERM() if method is None else method
    methods = [method] * len(seeds) if isinstance(method, Method) else list(method)
    places = [0] * len(seeds) if tasks is None else tasks
    runs = [Run(m, seed, place) for m, seed, place in zip(methods, seeds, places, strict=True)]
    net = NetSpec("mlp", widths=(16,)) if net is None else net
    names = [a.name for a in all_tasks[0].attributes] if protect is None else protect
    values = Recipe(**{"epochs": 3, "batch_size": 16, "rate": 0.01, **recipe})
    return Trainer(
        runs, all_tasks, net, values, protect=names, stacked=stacked, resident=resident, watch=watch
    )


def numbers_of(trainer: Trainer, run: int = 0) -> dict[str, Tensor]:
    """Everything that a run ends with: parameters, state, and the statistics of a single run."""
    pick = (lambda value: value[run]) if trainer.stack.stacked else (lambda value: value)
    found = {
        f"{network}.{key}": pick(leaf.detach()).clone()
        for network, values in trainer.stack.parameters.items()
        for key, leaf in values.items()
    }
    found |= {f"state {name}": pick(value).clone() for name, value in trainer.state.items()}
    if not trainer.stack.stacked:
        found |= {f"buffer {name}": value.clone() for name, value in trainer.stack.buffers().items()}
    return found


def assert_same(one: dict[str, Tensor], other: dict[str, Tensor], within: float = 0.0) -> None:
    """Equal to the bit, or within so much; NaN equals NaN."""
    assert one.keys() == other.keys()
    for name, value in one.items():
        assert value.shape == other[name].shape, name
        if within:
            assert (value - other[name]).abs().max() <= within, name
        else:
            assert torch.equal(value.nan_to_num(nan=-77.0), other[name].nan_to_num(nan=-77.0)), name


def assert_each_alone(make: Any, n_runs: int, within: float = 0.0) -> None:
    """`make(runs)` trains the runs with these places side by side: each ends as it does alone."""
    together = make(list(range(n_runs)))
    for run in range(n_runs):
        assert_same(numbers_of(together, run), numbers_of(make([run])), within)


def without_time(history: Sequence[dict[str, Any]]) -> str:
    """A history as a text, but for how long things took."""
    return repr([{key: value for key, value in entry.items() if key != "seconds"} for entry in history])

"""Many runs of one method: which of them share a stack, trained one stack after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import nn

from evenhand.data.task import Task
from evenhand.errors import InputError
from evenhand.methods.problem import Problem
from evenhand.train.building import Buildable, networks_of
from evenhand.train.gpu_memory import let_go
from evenhand.train.progress import Progress, Tell
from evenhand.train.recipe import Recipe
from evenhand.train.runs import Run, protect_of_each
from evenhand.train.stack import seeded
from evenhand.train.trainer import Trainer

CACHED_NUMBERS = 3_000_000  # parameters of a stack that a CPU's cache serves well
MOST_ON_CPU = 64
MOST_ON_GPU = 2048
GPU_COPIES = 12  # parameter-sized arrays that training holds: parameters, gradients, moments, work space


def device_of(name: str = "auto") -> torch.device:
    """The device of that name; "auto" is a GPU where there is one.

    >>> device_of("cpu")
    device(type='cpu')
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except (RuntimeError, TypeError) as error:
        raise InputError(f"there is no device {name!r}; use auto, cpu, cuda or cuda:0") from error
    if device.type not in ("cpu", "cuda"):
        raise InputError(f"training on the device {str(device)!r} is not supported; use auto, cpu or cuda")
    if device.type == "cuda" and not torch.cuda.is_available():
        raise InputError("there is no CUDA device here; use the device cpu or auto")
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise InputError(f"there is no device {name!r}; there are {torch.cuda.device_count()} CUDA devices")
    return device


def train_runs(
    runs: Sequence[Run],
    tasks: Sequence[Task],
    net: Buildable,
    recipe: Recipe,
    *,
    protect: Sequence[str | Sequence[str]] = (),
    device: torch.device | str = "cpu",
    stack_size: int | None = None,
    tell: Tell | None = None,
    folder: Path | None = None,
    watch: Sequence[str] = (),
    every: float = 60.0,
    begin: Callable[[Sequence[int], Trainer], None] | None = None,
) -> list[Trainer]:
    """Train all runs; those that can be are stacked, at most `stack_size` at a time.

    `protect` names attributes, or has a list of them for each of the tasks: one and the same task may be
    there several times with others protected, and its inputs are then held once.

    With a folder, each stack keeps a checkpoint there (written `every` so many seconds), and what was
    finished is not trained again. A stack that does not fit on the GPU is split in two and tried again.
    `begin` is handed the places of a stack's runs and its new trainer, unless there is a checkpoint: it may
    set it to where the runs are to begin.
    """
    device, protects = torch.device(device), protect_of_each(protect, len(tasks))
    size = stack_size_for(runs, tasks, net, protect, device, stack_size)
    waiting = [list(range(start, min(start + size, len(runs)))) for start in range(0, len(runs), size)]
    done: list[tuple[int, Trainer]] = []
    while waiting:
        places = waiting.pop(0)
        told = _part_of_all(tell, sum(t.stack.n_runs for _, t in done), len(places), len(runs))
        file = None if folder is None else folder / f"checkpoint-{places[0]:04d}-{places[-1]:04d}.npz"
        mine = _recipe_of(recipe, places, len(runs))
        own, kept = _tasks_of([runs[place] for place in places])
        used, seen = [tasks[place] for place in kept], [protects[place] for place in kept]
        try:  # no name is bound to a trainer that may fail: it would hold on to the memory it did get
            made = Trainer(own, used, net, mine, protect=seen, device=device, watch=watch).fit(
                told, file, every, begin and partial(begin, places)
            )
            done.append((places[0], made))
            continue
        except torch.cuda.OutOfMemoryError:
            if len(places) == 1:
                raise
        let_go(device)  # not while the error is handled: all that it came through would be kept
        half = len(places) // 2
        waiting = [places[:half], places[half:], *waiting]
    return [trainer for _, trainer in sorted(done, key=lambda pair: pair[0])]


def stack_size_for(
    runs: Sequence[Run],
    tasks: Sequence[Task],
    net: Buildable,
    protect: Sequence[str | Sequence[str]],
    device: torch.device,
    wanted: int | None = None,
) -> int:
    """How many runs to train side by side: one where the method or the network cannot be stacked."""
    method, problem = runs[0].method, Problem.of(tasks[0], protect_of_each(protect, len(tasks))[0])
    method.check(problem)
    with seeded(0):  # the caller's generator is left as it is
        networks = networks_of(net, method, problem).values()
    if not method.needs.stackable or not all(getattr(each, "stackable", True) for each in networks):
        return 1
    if wanted is not None:
        return max(1, wanted)
    numbers = max(1, sum(parameter.numel() for each in networks for parameter in each.parameters()))
    if (
        device.type == "cuda"
    ):  # of what there is, not of what is free: a resumed fit must find its stacks again
        room = torch.cuda.get_device_properties(device).total_memory // 4
        fitting = max(1, room // (numbers * 4 * GPU_COPIES))
        return min(MOST_ON_GPU, 1 << (fitting.bit_length() - 1))
    if any(isinstance(module, nn.Conv2d) for each in networks for module in each.modules()):
        return 1  # on a CPU convolutions of a stack take a tenth to a third longer than one after the other
    return max(1, min(MOST_ON_CPU, CACHED_NUMBERS // numbers))


def _tasks_of(runs: Sequence[Run]) -> tuple[list[Run], list[int]]:
    """The runs, and the places of the tasks that they are for: the others need not be on the device."""
    used = sorted({run.task for run in runs})
    return [replace(run, task=used.index(run.task)) for run in runs], used


def _recipe_of(recipe: Recipe, places: Sequence[int], total: int) -> Recipe:
    """The recipe with the numbers of these runs, where each run has its own."""
    chosen: dict[str, Any] = {}
    for name in ("rate", "weight_decay", "clip"):
        values = getattr(recipe, name)
        if isinstance(values, tuple):
            if len(values) != total:
                raise InputError(f"'{name}' has {len(values)} numbers for {total} runs")
            chosen[name] = tuple(values[place] for place in places)
    return replace(recipe, **chosen)


def _part_of_all(tell: Tell | None, before: int, now: int, total: int) -> Tell | None:
    """Progress of one stack as progress of all runs."""
    if tell is None:
        return None

    def told(progress: Progress) -> None:
        tell(replace(progress, done=(before + progress.done * now) / total))

    return told

"""Plan: which runs share a stack, how many side by side, and which buckets go first."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import torch

from evenhand.data.task import Task
from evenhand.groups import MOST_GROUPS
from evenhand.methods.base import Method, float_fields
from evenhand.methods.problem import Problem
from evenhand.nets.registry import NetSpec
from evenhand.study.first_training import AWAITED, OWN, awaited_in, standing_of
from evenhand.study.records import Bucket, PlannedRun, RunSpec, canonical
from evenhand.study.sharing import Training, is_chosen_by_validation, trained_method, trainings_of
from evenhand.study.tasks import load_method, look_at_task
from evenhand.train.building import networks_of
from evenhand.train.fit import stack_size_for
from evenhand.train.runs import Run

OWN_NUMBERS = ("rate", "weight_decay", "clip")  # of the recipe, which may differ from run to run of a stack
LEAST_TO_SHARE = 8  # runs: a bucket is not cut smaller only to give every worker one

TaskOf = Callable[[str, Any], Task]


def plan(
    runs: Iterable[PlannedRun],
    *,
    device: torch.device | str = "cpu",
    workers: int = 1,
    threads: int = 1,
    stack: int | None = None,
    task_of: TaskOf = look_at_task,
    later: Iterable[PlannedRun] = (),
) -> list[Bucket]:
    """Buckets of runs that can be trained together: what others wait for, then the costliest first.

    Runs of one bucket agree in everything that shapes the computation: inputs, rows, the number of groups,
    network, the method and its fields that are no numbers, the recipe apart from its numbers. Which
    attributes of the same data they protect may differ, if these have equally many levels. `stack` limits how
    many are trained side by side; unless given, it is what the device's memory or cache can hold.

    What is counted are trainings: runs that share one (see `evenhand.study.sharing`) are in one bucket, side
    by side. Identical runs are never stacked: each training of theirs is a bucket. `later` are runs that are
    not planned now, and may begin with what is trained now.
    """
    runs, device, task_of = list(runs), torch.device(device), _kept(task_of)
    awaited = awaited_in([*runs, *later], device.type)
    signatures: dict[str, Any] = {}
    found: list[Bucket] = []
    for members in _alike(runs, lambda spec: _key(spec, task_of, signatures)):
        trainings = trainings_of(members)
        wanted = stack if members[0].spec.repeat is None else 1
        size, each, draws = _size_and_cost(members[0].spec, device, wanted, task_of)
        if device.type == "cpu":  # a GPU takes as long for many as for few: there, workers take other buckets
            size = min(size, max(LEAST_TO_SHARE, math.ceil(len(trainings) / workers)))
        for bucket in _cut(trainings, size, each, threads, device.type):
            first = OWN if draws else standing_of(bucket.runs, awaited, device.type)
            found.append(replace(bucket, first=first))
    return sorted(found, key=turn)


def turn(bucket: Bucket) -> tuple[bool, float]:
    """By what buckets are sorted: what others wait for, then the costliest, so that none is left over."""
    return bucket.first != AWAITED, -bucket.cost


def _alike(runs: Iterable[PlannedRun], key: Callable[[RunSpec], str]) -> list[list[PlannedRun]]:
    """Runs that share a stack, those with other groups only where their data are the same.

    Inputs are then held once for all of them; of other data, every stack would hold what few runs look at.
    """
    by_groups: dict[tuple[str, str], list[PlannedRun]] = {}
    for run in runs:
        groups = canonical([run.spec.protect, run.spec.groupings])
        by_groups.setdefault((key(run.spec), groups), []).append(run)
    joined: dict[tuple[str, frozenset[str]], list[PlannedRun]] = {}
    for (shapes, _), members in by_groups.items():
        data = frozenset(canonical([run.spec.data, dict(run.spec.knobs)]) for run in members)
        joined.setdefault((shapes, data), []).extend(members)
    return list(joined.values())


def _kept(task_of: TaskOf) -> TaskOf:
    """The same, asked once for each task that holds no inputs in memory; others would fill it."""
    found: dict[str, Task] = {}

    def kept(data: str, knobs: Any) -> Task:
        key = canonical([data, dict(knobs)])
        task = found[key] if key in found else task_of(data, knobs)
        if not isinstance(task.x, torch.Tensor):
            found[key] = task
        return task

    return kept


def _key(spec: RunSpec, task_of: TaskOf, signatures: dict[str, Any]) -> str:
    """What runs of one stack have in common, as text."""
    data = canonical([spec.data, dict(spec.knobs), spec.protect])
    if data not in signatures:
        signatures[data] = _signature(task_of(spec.data, spec.knobs), spec.protect)
    method = canonical([spec.method, dict(spec.fields), is_chosen_by_validation(spec.recipe)])
    if method not in signatures:
        signatures[method] = _static(spec)
    lengths = canonical([data, method])
    if lengths not in signatures:
        signatures[lengths] = _epoch_lengths(spec, task_of)
    recipe = {name: value for name, value in spec.recipe.items() if name not in OWN_NUMBERS}
    # batches that are shared bring the groups of one run for all
    protect = spec.protect if spec.recipe.get("share_batches") else ()
    return canonical(
        [signatures[data], signatures[lengths], spec.net, dict(spec.net_options),
         signatures[method], recipe, protect, spec.parts, spec.numbers, dict(spec.sources),
         spec.repeat is not None, spec.vary]
    )  # fmt: skip


def _signature(task: Task, protect: Sequence[str]) -> list[Any]:
    """The shape of a task: tasks of one shape are trained in one stack."""
    rows = {part: len(places) for part, places in task.split.items()}
    levels = [len(task.attribute(name).levels) for name in protect]
    if math.prod(levels) > MOST_GROUPS:  # only those that occur are groups then
        levels.append(task.groups(protect).n_groups)
    kind = str(getattr(task.x, "dtype", None) or f"lazy {id(task.x)}")  # what will be painted has a type too
    return [task.input_shape, kind, len(task), rows, len(task.classes), task.multi_label, levels]


def _epoch_lengths(spec: RunSpec, task_of: TaskOf) -> list[int]:
    """How many rows an epoch of each phase has, where the method chooses them: a stack has one length."""
    method = trained_method(spec)
    if type(method).sampling is Method.sampling:
        return []
    problem = Problem.of(task_of(spec.data, spec.knobs), spec.protect)
    chosen = [method.sampling(problem, spec.seed, phase.name).rows for phase in method.phases()]
    return [0 if rows is None else len(rows) for rows in chosen]


def _static(spec: RunSpec) -> list[Any]:
    """What is trained, and its fields that are no numbers: forms of one method may be trained as one."""
    method, made = load_method(spec.method, spec.fields), trained_method(spec)
    form = made.stacked_form()
    numbers = float_fields(form)
    named = spec.method if type(made) is type(method) else made.key  # as runs of that method say it
    trained = named if type(form) is type(made) else repr(type(form))
    return [trained, {name: repr(value) for name, value in vars(form).items() if name not in numbers}]


def _size_and_cost(
    spec: RunSpec, device: torch.device, stack: int | None, task_of: TaskOf
) -> tuple[int, float, bool]:
    """How many such runs are trained side by side, what one of them costs, whether its network draws noise.

    The cost is rows seen times parameters.
    """
    task, method = task_of(spec.data, spec.knobs), trained_method(spec)
    net = NetSpec(spec.net, spec.net_options)
    size = stack_size_for([Run(method, spec.seed)], [task], net, spec.protect, device, stack)
    problem = Problem.of(task, spec.protect)
    with torch.device("meta"):  # counted, not filled
        networks = networks_of(net, method, problem)
    numbers = sum(each.numel() for network in networks.values() for each in network.parameters())
    epochs = sum(spec.recipe["epochs"] if p.epochs is None else p.epochs for p in method.phases())
    draws = bool(getattr(networks["model"], "noise", dict)())
    return size, float(epochs * len(task.rows("train")) * max(1, numbers)), draws


def _cut(trainings: Sequence[Training], size: int, each: float, threads: int, device: str) -> list[Bucket]:
    """Pieces of nearly equal size, so that the last is no straggler."""
    pieces = math.ceil(len(trainings) / size)
    bounds = [round(number * len(trainings) / pieces) for number in range(pieces + 1)]
    found = []
    for low, high in pairwise(bounds):
        runs = tuple(run for training in trainings[low:high] for run in training)
        found.append(Bucket(bucket_id(runs), runs, size, threads, each * (high - low), device))
    return found


def bucket_id(runs: Iterable[PlannedRun]) -> str:
    """A bucket is known by its members and their order."""
    return hashlib.sha256(" ".join(run.id for run in runs).encode()).hexdigest()[:16]

"""The ways to train that benchmarks/ci_mnist_study.py compares, each of them in stretches that take turns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import torch

from benchmarks.ci_mnist_study_table import FIRST_PHASE
from benchmarks.stacked import Setting, by_hand, clock
from evenhand.data.task import Task
from evenhand.nets.registry import NetSpec
from evenhand.study.expand import expand
from evenhand.study.plan import plan
from evenhand.study.read import read_study
from evenhand.study.records import PlannedRun
from evenhand.study.tasks import load_method, load_task
from evenhand.train.progress import Progress
from evenhand.train.recipe import Recipe
from evenhand.train.runs import Run
from evenhand.train.trainer import TOLD_EVERY, Trainer

LONGEST = 2.0  # seconds of a stretch, whatever the number of steps


@dataclass(frozen=True)
class Job:
    """One stack of the study and the methods in it whose runs are measured one by one."""

    methods: tuple[str, ...]
    net: str
    device: str
    part: str
    tasks: int
    ffvae_stack: int
    steps: int
    rounds: int


def planned(small: Task) -> list[PlannedRun]:
    """All runs of the study; nothing is painted for it, as all its trainings are of one shape."""
    return expand(read_study("ci-mnist"), task_of=lambda data, knobs: small, checksum_of=lambda task: "")


def stack_of(runs: Sequence[PlannedRun], job: Job, task: Task) -> list[PlannedRun]:
    """The runs that the study trains side by side with those of this job."""
    for bucket in plan(runs, device=job.device, task_of=lambda data, knobs: task):
        if job.methods[0] in {run.method for run in bucket.runs}:
            return list(bucket.runs)[: job.ffvae_stack if job.methods == ("ffvae",) else None]
    raise SystemExit(f"the study has no runs of {job.methods[0]} with {job.net}")


def trainings(job: Job) -> list[Task]:
    """The first trainings of the study: what is painted on the digits does not change how fast a step is."""
    specs = read_study("ci-mnist").tasks[: job.tasks]
    return [load_task(spec.data, {**spec.knobs, "part": job.part}) for spec in specs]


def trainer_of(runs: Sequence[PlannedRun], tasks: Sequence[Task], job: Job, *, alone: bool) -> Trainer:
    """A stack as the study trains it, or one run by itself and eager."""
    spec = runs[0].spec
    methods = [load_method(run.spec.method, run.spec.fields) for run in runs]
    recipe = Recipe.of(**spec.recipe)
    if alone:
        recipe, tasks = replace(recipe, compile=False), tasks[:1]
    members = [
        Run(method if alone else method.stacked_form(), run.spec.seed, place % len(tasks))
        for place, (method, run) in enumerate(zip(methods, runs, strict=True))
    ]
    net = NetSpec(spec.net, spec.net_options)
    stacked = False if alone else None
    return Trainer(members, tasks, net, recipe, protect=spec.protect, device=job.device, stacked=stacked)


class Enough(KeyboardInterrupt):
    """Stops a training that will be gone on with."""


@dataclass
class Way:
    """One way to train: `stretch(steps)` gives the seconds of one step, in which `models` models move."""

    what: str
    method: str
    models: int
    stretch: Callable[[int], float]
    best: float = float("inf")

    def measure(self, steps: int) -> None:
        self.best = min(self.best, self.stretch(steps))


def going_on(trainer: Trainer) -> Callable[[int], float]:
    """Stretches of a training: it is stopped after so many steps, and the next stretch goes on from there."""

    def stretch(steps: int) -> float:
        marks: list[tuple[int, int, float]] = []

        def listen(progress: Progress) -> None:
            place = trainer.position
            marks.append((place.epoch, place.step, clock(trainer.device)))
            taken = (len(marks) - 1) * TOLD_EVERY
            if taken >= steps or (taken and marks[-1][2] - marks[0][2] > LONGEST):
                raise Enough

        with suppress(Enough):
            trainer.fit(listen)
        pairs = [(a, b) for a, b in pairwise(marks) if a[0] == b[0]]  # within an epoch: no validation
        return sum(b[2] - a[2] for a, b in pairs) / sum(b[1] - a[1] for a, b in pairs)

    return stretch


def with_convolutions(trainer: Trainer) -> Trainer:
    """FFVAE with convolutions on a GPU too: products, which stacks are faster with, may slow a single run."""
    for name in ("encoder", "decoder"):
        template: Any = trainer.stack.templates[name]
        template._by_products = template._by_convolutions
    return trainer


def plain_loop(task: Task, run: PlannedRun, device: str) -> Callable[[int], float]:
    """The loop written by hand, on the same network and rows."""
    width, inputs = int(run.spec.net_options["width"]), task.x[0].numel()
    widths = (width, width, int(run.spec.net_options["latent"]), width, width)
    rows = task.rows("train")
    flat = replace(task, x=task.x[rows].flatten(1), y=task.y[rows], attributes=(), split={})
    setting = Setting("", inputs, widths, 2, int(run.spec.recipe["batch_size"]), 0.0)
    loop = by_hand(setting, flat, torch.device(device))

    def stretch(steps: int) -> float:
        start = clock(torch.device(device))
        for _ in range(steps):
            loop.step()
        return (clock(torch.device(device)) - start) / steps

    return stretch


def prepare(job: Job) -> list[Way]:
    """All ways of a job, warm and compiled."""
    tasks = trainings(job)
    runs = [run for run in planned(tasks[0]) if run.net == job.net]
    together = stack_of(runs, job, tasks[0])
    ways = [Way("stack", "", len(together), going_on(trainer_of(together, tasks, job, alone=False)))]
    for method in job.methods:
        single = next(run for run in runs if run.method == method)
        ways.append(Way("one by one", method, 1, going_on(trainer_of([single], tasks, job, alone=True))))
        if method == "ffvae" and job.device == "cuda":
            by_convolutions = going_on(with_convolutions(trainer_of([single], tasks, job, alone=True)))
            ways.append(Way("one by one", method, 1, by_convolutions))
        if method == "mlp":
            ways.append(Way("plain loop", method, 1, plain_loop(tasks[0], single, job.device)))
    for way in ways:
        way.stretch(TOLD_EVERY)
    return ways


def measure(job: Job, ways: Sequence[Way]) -> list[dict[str, Any]]:
    """A row for each method: steps a second alone, model-steps a second in the stack, their ratio."""
    for _ in range(job.rounds):
        for way in ways:
            way.measure(job.steps)
    together, *others = ways
    rate = together.models / together.best
    rows = []
    for method in job.methods:
        own: dict[str, float] = {}
        for way in (way for way in others if way.method == method):
            own[way.what] = min(way.best, own.get(way.what, way.best))
        row = {
            "method": method,
            "net": FIRST_PHASE if method == "ffvae" else job.net,
            "stack": together.models,
        }
        row |= {"alone_ms": 1e3 * own["one by one"], "stack_ms": 1e3 * together.best, "rate": rate}
        row |= {"ratio": rate * own["one by one"], "part": job.part, "trainings": job.tasks}
        if "plain loop" in own:
            row |= {"plain_ms": 1e3 * own["plain loop"], "plain_ratio": rate * own["plain loop"]}
        rows.append(row)
    return rows

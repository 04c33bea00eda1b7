"""What a worker does with a bucket: train it from its checkpoint, measure every run, give records back."""

from __future__ import annotations

import errno
import shutil
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch

from evenhand.data.task import Task
from evenhand.methods.base import Method
from evenhand.nets.registry import NetSpec
from evenhand.study.backends.base import Job, NoRoom, Standing
from evenhand.study.first_training import DATABASE, FirstTrainings
from evenhand.study.fit_process import (
    begin_in_fresh_process,
    implementation,
    made_how,
    own_seeds,
    to_be_deterministic,
)
from evenhand.study.measure import records_of
from evenhand.study.plan import OWN_NUMBERS, bucket_id
from evenhand.study.records import Bucket, PlannedRun, RunRecord, RunSpec, canonical
from evenhand.study.sharing import Training, trained_method, trainings_of
from evenhand.study.surroundings import failed_record, now
from evenhand.study.tasks import load_task
from evenhand.train.determinism import before_cuda
from evenhand.train.fit import train_runs
from evenhand.train.gpu_memory import hold_at_most, let_go, with_room
from evenhand.train.progress import Progress
from evenhand.train.recipe import Recipe
from evenhand.train.runs import Run
from evenhand.train.trainer import Trainer

CHECKPOINTS = "checkpoints"
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

Told = Callable[[Standing], None]


def execute(bucket: Bucket, job: Job, tell: Told) -> Iterator[RunRecord]:
    """Train the runs of a bucket and yield a record of each.

    When the bucket as a whole fails, its trainings are tried one by one: the failure of one must not be that
    of its neighbours. `tell` may raise KeyboardInterrupt: the checkpoint is then saved and the bucket left.
    An identical run has no checkpoint: it is made by one process from beginning to end, or begins anew.
    """
    torch.set_num_threads(bucket.threads)
    if to_be_deterministic(bucket.runs[0].spec):
        before_cuda()
    hold_at_most(job.gpu_share, torch.device(job.device))
    begin_in_fresh_process(bucket.fresh)
    trainings = trainings_of(bucket.runs)
    folder = Path(job.folder) / CHECKPOINTS / bucket.id
    if bucket.stack == 1 and len(trainings) > 1:  # only one of them is to be in memory
        yield from _one_by_one(bucket, trainings, job, tell, "made alone, because workers died of its bucket")
    else:
        with implementation(bucket.runs[0].spec):
            yield from _together(bucket, trainings, job, folder, tell)
        let_go(torch.device(job.device))
    if not (Path(job.folder) / DATABASE).exists():  # a disk of our own: the driver cannot clear it up
        shutil.rmtree(folder, ignore_errors=True)


def _together(
    bucket: Bucket, trainings: list[Training], job: Job, folder: Path, tell: Told
) -> Iterator[RunRecord]:
    started, reason, device = now(), "", torch.device(job.device)

    def full() -> None:
        tell(Standing(bucket.id, 0.0, words="waits: other programs fill the GPU"))

    try:
        how = made_how(bucket.runs[0].spec) if bucket.fresh else ""
        first = FirstTrainings([training[0] for training in trainings], job, bucket.id, bucket.first)
        own = None if bucket.fresh else folder
        trainers = with_room(lambda: _train(bucket, trainings, job, own, tell, first), device, full)
    except Exception as error:
        _refuse_full_disk(error)
        reason, told = reason_of(error), traceback.format_exc()
    if not reason:
        notes = {run.id: first.note(place) for place, training in enumerate(trainings) for run in training}
        for record in _records(trainings, trainers, job, started, full):
            yield replace(record, detail=record.detail or how or notes[record.id])
        return
    let_go(device)  # only here: while an error is handled, all that it came through is kept
    if len(trainings) == 1:
        yield from (failed_record(run, reason, told, job, started) for run in bucket.runs)
    else:
        why = f"tried alone, because its bucket failed as a whole:\n{told}"
        yield from _one_by_one(bucket, trainings, job, tell, why)


def _refuse_full_disk(error: Exception) -> None:
    """A checkpoint that cannot be written is nobody's failure: told as such, and nothing is tried again."""
    if isinstance(error, OSError) and error.errno in FULL:
        raise NoRoom(
            f"no room is left to write {error.filename or 'a checkpoint'} ({error.strerror}); every finished "
            "run is kept: make room, then run the same again"
        ) from error


def _one_by_one(
    bucket: Bucket, trainings: list[Training], job: Job, tell: Told, why: str
) -> Iterator[RunRecord]:
    """The trainings of a bucket, each by itself; its records say why they were made like this."""
    for place, training in enumerate(trainings):
        alone = replace(bucket, id=bucket_id(training), runs=training, stack=1)

        def told(standing: Standing, place: int = place) -> None:
            done = (place + standing.done) / len(trainings)
            tell(replace(standing, bucket=bucket.id, done=done))

        for record in execute(alone, job, told):
            yield replace(record, detail=record.detail or why)
        shutil.rmtree(Path(job.folder) / CHECKPOINTS / alone.id, ignore_errors=True)


def _records(
    trainings: list[Training], trainers: list[Trainer], job: Job, started: str, full: Callable[[], None]
) -> Iterator[RunRecord]:
    first, device = 0, torch.device(job.device)
    while trainers:
        trainer = trainers.pop(0)  # let go of its memory when it is measured
        own = trainings[first : first + trainer.stack.n_runs]
        first += len(own)
        try:
            yield from with_room(partial(_measured, own, trainer, job, started), device, full)
        except OSError as error:  # of weights that are kept
            _refuse_full_disk(error)
            raise


def _measured(trainings: list[Training], trainer: Trainer, job: Job, started: str) -> list[RunRecord]:
    return list(records_of(trainings, trainer, job, started))


def _train(
    bucket: Bucket,
    trainings: list[Training],
    job: Job,
    folder: Path | None,
    tell: Told,
    first: FirstTrainings,
) -> list[Trainer]:
    """All trainings of a bucket, after what comes first of them and is shared with other buckets."""
    runs = [training[0] for training in trainings]  # the others differ in how they read alone

    def make(
        chosen: Sequence[PlannedRun], methods: Sequence[Method], name: str, told: Callable[[Progress], None]
    ) -> list[Trainer]:
        own = None if folder is None else folder / name
        return _made([run.spec for run in chosen], methods, bucket.stack, job, own, told)

    def told(progress: Progress) -> None:
        shared = f" of {len(trainings)} trainings" if len(trainings) < len(bucket.runs) else ""
        words = f"{bucket.runs[0].method} on {bucket.runs[0].task}, {len(bucket.runs)} runs{shared}"
        tell(Standing(bucket.id, progress.done, progress.rate, words))

    first.ensure(make, tell)
    specs = [run.spec for run in runs]
    methods = [trained_method(spec).stacked_form() for spec in specs]
    return _made(specs, methods, bucket.stack, job, folder, told, first.begin)


def _made(
    specs: list[RunSpec],
    methods: Sequence[Method],
    stack: int,
    job: Job,
    folder: Path | None,
    told: Callable[[Progress], None],
    begin: Callable[[Sequence[int], Trainer], None] | None = None,
) -> list[Trainer]:
    """The trainings of these runs by these methods; what they have in common is read off the first."""
    spec = specs[0]
    tasks, protects, places = _tasks_of(specs)
    runs = [
        Run(method, own.seed, place, **own_seeds(own))
        for method, own, place in zip(methods, specs, places, strict=True)
    ]
    numbers = {name: tuple(own.recipe[name] for own in specs) for name in OWN_NUMBERS}
    common = {name: each[0] for name, each in numbers.items() if len(set(each)) == 1}
    recipe = Recipe.of(**{**spec.recipe, **numbers, **common})
    return train_runs(
        runs, tasks, NetSpec(spec.net, spec.net_options), recipe, protect=protects, device=job.device,
        stack_size=stack, tell=told, folder=folder, every=job.checkpoint_every, begin=begin,
    )  # fmt: skip


def _tasks_of(specs: list[RunSpec]) -> tuple[list[Task], list[tuple[str, ...]], list[int]]:
    """The tasks of these runs, what is protected on each, and which of them each run is for.

    The same data with others protected is a task of its own, and one object: its inputs are held once.
    """
    loaded: dict[str, Task] = {}
    numbers: dict[tuple[str, tuple[str, ...]], int] = {}
    places = []
    for spec in specs:
        data = canonical([spec.data, dict(spec.knobs)])
        if data not in loaded:
            loaded[data] = load_task(spec.data, spec.knobs)
        places.append(numbers.setdefault((data, spec.protect), len(numbers)))
    return [loaded[data] for data, _ in numbers], [protect for _, protect in numbers], places


def reason_of(error: Exception) -> str:
    """One line about an error, by which failures are counted."""
    text = " ".join(str(error).split())[:300]
    if isinstance(error, torch.cuda.OutOfMemoryError):
        return "out of memory on the GPU, even alone; with fewer --workers each has more of it"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__

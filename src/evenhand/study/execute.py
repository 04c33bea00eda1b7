"""What a worker does with a bucket: train it from its checkpoint, measure every run, give records back."""

from __future__ import annotations

import errno
import shutil
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import torch

from evenhand.data.task import Task
from evenhand.nets.registry import NetSpec
from evenhand.study.backends.base import Job, NoRoom, Standing
from evenhand.study.measure import failed_record, records_of
from evenhand.study.plan import OWN_NUMBERS, bucket_id
from evenhand.study.records import Bucket, RunRecord, canonical
from evenhand.study.tasks import load_method, load_task
from evenhand.train.fit import train_runs
from evenhand.train.progress import Progress
from evenhand.train.recipe import Recipe
from evenhand.train.runs import Run
from evenhand.train.trainer import Trainer

CHECKPOINTS = "checkpoints"
DATABASE = "study.sqlite"
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

Told = Callable[[Standing], None]


def execute(bucket: Bucket, job: Job, tell: Told) -> Iterator[RunRecord]:
    """Train the runs of a bucket and yield a record of each, in their order.

    When the bucket as a whole fails, its runs are tried one by one: the failure of one must not be that of
    its neighbours. `tell` may raise KeyboardInterrupt: the checkpoint is then saved and the bucket left.
    """
    torch.set_num_threads(bucket.threads)
    folder = Path(job.folder) / CHECKPOINTS / bucket.id
    if bucket.stack == 1 and len(bucket.runs) > 1:  # only one of them is to be in memory
        yield from _one_by_one(bucket, job, tell, "made alone, because workers died of its bucket")
    else:
        yield from _together(bucket, job, folder, tell)
    if not (Path(job.folder) / DATABASE).exists():  # a disk of our own: the driver cannot clear it up
        shutil.rmtree(folder, ignore_errors=True)


def _together(bucket: Bucket, job: Job, folder: Path, tell: Told) -> Iterator[RunRecord]:
    started = now()
    try:
        trainers = _train(bucket, job, folder, tell)
    except Exception as error:
        _refuse_full_disk(error)
        if len(bucket.runs) == 1:
            yield failed_record(bucket.runs[0], reason_of(error), traceback.format_exc(), job, started)
        else:
            why = f"tried alone, because its bucket failed as a whole:\n{traceback.format_exc()}"
            yield from _one_by_one(bucket, job, tell, why)
    else:
        yield from _records(bucket, trainers, job, started)


def _refuse_full_disk(error: Exception) -> None:
    """A checkpoint that cannot be written is nobody's failure: told as such, and nothing is tried again."""
    if isinstance(error, OSError) and error.errno in FULL:
        raise NoRoom(
            f"no room is left to write {error.filename or 'a checkpoint'} ({error.strerror}); every finished "
            "run is kept: make room, then run the same again"
        ) from error


def _one_by_one(bucket: Bucket, job: Job, tell: Told, why: str) -> Iterator[RunRecord]:
    """The runs of a bucket, each by itself; its records say why they were made like this."""
    for place, run in enumerate(bucket.runs):
        alone = replace(bucket, id=bucket_id((run,)), runs=(run,), stack=1)

        def told(standing: Standing, place: int = place) -> None:
            done = (place + standing.done) / len(bucket.runs)
            tell(replace(standing, bucket=bucket.id, done=done))

        for record in execute(alone, job, told):
            yield replace(record, detail=record.detail or why)
        shutil.rmtree(Path(job.folder) / CHECKPOINTS / alone.id, ignore_errors=True)


def _records(bucket: Bucket, trainers: list[Trainer], job: Job, started: str) -> Iterator[RunRecord]:
    first = 0
    while trainers:
        trainer = trainers.pop(0)  # let go of its memory when it is measured
        runs = bucket.runs[first : first + trainer.stack.n_runs]
        first += len(runs)
        try:
            yield from records_of(runs, trainer, job, started)
        except OSError as error:  # of weights that are kept
            _refuse_full_disk(error)
            raise


def _train(bucket: Bucket, job: Job, folder: Path, tell: Told) -> list[Trainer]:
    """All runs of a bucket, trained; what they have in common is read off the first."""
    spec = bucket.runs[0].spec
    tasks, protects, places = _tasks_of(bucket)
    runs = [
        Run(load_method(run.spec.method, run.spec.fields).stacked_form(), run.spec.seed, place)
        for run, place in zip(bucket.runs, places, strict=True)
    ]
    numbers = {name: tuple(run.spec.recipe[name] for run in bucket.runs) for name in OWN_NUMBERS}
    common = {name: each[0] for name, each in numbers.items() if len(set(each)) == 1}
    recipe = Recipe.of(**{**spec.recipe, **numbers, **common})

    def told(progress: Progress) -> None:
        words = f"{bucket.runs[0].method} on {bucket.runs[0].task}, {len(bucket.runs)} runs"
        tell(Standing(bucket.id, progress.done, progress.rate, words))

    return train_runs(
        runs, tasks, NetSpec(spec.net, spec.net_options), recipe, protect=protects,
        device=job.device, stack_size=bucket.stack, tell=told, folder=folder, every=job.checkpoint_every,
    )  # fmt: skip


def _tasks_of(bucket: Bucket) -> tuple[list[Task], list[tuple[str, ...]], list[int]]:
    """The tasks of a bucket, what is protected on each, and which of them each run is for.

    The same data with others protected is a task of its own, and one object: its inputs are held once.
    """
    loaded: dict[str, Task] = {}
    numbers: dict[tuple[str, tuple[str, ...]], int] = {}
    places = []
    for run in bucket.runs:
        data = canonical([run.spec.data, dict(run.spec.knobs)])
        if data not in loaded:
            loaded[data] = load_task(run.spec.data, run.spec.knobs)
        places.append(numbers.setdefault((data, run.spec.protect), len(numbers)))
    return [loaded[data] for data, _ in numbers], [protect for _, protect in numbers], places


def reason_of(error: Exception) -> str:
    """One line about an error, by which failures are counted."""
    text = " ".join(str(error).split())[:300]
    if isinstance(error, torch.cuda.OutOfMemoryError):
        return "out of memory on the GPU, even alone"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def now() -> str:
    """The time as text."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")

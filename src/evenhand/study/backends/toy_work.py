"""Work for the conformance test of backends: small, and as badly behaved as real work can be.

What each function is to do is said by the first run's `fields`; what must be remembered from one attempt to
the next, and which processes were there, stands in files of the study's folder.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.metrics.counts import Counts
from evenhand.study.backends.base import Job, Standing
from evenhand.study.records import Bucket, Measured, PlannedRun, RunRecord, RunSpec, canonical

HOME = "evenhand.study.backends.toy_work"
LONGEST = 60.0  # seconds; no work lasts longer, whatever the backend does
Tell = Callable[[Standing], None]


def toy_bucket(name: str, runs: int = 1, repeat: int | None = None, **fields: Any) -> Bucket:
    """A bucket of so many runs, whose work is to be as `fields` say; with `repeat`, of identical runs."""
    recipe = {"epochs": 1}
    planned = tuple(
        PlannedRun(
            f"{name}-{seed}",
            RunSpec("toy", {}, ("sex",), "mlp", {}, "erm", fields, recipe, seed, repeat=repeat),
            "toy", "sex", "mlp", "erm", {}, "00", seed,
        )
        for seed in range(runs)
    )  # fmt: skip
    return Bucket(name, planned, stack=runs)


def toy_record(run: PlannedRun, groups: int = 2, classes: int = 2, words: str = "") -> RunRecord:
    """A record that is a function of the run alone, with counts that differ from run to run."""
    start = sum(run.id.encode())
    table = np.arange(start, start + groups * classes**2).reshape(groups, classes, classes)
    names = tuple(f"group {number} {words}" for number in range(groups))
    measured = Measured("test", "sex", names, tuple(map(str, range(classes))), Counts.from_table(table))
    history: dict[str, list[Any]] = {"loss": [float(run.spec.seed), float("nan")], "words": [words]}
    return RunRecord(run.id, "done", measured=(measured,), history=history, weights=words)


def works(bucket: Bucket, job: Job, tell: Tell) -> Iterator[RunRecord]:
    """Yields a record of each run; `groups`, `classes` and `words` make them large and strange."""
    fields = dict(bucket.runs[0].spec.fields)
    for place, run in enumerate(bucket.runs):
        tell(Standing(bucket.id, place / len(bucket.runs), 1.0, fields.get("words", "")))
        yield toy_record(run, **fields)


def echoes(bucket: Bucket, job: Job, tell: Tell) -> Iterator[RunRecord]:
    """Yields what reached the worker, as text."""
    reached = canonical({"bucket": bucket.to_dict(), "job": vars(job)})
    yield RunRecord(bucket.runs[0].id, "done", detail=reached, host=str(os.getpid()))


def raises(bucket: Bucket, job: Job, tell: Tell) -> Iterator[RunRecord]:
    """Fails after the first record, where `message` says with what."""
    records = works(_plain(bucket), job, tell)
    yield next(records)
    if message := bucket.runs[0].spec.fields.get("message"):
        raise ZeroDivisionError(message)
    yield from records


def dies(bucket: Bucket, job: Job, tell: Tell) -> Iterator[RunRecord]:
    """Ends its own process after the first record, the first `times` times; `how`: "exit" or "kill"."""
    fields = bucket.runs[0].spec.fields
    attempt = _attempt(bucket, job)
    records = works(_plain(bucket), job, tell)
    yield next(records)
    if attempt <= fields.get("times", 0):
        wait_until((Path(job.folder) / f"{bucket.id}.heard").exists, LONGEST)
        if fields["how"] == "exit":
            os._exit(3)
        os.kill(os.getpid(), signal.SIGKILL)
    yield from records


def waits(bucket: Bucket, job: Job, tell: Tell) -> Iterator[RunRecord]:
    """Tells where it stands until the driver has written NAME.go; if it is interrupted, it leaves a file."""
    folder = Path(job.folder)
    (folder / f"{bucket.id}.{os.getpid()}.process").touch()
    yield toy_record(bucket.runs[0])
    (folder / f"{bucket.id}.working").touch()
    try:
        end = time.monotonic() + LONGEST
        while time.monotonic() < end and not wait_until((folder / f"{bucket.id}.go").exists, seconds=0.1):
            tell(Standing(bucket.id, 0.5))
    except KeyboardInterrupt:
        (folder / f"{bucket.id}.saved").touch()
        raise
    yield from (toy_record(run) for run in bucket.runs[1:])


def _plain(bucket: Bucket) -> Bucket:
    return toy_bucket(bucket.id, len(bucket.runs))


def _attempt(bucket: Bucket, job: Job) -> int:
    path = Path(job.folder) / f"{bucket.id}.attempts"
    with path.open("a") as file:
        file.write("+")
    return path.stat().st_size


def wait_until(true: Callable[[], Any], seconds: float) -> bool:
    """Whether it became true in time."""
    end = time.monotonic() + seconds
    while not (found := bool(true())) and time.monotonic() < end:
        time.sleep(0.02)
    return found

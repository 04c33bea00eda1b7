"""The contract of a backend: it hands every bucket to a worker and tells what comes back.

A worker calls `job.work` ("module:function") as `work(bucket, job, tell)`, an iterator of RunRecords: each is
told as soon as it is there. The rules (`conformance.py` checks them for any backend):

- B1 every bucket is worked on, in the order given as far as workers are free; records reach `hear` once each.
- B2 `hear` is called in the driver's own thread; only the driver writes to the store.
- B3 an exception in the work ends that bucket with `Ended(reason, detail)`; the others go on.
- B4 a worker that dies (kill -9, a node that goes away) costs its bucket's time: the bucket is given to
  another worker, at most `job.retries` times; then it ends with a reason that says so.
- B5 when `stop()` becomes true no new bucket begins; those at work are asked to save and stop (`Ended` with
  the reason "stopped"), and `run` returns; no process is left behind. The same after an exception out of
  `hear`.
- B6 what travels is plain values: a bucket as its dictionary, a job as its own.
- B7 a bucket that is `fresh` (identical runs) is worked on by a process that has worked on nothing before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from evenhand.errors import InputError
from evenhand.study.records import Bucket, RunRecord

STOPPED = "stopped"


class NoRoom(InputError):
    """The disk is full: a bucket that ends with this stops the study, and none of its runs has failed."""


@dataclass(frozen=True)
class Job:
    """What every worker must know beside its bucket.

    `folder` is the study's: checkpoints and logs go there, on the worker's own disk where it is not shared.
    """

    folder: str
    device: str = "cpu"  # "cpu", "cuda", or "cuda:1"
    work: str = "evenhand.study.execute:execute"
    checkpoint_every: float = 60.0
    retries: int = 2
    keep_weights: bool = False
    keep_predictions: bool = False
    score_bins: int = 0
    gpu_share: float = 1.0  # of a GPU's memory that this worker may hold


@dataclass(frozen=True)
class Standing:
    """How far a bucket is: share done, model-steps a second, a few words."""

    bucket: str
    done: float
    rate: float = 0.0
    words: str = ""


@dataclass(frozen=True)
class Made:
    """A run of a bucket is there."""

    bucket: str
    record: RunRecord


@dataclass(frozen=True)
class Began:
    """A worker has begun with a bucket (again, if `attempt` is not 1)."""

    bucket: str
    worker: str
    attempt: int = 1


@dataclass(frozen=True)
class Ended:
    """A bucket is over: without a reason, all its records were told; else why not."""

    bucket: str
    reason: str | None = None
    detail: str = ""


Message = Began | Standing | Made | Ended
Hear = Callable[[Message], None]


class Backend(Protocol):
    """Anything that works on buckets."""

    name: str

    def run(self, buckets: Sequence[Bucket], job: Job, hear: Hear, stop: Callable[[], bool]) -> None:
        """Work on all buckets; returns when each has ended or `stop()` is true."""
        ...

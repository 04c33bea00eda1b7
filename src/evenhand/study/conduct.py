"""Conductor: hears what workers tell, commits every record, keeps the count, and says how it stands."""

from __future__ import annotations

import math
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evenhand.errors import InputError
from evenhand.study.backends.base import (
    STOPPED,
    Backend,
    Began,
    Ended,
    Job,
    Made,
    Message,
    NoRoom,
    Standing,
)
from evenhand.study.execute import CHECKPOINTS
from evenhand.study.first_training import FOLDER as FIRST
from evenhand.study.records import Bucket, RunRecord
from evenhand.study.store import Store
from evenhand.study.store_owners import make_owner

TOLD_EVERY = 0.2  # seconds
COUNTED_EVERY = 1.0  # seconds: counting the states of 20,000 runs takes a twentieth of one
BEAT_EVERY = 2.0  # seconds: others take a silent owner's buckets over after a minute


@dataclass(frozen=True)
class Status:
    """How a study stands. `seconds_left` is None until something can be said."""

    planned: int = 0
    done: int = 0
    failed: int = 0
    waiting: int = 0
    running: int = 0
    runs_per_second: float = 0.0
    seconds: float = 0.0
    seconds_left: float | None = None
    failures: Mapping[str, int] = field(default_factory=dict)
    standings: Mapping[str, Standing] = field(default_factory=dict)
    reused: int = 0
    stopped: bool = False
    words: str = ""
    notes: tuple[str, ...] = ()  # sentences for the user that are no errors


class Conductor:
    """One start of a study: its buckets through a backend into the store."""

    def __init__(
        self,
        store: Store,
        backend: Backend,
        job: Job,
        tell: Callable[[Status], None] | None,
        stop: Callable[[], bool] | None,
        reused: int = 0,
    ) -> None:
        self._store, self._backend, self._job = store, backend, job
        self._tell, self._wants_to_stop, self._reused = tell, stop, reused
        self._owner = make_owner()
        self._standings: dict[str, Standing] = {}
        self._buckets: dict[str, Bucket] = {}
        self._missing: dict[str, set[str]] = {}  # runs of each bucket that have no record yet
        self._work_done = self._work = 0.0
        self._made, self._began = 0, time.monotonic()
        self._told = self._beaten = 0.0
        self._stopped, self._words = False, ""
        self._counted, self._states, self._failures = -math.inf, dict[str, int](), dict[str, int]()

    def run(self, buckets: Sequence[Bucket]) -> Status:
        """Work on the buckets that nobody else has; the status at the end."""
        self._store.enter(self._owner)
        try:
            mine = [bucket for bucket in buckets if self._store.claim(bucket.id, self._owner)]
            others = len(buckets) - len(mine)
            self._words = f"{others} buckets are worked on by another process" if others else ""
            self._buckets = {bucket.id: bucket for bucket in mine}
            self._missing = {bucket.id: {run.id for run in bucket.runs} for bucket in mine}
            self._work = sum(bucket.cost for bucket in mine)
            if mine:
                self._backend.run(mine, self._job, self._hear, self._stop)
            self._counted = -math.inf
            return self.status()
        finally:
            self._store.leave(self._owner)
            self._clear_up()

    def _stop(self) -> bool:
        """Asked by the backend several times a second: the moment to show that we live, and how it stands."""
        self._tick()
        self._stopped = self._stopped or (self._wants_to_stop is not None and self._wants_to_stop())
        return self._stopped

    def _tick(self) -> None:
        now = time.monotonic()
        if now - self._beaten >= BEAT_EVERY:
            self._store.beat(self._owner)
            self._store.standing(self._owner, {name: vars(each) for name, each in self._standings.items()})
            self._beaten = now
        if self._tell is not None and now - self._told >= TOLD_EVERY:
            self._tell(self.status())
            self._told = now

    def _hear(self, message: Message) -> None:
        if isinstance(message, Made):
            self._commit(message.bucket, message.record)
        elif isinstance(message, Standing):
            self._standings[message.bucket] = message
        elif isinstance(message, Began):
            again = f" (attempt {message.attempt})" if message.attempt > 1 else ""
            self._standings[message.bucket] = Standing(message.bucket, 0.0, words=f"{message.worker}{again}")
        else:
            self._end(message)

    def _commit(self, bucket: str, record: RunRecord) -> None:
        self._store.commit(record)
        self._missing[bucket].discard(record.id)
        self._made += 1

    def _end(self, ended: Ended) -> None:
        """A bucket is over: runs without a record are failures, unless it was only stopped."""
        self._standings.pop(ended.bucket, None)
        if ended.reason == STOPPED:
            return
        reason = ended.reason or "the worker gave no record back"
        if reason.startswith(f"{NoRoom.__name__}: "):
            raise InputError(reason.partition(": ")[2])
        for run in sorted(self._missing[ended.bucket]):
            self._commit(ended.bucket, RunRecord(run, "failed", reason, ended.detail))
        self._work_done += self._buckets[ended.bucket].cost
        shutil.rmtree(Path(self._job.folder) / CHECKPOINTS / ended.bucket, ignore_errors=True)

    def _clear_up(self) -> None:
        """Checkpoints of a killed driver, and trainings that were shared, go when nobody can need them."""
        store = self._store
        if not store.counts_of_states()["waiting"] and not any(o["alive"] for o in store.live()["owners"]):
            shutil.rmtree(Path(self._job.folder) / CHECKPOINTS, ignore_errors=True)
            if not self._job.keep_weights:
                shutil.rmtree(Path(self._job.folder) / FIRST, ignore_errors=True)

    def status(self) -> Status:
        """Where the study stands now."""
        now = time.monotonic()
        if now - self._counted >= COUNTED_EVERY:
            self._states, self._failures = self._store.counts_of_states(), self._store.reasons()
            self._counted = now
        states, seconds, share = self._states, now - self._began, self._share_done()
        left = seconds * (1 - share) / share if share > 0.01 else None
        running = sum(len(self._missing[name]) for name in self._standings)
        return Status(
            states["planned"], states["done"], states["failed"], states["waiting"], running,
            self._made / max(seconds, 1e-9), seconds, left, self._failures, dict(self._standings),
            self._reused, self._stopped, self._words, tuple(self._store.notes),
        )  # fmt: skip

    def _share_done(self) -> float:
        """Share of the work of this start, by the cost of its buckets."""
        going = sum(self._buckets[name].cost * each.done for name, each in self._standings.items())
        return (self._work_done + going) / self._work if self._work else 1.0

"""Buckets worked on by processes of this machine: on the CPU, or one process for each GPU."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import wait
from typing import Any

from evenhand.errors import InputError
from evenhand.study.backends.base import STOPPED, Began, Ended, Hear, Job, Made
from evenhand.study.backends.process import Worker, end, how_it_ended, send, start
from evenhand.study.records import Bucket

TO_SAVE = 120.0  # seconds that a worker has to save its checkpoint when it is asked to stop
TICK = 0.1  # seconds between two looks at whether to stop


class LocalBackend:
    """`workers` processes (by default one for each device); `devices` are given to them in turn.

    A bucket that is `fresh` has a process of its own. The next one is started while others are at work, so
    that its imports cost no time; it waits for its turn.
    """

    name = "local"

    def __init__(self, workers: int | None = None, devices: Sequence[str] = ("cpu",)) -> None:
        self._devices = list(devices)
        self._n_workers = workers or len(self._devices)

    def run(self, buckets: Sequence[Bucket], job: Job, hear: Hear, stop: Callable[[], bool]) -> None:
        """Work on all buckets; returns when each has ended or `stop()` is true."""
        crew = _Crew(buckets, job, hear, self._n_workers, self._devices)
        try:
            while crew.has_work:
                if stop():
                    crew.ask_to_stop(stop)
                    return
                crew.grow()
                crew.give()
                crew.listen()
        finally:
            end(crew.workers)


class _Crew:
    """The workers of one run, and the buckets (with the number of the attempt) that wait for one."""

    def __init__(
        self, buckets: Sequence[Bucket], job: Job, hear: Hear, most: int, devices: Sequence[str]
    ) -> None:
        self._most, self._devices = most, list(devices)
        self.waiting = deque((bucket, 1) for bucket in buckets)
        self.workers: list[Worker] = []
        self._job, self._hear = job, hear
        self._told: dict[str, set[str]] = {}  # records of open buckets: one tried again has them again
        self._stillborn = 0  # workers in a row that died before they were there

    @property
    def has_work(self) -> bool:
        return bool(self.waiting) or any(worker.bucket for worker in self.workers)

    def grow(self) -> None:
        """Start workers as long as there are buckets for them; they come up side by side."""
        most = self._most + any(bucket.fresh for bucket, _ in self.waiting)
        while len(self.workers) < most and sum(w.bucket is None for w in self.workers) < len(self.waiting):
            self.workers.append(start(self._free_device(self.workers), self._job.work))

    def _free_device(self, workers: Sequence[Worker]) -> str:
        taken = [worker.device for worker in workers]
        return min(self._devices, key=taken.count)

    def give(self) -> None:
        """A bucket for every worker that has none, as far as so many may be at work."""
        for worker in [worker for worker in self.workers if worker.is_idle]:
            busy = [other for other in self.workers if other.bucket]
            if not self.waiting or len(busy) >= self._most:
                return
            if worker.used and self.waiting[0][0].fresh:
                self._retire(worker)
                continue
            worker.bucket, worker.attempt = self.waiting.popleft()
            if worker.bucket.fresh:  # it may have been started while its device was another's
                worker.device = self._free_device(busy)
            worker.used = True
            self._hear(Began(worker.bucket.id, worker.name, worker.attempt))
            try:
                send(worker, self._job)
            except OSError:
                self._lose(worker)

    def listen(self) -> None:
        """Everything that workers have to say within the next moment."""
        by_pipe: dict[Any, Worker] = {worker.pipe: worker for worker in self.workers}
        for worker in [by_pipe[pipe] for pipe in wait(list(by_pipe), timeout=TICK)]:
            try:
                while worker.pipe.poll():
                    self._take(worker, worker.pipe.recv())
            except (EOFError, ConnectionError):
                self._lose(worker)
            if worker.spent:
                self._retire(worker)
        for late in [worker for worker in self.workers if worker.is_late()]:
            late.process.kill()

    def _take(self, worker: Worker, message: Any) -> None:
        if isinstance(message, int):  # its process id: it is there
            worker.there, self._stillborn = True, 0
            return
        if isinstance(message, Made):
            told = self._told.setdefault(message.bucket, set())
            if message.record.id in told:
                return
            told.add(message.record.id)
        elif isinstance(message, Ended):
            worker.spent = worker.bucket is not None and worker.bucket.fresh
            worker.bucket = None
            self._told.pop(message.bucket, None)
        self._hear(message)

    def _retire(self, worker: Worker) -> None:
        """One that has worked leaves, because a fresh process is wanted."""
        if worker in self.workers:
            self.workers.remove(worker)
            end([worker])

    def _lose(self, worker: Worker) -> None:
        """A worker is gone: its bucket is given to another, unless that has been tried often enough."""
        self.workers.remove(worker)
        how = how_it_ended(worker)
        end([worker])
        if not worker.there:
            self._stillborn += 1
            if self._stillborn > self._job.retries:
                raise InputError(f"worker processes cannot be started here ({how}); see what they wrote")
        elif worker.bucket is not None and worker.attempt <= self._job.retries:
            self.waiting.appendleft((worker.bucket, worker.attempt + 1))
        elif worker.bucket is not None:
            times = f", {worker.attempt} times in a row" if worker.attempt > 1 else ""
            self._hear(Ended(worker.bucket.id, f"the worker died ({how}){times}"))

    def ask_to_stop(self, stop: Callable[[], bool]) -> None:
        """Workers save their checkpoints and leave; one that does not answer in time is ended.

        `stop` is still asked, which is how others see that this driver lives.
        """
        end([worker for worker in self.workers if worker.bucket is None])
        self.workers = [worker for worker in self.workers if worker.bucket]
        for worker in self.workers:
            with suppress(OSError):  # it is gone, which the next look tells
                worker.pipe.send("stop")
        limit = time.monotonic() + TO_SAVE
        while any(worker.bucket for worker in self.workers) and time.monotonic() < limit:
            self.listen()
            stop()
        for worker in self.workers:
            if worker.bucket:
                self._hear(Ended(worker.bucket.id, STOPPED))

"""Buckets worked on by processes of this machine: on the CPU, or one process for each GPU."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from multiprocessing.connection import Connection, Listener, wait
from pathlib import Path
from typing import Any

from evenhand.study.backends.base import STOPPED, Began, Ended, Hear, Job, Made
from evenhand.study.records import Bucket

PATIENCE = 120.0  # seconds that a worker has to start, and to save its checkpoint when it is asked to stop
TICK = 0.1  # seconds between two looks at whether to stop


@dataclass
class _Worker:
    """A process, its end of the pipe, and what it is working on."""

    process: subprocess.Popen[bytes]
    pipe: Connection
    device: str
    bucket: Bucket | None = None
    attempt: int = 1

    @property
    def name(self) -> str:
        return f"process {self.process.pid} on {self.device}"


class LocalBackend:
    """`workers` processes (by default one for each device); `devices` are given to them in turn."""

    name = "local"

    def __init__(self, workers: int | None = None, devices: Sequence[str] = ("cpu",)) -> None:
        self._devices = list(devices)
        self._n_workers = workers or len(self._devices)
        self._told: set[tuple[str, str]] = set()  # records that were heard: a bucket tried again has them again

    def run(self, buckets: Sequence[Bucket], job: Job, hear: Hear, stop: Callable[[], bool]) -> None:
        """Work on all buckets; returns when each has ended or `stop()` is true."""
        waiting = deque((bucket, 1) for bucket in buckets)
        self._told.clear()
        workers: list[_Worker] = []
        try:
            while waiting or any(worker.bucket for worker in workers):
                if stop():
                    break
                self._give(waiting, workers, job, hear)
                self._hear(waiting, workers, job, hear)
            else:
                return
            self._ask_to_stop(workers, job, hear)
        finally:
            _end(workers)

    def _give(self, waiting: deque[tuple[Bucket, int]], workers: list[_Worker], job: Job, hear: Hear) -> None:
        """A bucket for every worker that has none; workers are started when there is work for them."""
        while waiting:
            idle = next((worker for worker in workers if worker.bucket is None), None)
            if idle is None and len(workers) < self._n_workers:
                taken = [worker.device for worker in workers]
                device = min(self._devices, key=taken.count)
                idle = _start(device)
                workers.append(idle)
            if idle is None:
                return
            idle.bucket, idle.attempt = waiting.popleft()
            hear(Began(idle.bucket.id, idle.name, idle.attempt))
            try:
                _send(idle, job)
            except OSError:
                self._died(idle, waiting, workers, job, hear)

    def _hear(self, waiting: deque[tuple[Bucket, int]], workers: list[_Worker], job: Job, hear: Hear) -> None:
        """Everything that workers have to say within the next moment."""
        by_pipe = {worker.pipe: worker for worker in workers}
        for pipe in wait(list(by_pipe), timeout=TICK):
            worker = by_pipe[pipe]  # type: ignore[index]
            try:
                while worker.pipe.poll():
                    self._take(worker, worker.pipe.recv(), hear)
            except (EOFError, OSError):
                self._died(worker, waiting, workers, job, hear)

    def _take(self, worker: _Worker, message: Any, hear: Hear) -> None:
        if isinstance(message, Ended):
            worker.bucket = None
        if isinstance(message, Made):
            record = (message.bucket, message.record.id)
            if record in self._told:
                return
            self._told.add(record)
        hear(message)

    def _died(
        self,
        worker: _Worker,
        waiting: deque[tuple[Bucket, int]],
        workers: list[_Worker],
        job: Job,
        hear: Hear,
    ) -> None:
        """A worker is gone: its bucket is given to another, unless that has been tried often enough."""
        workers.remove(worker)
        how = _how_it_ended(worker)
        _end([worker])
        if worker.bucket is None:
            return
        if worker.attempt <= job.retries:
            waiting.appendleft((worker.bucket, worker.attempt + 1))
        else:
            hear(Ended(worker.bucket.id, f"the worker died ({how}), {worker.attempt} times in a row"))

    def _ask_to_stop(self, workers: list[_Worker], job: Job, hear: Hear) -> None:
        """Workers save their checkpoints and leave; one that does not answer in time is ended."""
        busy = [worker for worker in workers if worker.bucket]
        for worker in busy:
            try:
                worker.pipe.send("stop")
            except OSError:
                worker.bucket = None
        end = time.monotonic() + PATIENCE
        while any(worker.bucket for worker in busy) and time.monotonic() < end:
            self._hear(deque(), workers, replace(job, retries=10**6), hear)
            busy = [worker for worker in busy if worker in workers]
        for worker in busy:
            if worker.bucket:
                hear(Ended(worker.bucket.id, STOPPED))


def _start(device: str) -> _Worker:
    """A new process, connected."""
    with Listener(authkey=(key := secrets.token_bytes(32))) as listener:
        places = [str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH", "")]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, places))}
        process = subprocess.Popen(
            [sys.executable, "-m", "evenhand.study.backends.worker"], stdin=subprocess.PIPE, env=environment
        )
        assert process.stdin is not None
        process.stdin.write(json.dumps({"address": listener.address, "key": key.hex()}).encode() + b"\n")
        process.stdin.flush()
        pipe = _accept(listener, process)
    pipe.recv()  # it is there
    return _Worker(process, pipe, device)


def _accept(listener: Listener, process: subprocess.Popen[bytes]) -> Connection:
    """The worker's connection; a process that ends before it connects is told, not waited for."""
    socket: Any = listener._listener  # type: ignore[attr-defined]
    socket._socket.settimeout(0.2)
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        try:
            found: Connection = listener.accept()
        except TimeoutError:
            continue
        return found
    process.kill()
    raise RuntimeError(f"a worker process could not be started (it ended with {process.wait()})")


def _send(worker: _Worker, job: Job) -> None:
    assert worker.bucket is not None
    own = replace(job, device=worker.device)
    worker.pipe.send({"bucket": worker.bucket.to_dict(), "job": asdict(own)})


def _how_it_ended(worker: _Worker) -> str:
    try:
        code = worker.process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        return "it closed its connection"
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def _end(workers: Sequence[_Worker]) -> None:
    """No process is left behind."""
    for worker in workers:
        worker.pipe.close()
        if worker.process.stdin is not None:
            worker.process.stdin.close()
    for worker in workers:
        try:
            worker.process.wait(timeout=2 if worker.bucket is None else 0.1)
        except subprocess.TimeoutExpired:
            worker.process.kill()
            worker.process.wait()

"""A worker process of the local backend as its driver sees it: started, given a bucket, ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path

from evenhand.study.backends.base import Job
from evenhand.study.records import Bucket

HELD_BACK = (signal.SIGINT, signal.SIGTERM)
TO_START = 300.0  # seconds that a worker has to import what it needs


@dataclass
class Worker:
    """A process, our end of its pipe, and what it is working on; `there` once it has said so."""

    process: subprocess.Popen[bytes]
    pipe: Connection
    device: str
    bucket: Bucket | None = None
    attempt: int = 1
    there: bool = False
    used: bool = False  # it has been given a bucket
    spent: bool = False  # its bucket wanted a process of its own, and has ended
    began: float = field(default_factory=time.monotonic)

    @property
    def name(self) -> str:
        """What it is called in a status."""
        return f"process {self.process.pid} on {self.device}"

    @property
    def is_idle(self) -> bool:
        """Whether it can be given a bucket."""
        return self.there and self.bucket is None

    def is_late(self) -> bool:
        """Whether it should have said long ago that it is there."""
        return not self.there and time.monotonic() - self.began > TO_START


def start(device: str, work: str) -> Worker:
    """A new process for this work, which is not waited for; where it cannot start, its pipe is closed."""
    ours, theirs = Pipe()
    places = [str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, places))}
    with theirs, _held_back():
        process = subprocess.Popen(
            [sys.executable, "-m", "evenhand.study.backends.worker", str(theirs.fileno()), work],
            stdin=subprocess.DEVNULL, env=environment, pass_fds=[theirs.fileno()],
        )  # fmt: skip
    return Worker(process, ours, device)


@contextmanager
def _held_back() -> Iterator[None]:
    """A process that begins in here never hears Ctrl-C, which reaches the whole group: the driver decides."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, HELD_BACK)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def send(worker: Worker, job: Job) -> None:
    """Give a worker its bucket. The last attempt is made run by run.

    What kills one worker after the other may be a stack that does not fit into memory, or one of its runs.
    """
    assert worker.bucket is not None
    last = job.retries > 0 and worker.attempt > job.retries
    bucket = replace(worker.bucket, stack=1) if last else worker.bucket
    worker.pipe.send({"bucket": bucket.to_dict(), "job": asdict(replace(job, device=worker.device))})


def how_it_ended(worker: Worker) -> str:
    """The signal or the exit code of a worker that is gone."""
    try:
        code = worker.process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        return "it closed its connection"
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def end(workers: Sequence[Worker]) -> None:
    """No process is left behind."""
    for worker in workers:
        worker.pipe.close()
    for worker in workers:
        try:
            worker.process.wait(timeout=2 if worker.is_idle else 0.1)
        except subprocess.TimeoutExpired:
            worker.process.kill()
            worker.process.wait()

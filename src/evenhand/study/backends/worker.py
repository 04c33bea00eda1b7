"""A worker process of the local backend: takes buckets from the driver, gives records back, leaves with it.

It is started as `python -m evenhand.study.backends.worker PIPE WORK`, so that nothing of the driver's own
program is run again in it. PIPE is the number of an open file, its end of a pipe that nobody else can reach;
WORK is imported before it says that it is there.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from importlib import import_module
from multiprocessing.connection import Connection
from typing import Any

from evenhand.study.backends.base import STOPPED, Ended, Job, Made, Standing
from evenhand.study.records import Bucket, RunRecord

Work = Callable[[Bucket, Job, Callable[[Standing], None]], Iterator[RunRecord]]
STOP = "stop"
DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG of Linux


def work_of(reference: str) -> Work:
    """The function that "module:function" names."""
    module, _, name = reference.partition(":")
    found: Work = getattr(import_module(module), name)
    return found


def main() -> None:
    """Work until the driver has no more, or is gone."""
    _die_with_parent()
    with Connection(int(sys.argv[1])) as pipe:
        work_of(sys.argv[2])
        pipe.send(os.getpid())
        while (asked := pipe.recv()) != STOP:
            handle(pipe, Bucket.from_dict(asked["bucket"]), Job(**asked["job"]))


def handle(pipe: Connection, bucket: Bucket, job: Job) -> None:
    """Work on one bucket and tell how it ended."""

    def tell(standing: Standing) -> None:
        _listen(pipe)
        pipe.send(standing)

    try:
        for record in work_of(job.work)(bucket, job, tell):
            pipe.send(Made(bucket.id, record))
            _listen(pipe)
        pipe.send(Ended(bucket.id))
    except KeyboardInterrupt:
        pipe.send(Ended(bucket.id, STOPPED))
    except (Exception, SystemExit) as error:  # sys.exit of somebody's script must not end the worker
        pipe.send(Ended(bucket.id, f"{type(error).__name__}: {error}", traceback.format_exc()))


def _listen(pipe: Connection) -> None:
    """Leave the work if the driver asks for it; die if the driver is gone."""
    if not pipe.poll():
        return
    try:
        asked: Any = pipe.recv()
    except (EOFError, OSError):
        os._exit(1)  # whoever goes on with this bucket must find it left alone
    if asked == STOP:
        raise KeyboardInterrupt


def _die_with_parent() -> None:
    """On Linux the kernel ends this process with the driver, however that one ends."""
    if not sys.platform.startswith("linux"):
        return
    try:
        import ctypes

        ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL)
    except (OSError, AttributeError):  # a system without it: the closed connection tells us as well
        return


if __name__ == "__main__":
    try:
        main()
    except (ConnectionError, EOFError):
        os._exit(1)  # the driver is gone

"""A worker of the Ray backend: an actor that works on one bucket at a time and answers the driver meanwhile.

Ray calls `begin` in one thread and the methods of the group CONTROL in others. The driver fetches what there
is to tell: that works through every kind of connection (Ray's client has no streams), and an answer that does
not come is how a dead worker is noticed.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
import traceback
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from evenhand import __version__
from evenhand.study.backends.base import STOPPED, Ended, Job, Made, Message, Standing
from evenhand.study.backends.worker import work_of
from evenhand.study.records import Bucket

CONTROL = "control"
PAUSE = 0.25  # seconds between two standings: more would be traffic that nobody reads


class Worker:
    """Without Ray it is an ordinary object, and can be tested as one."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._news = threading.Condition()
        self._stopping = threading.Event()
        self._stood = 0.0
        with suppress(ValueError):  # only the main thread may say so
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the driver decides

    def hello(self, work: str) -> dict[str, str]:
        """Who this is; and that the work can be imported here."""
        work_of(work)
        gpus = os.environ.get("CUDA_VISIBLE_DEVICES", "")
        name = f"process {os.getpid()} on {socket.gethostname()}" + (f", GPU {gpus}" if gpus else "")
        return {"name": name, "version": __version__}

    def begin(self, bucket: Mapping[str, Any], job: Mapping[str, Any]) -> None:
        """Work on a bucket to its end."""
        self._stood = 0.0
        self._say(self._work(Bucket.from_dict(bucket), Job(**job)))

    def _work(self, bucket: Bucket, job: Job) -> Ended:
        try:
            self._listen()
            for record in work_of(job.work)(bucket, job, self._tell):
                self._say(Made(bucket.id, record))
                self._listen()
        except KeyboardInterrupt:
            return Ended(bucket.id, STOPPED)
        except (Exception, SystemExit) as error:  # sys.exit of somebody's script must not end the worker
            return Ended(bucket.id, f"{type(error).__name__}: {error}", traceback.format_exc())
        return Ended(bucket.id)

    def _tell(self, standing: Standing) -> None:
        self._listen()
        now = time.monotonic()
        if now - self._stood >= PAUSE:
            self._stood = now
            self._say(standing)

    def _listen(self) -> None:
        """Leave the work if the driver asks for it."""
        if self._stopping.is_set():
            raise KeyboardInterrupt

    def _say(self, message: Message) -> None:
        with self._news:
            self._messages.append(message)
            self._news.notify_all()

    def take(self, wait: float) -> list[Message]:
        """What has been said since the last call; if nothing was, wait for it for so many seconds."""
        with self._news:
            self._news.wait_for(lambda: self._messages, timeout=wait)
            taken, self._messages = self._messages, []
            return taken

    def stop(self) -> None:
        """Ask the work to save and leave."""
        self._stopping.set()

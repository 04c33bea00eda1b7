"""What the conformance test of backends looks at: everything that was told, and what should have been."""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.study.backends.base import Backend, Began, Ended, Job, Made, Message
from evenhand.study.backends.toy_work import HOME, toy_bucket, wait_until, works
from evenhand.study.records import Bucket, RunRecord


def require(true: object, words: str) -> None:
    """An assertion that `python -O` does not remove."""
    if not true:
        raise AssertionError(words)


@dataclass
class Heard:
    """Everything that a backend told, in order; `then` is done upon each message, in `hear`."""

    then: Callable[[Message], None] = lambda message: None
    messages: list[Message] = field(default_factory=list)
    threads: set[int] = field(default_factory=set)

    def __call__(self, message: Message) -> None:
        self.messages.append(message)
        self.threads.add(threading.get_ident())
        self.then(message)

    def records(self) -> dict[str, RunRecord]:
        """By run; it is a failure if one was told twice."""
        told = [message.record for message in self.messages if isinstance(message, Made)]
        twice = [run for run, times in Counter(record.id for record in told).items() if times > 1]
        require(not twice, f"B1: the records of {twice} were told more than once")
        return {record.id: record for record in told}

    def ends(self) -> dict[str, Ended]:
        """How each bucket ended; it is a failure if one ended twice."""
        ended = [message for message in self.messages if isinstance(message, Ended)]
        found = {message.bucket: message for message in ended}
        require(len(found) == len(ended), "a bucket ended twice")
        return found

    def attempts(self, bucket: str) -> list[int]:
        """The attempts at a bucket, in order."""
        return [m.attempt for m in self.messages if isinstance(m, Began) and m.bucket == bucket]


def heard(
    backend: Backend, buckets: Sequence[Bucket], job: Job, then: Callable[[Message], None] | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Heard:  # fmt: skip
    """What a backend tells about these buckets."""
    told = Heard(then) if then else Heard()
    backend.run(buckets, job, told, stop)
    return told


def job_for(folder: Path, work: str, **options: Any) -> Job:
    """A job of toy work."""
    return Job(str(folder), work=f"{HOME}:{work}", **options)


def same(one: Any, two: Any) -> bool:
    """Whether two records are equal to the last bit; NaN is equal to NaN."""
    if is_dataclass(one):
        names = [item.name for item in fields(one)]
        return type(one) is type(two) and all(same(getattr(one, n), getattr(two, n)) for n in names)
    if isinstance(one, dict):
        return isinstance(two, dict) and one.keys() == two.keys() and all(same(one[k], two[k]) for k in one)
    if isinstance(one, list | tuple):
        return type(one) is type(two) and len(one) == len(two) and all(map(same, one, two))
    if isinstance(one, np.ndarray):
        return bool(one.dtype == two.dtype and np.array_equal(one, two))
    return bool(one == two or (one != one and two != two))


def require_made(told: Heard, buckets: Sequence[Bucket], job: Job) -> None:
    """Each record of these buckets was told once, and is what the work yields when called right here."""
    records, ends = told.records(), told.ends()
    for bucket in buckets:
        require(ends[bucket.id].reason is None, f"bucket {bucket.id} ended with {ends[bucket.id].reason!r}")
        plain = toy_bucket(bucket.id, len(bucket.runs))
        for made in works(plain, job, lambda _: None):
            require(same(records.get(made.id), made), f"B1: {made.id} did not arrive as it was made")


def require_no_process_left(folder: Path) -> None:
    """None of the processes that wrote their number into the folder is there any more."""
    numbers = {int(path.name.split(".")[1]) for path in folder.glob("*.process")} - {os.getpid()}
    left = numbers if not wait_until(lambda: not any(map(_is_there, numbers)), 15.0) else set()
    require(not left, f"B5: of the processes {sorted(left)} some are left behind")


def _is_there(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{number}/stat")  # a dead process that nobody has waited for yet is no process
    return not (status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z")

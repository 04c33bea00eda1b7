"""The conformance test of backends, for ours and for yours: every rule of `base.py`, checked by real work.

`check_backend(make, folder)` runs all checks; for pytest, parametrise over CHECKS and DEADLY_CHECKS and call
each with a backend of its own and an empty folder. The workers must run on this machine and see that folder
under the same name: some checks look at their files and processes. One that fails raises AssertionError.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from evenhand.study.backends.base import STOPPED, Backend, Began, Ended, Made, Message, Standing
from evenhand.study.backends.listening import (
    Heard,
    heard,
    job_for,
    require,
    require_made,
    require_no_process_left,
    same,
)
from evenhand.study.backends.toy_work import toy_bucket, works
from evenhand.study.records import canonical

SECONDS = 60.0  # after which a run that should have stopped is said to hang


def check_nothing_to_do(backend: Backend, folder: Path) -> None:
    """No buckets, no messages; and nothing begins where `stop()` is true from the beginning."""
    told = heard(backend, [], job := job_for(folder, "works"))
    require(told.messages == [], "B1: something was told about no buckets")
    told = heard(backend, [toy_bucket("a")], job, stop=lambda: True)
    require(told.messages == [], "B5: a bucket began although the study had been stopped before")


def check_every_record_once(backend: Backend, folder: Path) -> None:
    """B1, B2: 200 small buckets, in their order; all that is told is told in this thread."""
    buckets, job = [toy_bucket(f"b{n:03d}", 1 + n % 3) for n in range(200)], job_for(folder, "works")
    told = heard(backend, buckets, job)
    require_made(told, buckets, job)
    require(told.threads == {threading.get_ident()}, "B2: hear was called in another thread")
    for bucket in buckets:
        messages = [message for message in told.messages if message.bucket == bucket.id]
        require(isinstance(messages[0], Began), f"{bucket.id} was told of before it began")
        require(isinstance(messages[-1], Ended), f"{bucket.id} was told of after it ended")
    began = [message.bucket for message in told.messages if isinstance(message, Began)]
    moved = [abs(place - int(name[1:])) for place, name in enumerate(began)]
    require(max(moved) <= _at_once(told), "B1: the order of the buckets was not kept")


def _at_once(told: Heard) -> int:
    """How many buckets were worked on at the same time, at most."""
    now, most = 0, 0
    for message in told.messages:
        now += isinstance(message, Began) - isinstance(message, Ended)
        most = max(most, now)
    return most


def check_again(backend: Backend, folder: Path) -> None:
    """A backend may be used twice."""
    for name in ("a", "b"):
        told = heard(backend, [toy_bucket(name)], job := job_for(folder, "works"))
        require_made(told, [toy_bucket(name)], job)


def check_large_and_strange(backend: Backend, folder: Path) -> None:
    """Counts of 196 groups and 10 classes, and words of any alphabet, arrive as they were made."""
    shape: dict[str, Any] = {"groups": 196, "classes": 10, "words": "Prüfung 公平 \U0001f469\U0001f3fd \n'\""}
    bucket, job = toy_bucket("große Gruppe", 5, **shape), job_for(folder, "works")
    told = heard(backend, [bucket], job)
    for expected in works(bucket, job, lambda _: None):
        require(same(told.records()[expected.id], expected), "a large record was changed on its way")
    words = [message.words for message in told.messages if isinstance(message, Standing)]
    require(set(words) <= {shape["words"]}, "the words of a standing were changed on their way")


def check_plain_values(backend: Backend, folder: Path) -> None:
    """B6: a bucket and a job reach the worker as they were given (the device may be the worker's own)."""
    bucket = toy_bucket("a", 2, text="é", number=0.1, none=None, many=[1, [2.5, "x"]])
    job = job_for(folder, "echoes", checkpoint_every=7.5, keep_weights=True, score_bins=3)
    reached = heard(backend, [bucket], job).records()["a-0"].detail
    sent = canonical({"bucket": bucket.to_dict(), "job": vars(job)})
    require(reached == sent, f"B6: {sent} was sent, and {reached} arrived")


def check_fresh(backend: Backend, folder: Path) -> None:
    """B7: buckets of identical runs have a process each, also after others."""
    plain, fresh = toy_bucket("plain"), [toy_bucket(f"fresh{n}", repeat=n) for n in range(3)]
    told = heard(backend, [plain, *fresh], job_for(folder, "echoes"))
    processes = [told.records()[f"{bucket.id}-0"].host for bucket in (plain, *fresh)]
    require(len(set(processes)) == len(processes), f"B7: the work was done by the processes {processes}")


def check_told_at_once(backend: Backend, folder: Path) -> None:
    """Records and standings are told while the bucket is at work: it waits for the driver to have heard."""
    kinds: set[type] = set()

    def answer(message: Message) -> None:
        kinds.add(type(message))
        if {Made, Standing} <= kinds:
            (folder / "a.go").touch()

    began = time.monotonic()
    told = heard(backend, [bucket := toy_bucket("a", 2)], job := job_for(folder, "waits"), answer)
    require_made(told, [bucket], job)
    require(time.monotonic() - began < SECONDS, "records or standings are told only when the bucket is over")


def check_exception(backend: Backend, folder: Path) -> None:
    """B3: an exception ends its bucket, with reason and traceback; the others go on."""
    bad, good = toy_bucket("bad", 3, message="half of nothing"), [toy_bucket(f"good{n}", 2) for n in range(4)]
    told = heard(backend, [good[0], bad, *good[1:]], job := job_for(folder, "raises"))
    require_made(told, good, job)
    end = told.ends()["bad"]
    require(end.reason is not None and "half of nothing" in end.reason, f"B3: the reason is {end.reason!r}")
    require("ZeroDivisionError" in end.detail and "in raises" in end.detail, "B3: no traceback of the work")
    require("bad-0" in told.records(), "B3: what was made before the exception is lost")
    require(told.attempts("bad") == [1], "B3: an exception is not tried again")


def _confirm(folder: Path, message: Message) -> None:
    if isinstance(message, Made):
        (folder / f"{message.bucket}.heard").touch()


def check_death(how: str, backend: Backend, folder: Path) -> None:
    """B4: a worker that dies costs its bucket's time; others are not begun again, no record is told twice."""
    bad, good = toy_bucket("bad", 3, times=1, how=how), [toy_bucket(f"good{n}", 2) for n in range(4)]
    told = heard(
        backend, [good[0], bad, *good[1:]], job := job_for(folder, "dies"), partial(_confirm, folder)
    )
    require_made(told, [*good, bad], job)
    require(told.attempts("bad") == [1, 2], f"B4: attempts were {told.attempts('bad')}")
    require([told.attempts(bucket.id) for bucket in good] == [[1]] * 4, "B4: another bucket paid for it")


def check_death_for_ever(backend: Backend, folder: Path) -> None:
    """B4: a bucket that kills every worker is given up after `retries`, with a reason; the others go on."""
    bad, good = toy_bucket("bad", 2, times=9, how="kill"), [toy_bucket(f"good{n}") for n in range(3)]
    job = job_for(folder, "dies", retries=1)
    told = heard(backend, [bad, *good], job, partial(_confirm, folder))
    require_made(told, good, job)
    require(told.attempts("bad") == [1, 2], f"B4: attempts were {told.attempts('bad')}")
    require("died" in (told.ends()["bad"].reason or ""), f"B4: the reason is {told.ends()['bad'].reason!r}")


def check_stop(backend: Backend, folder: Path) -> None:
    """B5: those at work save and stop, nothing begins any more, no process is left."""
    buckets, stopped = [toy_bucket(f"b{n}", 2) for n in range(20)], threading.Event()

    def answer(message: Message) -> None:
        if isinstance(message, Standing):
            stopped.set()

    began = time.monotonic()
    told = heard(backend, buckets, job_for(folder, "waits"), answer, stopped.is_set)
    require(time.monotonic() - began < SECONDS, "B5: it took too long to stop")
    begun = {message.bucket for message in told.messages if isinstance(message, Began)}
    require(0 < len(begun) < len(buckets), "B5: a bucket began after the stop")
    reasons = {bucket: end.reason for bucket, end in told.ends().items()}
    require(reasons == dict.fromkeys(begun, STOPPED), f"B5: the buckets at work ended with {reasons}")
    working, saved = ({path.stem for path in folder.glob(f"*.{kind}")} for kind in ("working", "saved"))
    require(saved and saved == working, f"B5: of {sorted(working)} only {sorted(saved)} were asked to save")
    require_no_process_left(folder)


def check_exception_in_hear(backend: Backend, folder: Path) -> None:
    """B5: an exception out of `hear` comes out of `run`, and no process is left."""

    def fail(message: Message) -> None:
        if isinstance(message, Made):
            raise LookupError("the disk is full")

    try:
        heard(backend, [toy_bucket(f"b{n}") for n in range(5)], job_for(folder, "waits"), fail)
    except LookupError:
        require_no_process_left(folder)
    else:
        raise AssertionError("B5: an exception out of hear was swallowed")


Check = Callable[[Backend, Path], None]
CHECKS: dict[str, Check] = {
    "nothing to do": check_nothing_to_do,
    "every record once": check_every_record_once,
    "again": check_again,
    "large and strange": check_large_and_strange,
    "plain values": check_plain_values,
    "fresh": check_fresh,
    "told at once": check_told_at_once,
    "exception": check_exception,
    "stop": check_stop,
    "exception in hear": check_exception_in_hear,
}
# For backends whose workers are processes of their own: the work kills them.
DEADLY_CHECKS: dict[str, Check] = {
    "exit": partial(check_death, "exit"),
    "kill": partial(check_death, "kill"),
    "death for ever": check_death_for_ever,
}


def check_backend(make: Callable[[], Backend], folder: Path, *, can_kill: bool = True) -> None:
    """All checks, each with a new backend and a folder of its own inside `folder`.

    >>> import tempfile
    >>> from evenhand.study.backends.inline import InlineBackend
    >>> check_backend(InlineBackend, Path(tempfile.mkdtemp()), can_kill=False)
    """
    for name, check in {**CHECKS, **(DEADLY_CHECKS if can_kill else {})}.items():
        own = folder / name.replace(" ", "-")
        own.mkdir(parents=True)
        check(make(), own)

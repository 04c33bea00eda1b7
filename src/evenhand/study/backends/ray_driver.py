"""The driver's loop over the workers of a Ray cluster: give buckets, hear of them, try again, stop."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from evenhand.study.backends.base import STOPPED, Began, Ended, Hear, Job, Made, Message
from evenhand.study.backends.ray_crew import Crew, Member, last_line
from evenhand.study.records import Bucket

TICK = 0.2  # seconds between two looks at whether to stop


class Driver:
    """One study's buckets on one crew."""

    def __init__(self, ray: Any, crew: Crew, buckets: Sequence[Bucket], job: Job, hear: Hear) -> None:
        self._ray, self._crew, self._job, self._hear = ray, crew, job, hear
        self._waiting = deque((bucket, 1) for bucket in buckets)
        self._begun: set[str] = set()
        self._told: set[tuple[str, str]] = set()  # a bucket that is worked on again makes its records again

    def run(self, stop: Callable[[], bool], grace: float) -> None:
        """Until every bucket has ended, or `stop()` is true; nobody is left behind."""
        try:
            while self._waiting or self._busy():
                if stop():
                    self._stop(grace)
                    return
                self._crew.hire(len(self._waiting) + len(self._busy()))
                self._give()
                self._listen()
        finally:
            self._crew.dismiss([*self._crew.members])

    def _busy(self) -> list[Member]:
        return [member for member in self._crew.members if member.bucket is not None]

    def _give(self) -> None:
        """A bucket for everybody who has none; where there is none left, the next study may have the GPU."""
        free = [member for member in self._crew.members if member.name and member.bucket is None]
        for member in free:
            if not self._waiting:
                break
            if member.used and self._waiting[0][0].fresh:  # which wants a process that has done nothing
                self._crew.dismiss([member])
                continue
            member.bucket, member.attempt = self._waiting.popleft()
            member.used = True
            self._say(Began(member.bucket.id, member.name, member.attempt))
            member.begun = [member.actor.begin.remote(member.bucket.to_dict(), asdict(self._job))]
            member.ask()
        if not self._waiting:
            self._crew.dismiss([member for member in self._crew.members if member.bucket is None])

    def _listen(self) -> None:
        """Everything that workers have to say within the next moment."""
        awaited = {member.answer: member for member in self._crew.members if member.answer is not None}
        if not awaited:
            time.sleep(TICK)
            return
        # Ray counts off the answers in the order given: after the first, all that are there, or the first
        # worker would always come first
        if self._ray.wait(list(awaited), num_returns=1, timeout=TICK)[0]:
            ready, _ = self._ray.wait(list(awaited), num_returns=len(awaited), timeout=0)
            for answer in ready:
                self._answered(awaited[answer])

    def _answered(self, member: Member) -> None:
        try:
            answer = self._ray.get(member.answer)
        except self._ray.exceptions.RayTaskError as error:  # it lives, but what it said cannot be told
            self._unsayable(member, error)
        except self._ray.exceptions.RayError as error:
            self._died(member, error)
        else:
            if member.name:
                self._take(member, answer)
            else:
                self._crew.welcome(member, answer)

    def _take(self, member: Member, messages: list[Message]) -> None:
        member.answer = None
        for message in messages:
            if isinstance(message, Ended):
                member.bucket = None
            if not isinstance(message, Made) or self._is_new(message):
                self._say(message)
        if member.bucket is not None:
            member.ask()

    def _say(self, message: Message) -> None:
        if isinstance(message, Began):
            self._begun.add(message.bucket)
        elif isinstance(message, Ended):
            self._begun.discard(message.bucket)
        self._hear(message)

    def _is_new(self, message: Made) -> bool:
        key = (message.bucket, message.record.id)
        new = key not in self._told
        self._told.add(key)
        return new

    def _unsayable(self, member: Member, error: Exception) -> None:
        """An error in our own part of the worker: a record that cannot travel, or work that is not there."""
        bucket, member.bucket = member.bucket, None
        self._crew.lost(member, error)
        if bucket is not None:
            self._say(Ended(bucket.id, last_line(error), str(error)))

    def _died(self, member: Member, error: Exception) -> None:
        """A worker is gone: its bucket is given to another, unless that has been tried often enough."""
        bucket, member.bucket = member.bucket, None
        self._crew.lost(member, error)
        if bucket is None:
            return
        if member.attempt <= self._job.retries:
            self._waiting.appendleft((bucket, member.attempt + 1))
        else:
            reason = f"the worker died, {member.attempt} times in a row"
            self._say(Ended(bucket.id, reason, str(error)))

    def _stop(self, grace: float) -> None:
        """Nobody begins anew; those at work save and leave, and who does not in time is ended."""
        busy, end = self._busy(), time.monotonic() + grace
        self._crew.dismiss([member for member in self._crew.members if member not in busy])
        for member in busy:
            member.ask_to_stop()
        while self._busy() and time.monotonic() < end:
            self._listen()
        for bucket in sorted(self._begun):
            self._hear(Ended(bucket, STOPPED))

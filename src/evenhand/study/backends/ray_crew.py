"""The workers of a study on Ray: as many as there is room for, started when needed and let go when not."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from evenhand import __version__
from evenhand.errors import InputError
from evenhand.study.backends.ray_cluster import room
from evenhand.study.backends.ray_worker import CONTROL, Worker
from evenhand.study.records import Bucket

WAIT = 1.0  # seconds that a worker waits for something to tell before it answers that there is nothing
LOOK = 1.0  # seconds between two looks at the nodes
FAILED_STARTS = 3  # so many in a row, and it is not bad luck


@dataclass(eq=False)
class Member:
    """A worker, the answer that is awaited from it, and what it works on."""

    actor: Any
    answer: Any
    name: str = ""  # empty until it has said hello
    bucket: Bucket | None = None
    attempt: int = 1
    used: bool = False  # it has been given a bucket
    begun: list[Any] = field(default_factory=list)  # Ray complains about answers that nobody kept

    def ask(self) -> None:
        """Await what it has to tell next."""
        self.answer = self.actor.take.options(concurrency_group=CONTROL).remote(WAIT)

    def ask_to_stop(self) -> None:
        """It shall save its work and leave it."""
        self.begun.append(self.actor.stop.options(concurrency_group=CONTROL).remote())


class Crew:
    """Hires while nodes have room, and dismisses; `wanted` is how many are asked for in any case."""

    def __init__(
        self, ray: Any, cpus: float, gpus: float, wanted: int | None, patience: float, work: str
    ) -> None:
        self._ray, self._work, self._wanted, self._patience = ray, work, wanted, patience
        self._needs = (cpus, gpus)
        options = {"num_cpus": cpus, "num_gpus": gpus, "max_restarts": 0}
        self._kind = ray.remote(**options, concurrency_groups={CONTROL: 2})(Worker)
        self.members: list[Member] = []
        self._looked, self._had_room, self._failed = -LOOK, time.monotonic(), 0

    def hire(self, unfinished: int) -> None:
        """New workers, as long as there are buckets for them and nodes with room."""
        now = time.monotonic()
        if now - self._looked < LOOK and self.members:
            return
        self._looked = now
        there = room(self._ray.nodes(), *self._needs)
        if there or any(member.name for member in self.members):
            self._had_room = now
        elif now - self._had_room >= self._patience:
            raise InputError(self._no_room())
        for _ in range(min(self._wanted or there, unfinished) - len(self.members)):
            actor = self._kind.remote()
            self.members.append(Member(actor, actor.hello.remote(self._work)))

    def _no_room(self) -> str:
        cpus, gpus = self._needs
        needed = f"{cpus:g} CPU" + (f" and {gpus:g} GPU" if gpus else "")
        waited = f" within {self._patience:g} seconds" if self._patience else ""
        return (
            f"no node of the Ray cluster has {needed} for a bucket{waited}; "
            "'ray status' shows what the nodes have"
        )

    def welcome(self, member: Member, hello: dict[str, str]) -> None:
        """It has started; results of another evenhand would pass for ours."""
        if hello["version"] != __version__:
            raise InputError(
                f"{hello['name']} has evenhand {hello['version']}, and this is {__version__}; "
                "install the same on every node, or use ship=True"
            )
        member.name, member.answer, self._failed = hello["name"], None, 0

    def lost(self, member: Member, error: Exception) -> None:
        """It is gone. One that never started is tried again, but not for ever."""
        self.dismiss([member])
        if member.name:
            return
        self._failed += 1
        if self._failed >= FAILED_STARTS:
            raise InputError(
                f"workers do not start on the Ray cluster ({last_line(error)}); evenhand and torch must be "
                "installed on every node, in the versions of this machine"
            ) from error

    def dismiss(self, members: list[Member]) -> None:
        """End their processes, and wait until Ray knows that they have ended."""
        for member in members:
            self._ray.kill(member.actor)
            self.members.remove(member)
        left = [member.answer for member in members if member.answer is not None]
        if left:
            self._ray.wait(left, num_returns=len(left), timeout=5, fetch_local=False)


def last_line(error: BaseException) -> str:
    """Ray's messages end with what happened.

    >>> last_line(ValueError("The actor died.\\n  pid: 12\\nNo module named 'evenhand'\\n"))
    "No module named 'evenhand'"
    """
    return " ".join(next(iter(reversed(str(error).strip().splitlines())), type(error).__name__).split())

"""Where a study stands: told by the run itself, or read from its folder by another terminal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenhand.study.conduct import Status


@dataclass(frozen=True)
class Work:
    """A bucket that somebody trains: what it is, the share that is done, model-steps a second."""

    name: str
    done: float
    rate: float = 0.0
    words: str = ""


@dataclass(frozen=True)
class State:
    """Runs by what became of them, those at work, and how fast it goes.

    >>> State("s", planned=10, done=6, failed=1).left
    3
    """

    name: str
    planned: int = 0
    done: int = 0
    failed: int = 0
    running: int = 0
    reused: int = 0
    rate: float = 0.0  # runs a second
    seconds_left: float | None = None
    failures: Mapping[str, int] = field(default_factory=dict)
    work: tuple[Work, ...] = ()
    words: str = ""
    notes: tuple[str, ...] = ()  # sentences for the user that are no errors

    @property
    def left(self) -> int:
        """Runs of which nothing is known yet."""
        return max(self.planned - self.done - self.failed, 0)

    @property
    def share(self) -> float:
        """How much is over, well or badly; a study without runs is over."""
        return 1.0 if not self.planned else (self.done + self.failed) / self.planned

    def to_dict(self) -> dict[str, Any]:
        """JSON values."""
        return {**asdict(self), "left": self.left, "finished": not self.left}


def state_of(name: str, status: Status) -> State:
    """What a run of a study tells of itself."""
    work = tuple(
        Work(bucket, standing.done, standing.rate, standing.words)
        for bucket, standing in status.standings.items()
    )
    return State(
        name, status.planned, status.done, status.failed, status.running, status.reused,
        status.runs_per_second, status.seconds_left, dict(status.failures), work, status.words,
        tuple(getattr(status, "notes", ())),
    )  # fmt: skip

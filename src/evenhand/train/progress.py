"""Where training stands, and what of it can be shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Position:
    """Everything random is a function of this, so it is all that a resumed run must know of the past."""

    phase: int = 0
    epoch: int = 0  # of this phase
    step: int = 0  # of this epoch
    epochs_before: int = 0  # of earlier phases
    seconds: float = 0.0


@dataclass(frozen=True)
class Progress:
    """What can be shown while training."""

    phase: str
    epoch: int
    epochs: int
    step: int
    steps: int
    done: float  # share of all steps
    rate: float  # model-steps a second; 0 where it was not measured
    numbers: dict[str, float] = field(default_factory=dict)  # means over runs, of the last epoch


Tell = Callable[[Progress], None]


def progress_of(
    place: Position,
    phase: str,
    epochs: int,
    planned: int,
    steps: int,
    speed: float,
    history: Sequence[Mapping[str, Any]],
) -> Progress:
    """Where a trainer stands in a phase of so many epochs, `planned` of all phases together."""
    done = ((place.epochs_before + place.epoch) * steps + place.step) / (planned * steps)
    last = history[-1] if history else {}
    numbers = {key: sum(v) / len(v) for key, v in last.items() if isinstance(v, list) and v}
    return Progress(phase, place.epoch, epochs, place.step, steps, done, speed, numbers)

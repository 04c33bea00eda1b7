"""Where training stands, and what of it can be shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


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

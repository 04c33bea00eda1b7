"""Plan: how many runs tell a difference, and what the observed ones could tell, as plain values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from evenhand.statistics.outcome import NAN
from evenhand.statistics.power_simulation import SimulatedPower


@dataclass(frozen=True)
class Plan:
    """What is needed, and what the observed number of runs could see; NaN where that cannot be said.

    `runs` (of each side) is the smallest number whose simulated power is at least the wanted one, `at_runs`
    that power; `runs_low` and `runs_high` are what it would be if the true deviations were the ends of their
    90 % interval (chi-square), since the observed runs are few themselves. `own` is the power of as many runs
    as were observed, `detectable` the smallest difference that these find with the wanted chance. `formula`
    is the number of runs of a t-test under normal values.
    """

    n: tuple[int, int]
    std: tuple[float, float]
    runs: float = NAN
    runs_low: float = NAN
    runs_high: float = NAN
    formula: float = NAN
    at_runs: SimulatedPower | None = None
    own: SimulatedPower | None = None
    detectable: float = NAN
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers; None where undefined."""
        names = ("runs", "runs_low", "runs_high", "formula", "detectable")
        plain = {name: _known(getattr(self, name)) for name in names}
        powers = {name: _told(getattr(self, name)) for name in ("at_runs", "own")}
        return {
            "n": list(self.n),
            "std": [_known(value) for value in self.std],
            **plain,
            **powers,
            "notes": [*self.notes],
        }


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _told(found: SimulatedPower | None) -> dict[str, float] | None:
    return (
        None
        if found is None
        else {"runs": found.runs, "power": found.power, "low": found.low, "high": found.high}
    )

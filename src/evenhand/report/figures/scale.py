"""A linear axis: from values to places, and round numbers for its ticks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """Maps [low, high] to [start, end].

    >>> Scale(0, 2, 100, 200, (0, 1, 2))(1)
    150.0
    """

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...]

    def __call__(self, x: float) -> float:
        inside = min(max(x, self.low), self.high)
        return self.start + (self.end - self.start) * (inside - self.low) / (self.high - self.low)


def nice_scale(values: Iterable[float | None], start: float, end: float, ticks: int = 5) -> Scale:
    """An axis that holds every finite value and ends on round numbers.

    >>> nice_scale([0.0, 0.37, None], 0, 100).ticks
    (0.0, 0.1, 0.2, 0.3, 0.4)
    """
    finite = [float(x) for x in values if x is not None and math.isfinite(x)] or [0.0]
    low, high = min(finite), max(finite)
    if high - low < 1e-9 * max(1.0, abs(low), abs(high)):
        low, high = low - (0.05 if low < 0 else 0.0), high + 0.05
    step = round_step((high - low) / ticks)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    marks = tuple(round(step * i, 10) for i in range(first, last + 1))
    return Scale(marks[0], marks[-1], start, end, marks)


def round_step(rough: float) -> float:
    """The round number (1, 2 or 5 times a power of ten) at or above `rough`.

    >>> round_step(0.07), round_step(0.013)
    (0.1, 0.02)
    """
    power = 10.0 ** math.floor(math.log10(rough))
    return next(step * power for step in (1.0, 2.0, 5.0, 10.0) if step * power >= rough * (1 - 1e-9))


def tick_label(x: float) -> str:
    """A tick without idle zeros.

    >>> tick_label(0.30000000001), tick_label(-1.0), tick_label(0.0)
    ('0.3', '−1', '0')
    """
    label = f"{x:.6f}".rstrip("0").rstrip(".")
    return "0" if label in {"-0", "0"} else label.replace("-", "−")

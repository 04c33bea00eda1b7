"""The records an audit consists of: a value with its interval and reasons, and a group with its rates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

NAN = float("nan")


@dataclass(frozen=True)
class RunSummary:
    """A metric over several runs of one model: S0's mean, deviation, range and MaxDiff.

    `share` is the part of the variance that comes from run to run and not from the sample of rows.
    """

    n: int
    mean: float
    std: float
    min: float
    max: float
    maxdiff: float
    share: float
    values: tuple[float, ...]
    per_class_maxdiff: tuple[float, ...] | None = None
    widest_class: str | None = None


@dataclass(frozen=True)
class MetricValue:
    """One metric of one audit.

    `bounds`: what it could be, were the rows of unknown group known. `with_small`: its value with the groups
    under the minimum count. `chance`: what shuffled group labels reach in one case of twenty (at 95 %), and
    `chance_p` how often they reach this value. `undefined`: the reasons for what was left out.
    """

    key: str
    value: float
    low: float = NAN
    high: float = NAN
    per_class: tuple[float, ...] | None = None
    decided_by: tuple[str, ...] | None = None
    decided_in: str | None = None
    undefined: tuple[str, ...] = ()
    bounds: tuple[float, float] | None = None
    with_small: float | None = None
    chance: float | None = None
    chance_p: float | None = None
    skipped_classes: int = 0
    skipped_groups: int = 0
    runs: RunSummary | None = None

    def __float__(self) -> float:
        return self.value


@dataclass(frozen=True)
class GroupRow:
    """One group: its size, its rates with intervals, and its confusion table."""

    name: str
    levels: dict[str, str]
    n: int
    share: float
    small: bool
    excluded: bool
    rates: dict[str, float]
    intervals: dict[str, tuple[float, float]]
    per_class: dict[str, tuple[float, ...]]
    confusion: tuple[tuple[float, ...], ...] | None = None
    weight: float | None = None


def plain(value: Any) -> Any:
    """The value as JSON knows it: NaN and infinities become null, records become objects.

    >>> plain({"a": float("nan"), "b": (1, 2.5)})
    {'a': None, 'b': [1, 2.5]}
    """
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if hasattr(value, "__dataclass_fields__"):
        return {name: plain(getattr(value, name)) for name in value.__dataclass_fields__}
    if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value

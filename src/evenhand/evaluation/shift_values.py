"""The numbers of an audit under shift: a metric at each severity, how far it moved, and the word for it.

The rule was fixed before any result was seen: a metric "moved up" or "moved down" where the interval of its
paired difference to severity 0 leaves out zero, and is judged at the highest severity; everything else is "no
change shown", which is not the same as no change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.errors import InputError
from evenhand.evaluation.tradeoff_values import t_reach
from evenhand.evaluation.values import NAN, MetricValue
from evenhand.metrics.undefined import mean_defined

UP, DOWN, SAME = "moved up", "moved down", "no change shown"
UNDEFINED, UNJUDGED = "undefined", "not judged"
TINY = 1e-12  # what arithmetic leaves of a zero


@dataclass(frozen=True)
class Moved:
    """A metric minus its value at severity 0, the mean over runs and draws.

    `rows` and `runs` are half the widths that other test rows and other trainings cause (NaN: not known);
    the interval is that of both together.
    """

    difference: float
    low: float = NAN
    high: float = NAN
    rows: float = NAN
    runs: float = NAN
    verdict: str = UNDEFINED


@dataclass(frozen=True)
class Point:
    """A metric at one severity: the mean over runs and draws, and the audit's interval of a single run.

    `values [R][D]` has every run and draw; the deviations are those of the runs' means over draws, and of the
    draws' means over runs.
    """

    severity: float
    value: float
    low: float
    high: float
    runs_std: float
    draws_std: float
    values: tuple[tuple[float, ...], ...] = field(repr=False)
    undefined: tuple[str, ...] = ()
    moved: Moved | None = None


@dataclass(frozen=True)
class Curve:
    """One metric over all severities; `since`: from this severity on every point moved the same way."""

    key: str
    points: tuple[Point, ...]
    verdict: str
    since: float | None = None

    def at(self, severity: float) -> Point:
        """The point of a severity that was measured."""
        for point in self.points:
            if point.severity == severity:
                return point
        there = ", ".join(f"{point.severity:g}" for point in self.points)
        raise InputError(f"{self.key} was not measured at severity {severity!r}; it was at {there}")


def point_of(severity: float, found: MetricValue, runs: int, moved: Moved | None = None) -> Point:
    """A point from the audit of all runs and draws, the draws of one run beside each other."""
    values = np.array(found.runs.values if found.runs else [found.value] * runs).reshape(runs, -1)
    finite = np.where(np.isfinite(values), values, np.nan)
    return Point(
        severity, found.value, found.low, found.high, _std(mean_defined(finite, axis=1)),
        _std(mean_defined(finite, axis=0)), tuple(map(tuple, values.tolist())), found.undefined, moved,
    )  # fmt: skip


def _std(values: FloatArray) -> float:
    """The deviation of at least two numbers."""
    known = values[np.isfinite(values)]
    return float(known.std(ddof=1)) if len(known) > 1 else NAN


def moved(
    clean: Point,
    values: FloatArray,
    rows: float,
    confidence: float,
    ends: tuple[float, float] = (-np.inf, np.inf),
) -> Moved:
    """How far `values [R, D]` are from the clean ones, run by run; `rows` is what other rows would change.

    `ends` are the lowest and the highest value that the metric can have: a gap of 0.1 falls by 0.1 at most.

    >>> clean = Point(0.0, 0.2, 0.1, 0.3, NAN, NAN, ((0.1,), (0.3,)))
    >>> found = moved(clean, np.array([[0.2, 0.4], [0.4, 0.6]]), 0.05, 0.95)  # both runs: 0.2 more
    >>> round(found.difference, 6), round(found.low, 6), round(found.high, 6), found.verdict
    (0.2, 0.15, 0.25, 'moved up')
    """
    each = np.asarray(values) - np.array(clean.values)[:, :1]
    each = np.where(np.isfinite(each), each, np.nan)
    difference = float(mean_defined(each.ravel(), axis=0))
    if np.isnan(difference):
        return Moved(NAN)
    runs = t_reach(mean_defined(each, axis=1), confidence)
    # two sources, independent of each other; one that is not known cannot be added
    known = [reach for reach in (rows, runs) if np.isfinite(reach)]
    if not known:
        return Moved(difference, verdict=UNJUDGED)
    reach = float(np.sqrt(np.sum(np.square(known))))
    low = max(difference - reach, min(ends[0] - clean.value, difference))
    high = min(difference + reach, max(ends[1] - clean.value, difference))
    return Moved(difference, low, high, rows, runs, verdict_of(low, high))


def verdict_of(low: float, high: float) -> str:
    """The word for an interval of a difference.

    >>> verdict_of(0.1, 0.2), verdict_of(-0.2, -0.1), verdict_of(0.0, 0.1)
    ('moved up', 'moved down', 'no change shown')
    """
    return UP if low > TINY else DOWN if high < -TINY else SAME


def curve_of(key: str, points: Sequence[Point]) -> Curve:
    """The points together: judged at the highest severity."""
    words = [point.moved.verdict if point.moved else SAME for point in points]
    since = None
    if words[-1] in (UP, DOWN):
        same = [word == words[-1] for word in words]
        first = len(same) - next((i for i, one in enumerate(reversed(same)) if not one), len(same))
        since = points[first].severity
    return Curve(key, tuple(points), words[-1], since)

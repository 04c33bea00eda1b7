"""The numbers of a trade-off: a method's runs, how far it is from the base, who lies on the frontier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.evaluation.values import NAN, MetricValue
from evenhand.metrics.metric import Metric
from evenhand.statistics.tests import cohens_d, effect_band, mann_whitney
from evenhand.statistics.variance import spread


@dataclass(frozen=True)
class Estimate:
    """One number over the runs of a method.

    `low` and `high` are where the mean over all possible seeds lies (Student's t over the seeds); `run_low`
    and `run_high` where a single run on other test rows would lie (the audit's interval: seeds and rows).
    """

    values: tuple[float, ...]
    n: int
    mean: float
    std: float
    min: float
    max: float
    low: float = NAN
    high: float = NAN
    run_low: float = NAN
    run_high: float = NAN


@dataclass(frozen=True)
class Moved:
    """A number of a method minus that of the base: interval over seeds and rows, U-test, Cohen's d.

    `paired`: both have the same seeds, and differences are taken seed by seed.
    """

    difference: float
    low: float = NAN
    high: float = NAN
    p: float = NAN
    effect: float = NAN
    band: str = "undefined"
    paired: bool = True
    p_adjusted: float = NAN


def estimate(found: MetricValue, metric: Metric, confidence: float, runs: int) -> Estimate:
    """A metric of an audit with its runs; an audit has none of a metric that is undefined in all of them."""
    alone = (found.value,) if runs == 1 else (NAN,) * runs
    values = found.runs.values if found.runs else alone
    known = spread(values)
    mean, reach = float(known.mean), t_reach(np.asarray(values), confidence)
    low, high = np.clip([mean - reach, mean + reach], metric.low, metric.high).tolist()
    return Estimate(
        values, int(known.n), mean, float(known.std), float(known.min), float(known.max), low, high,
        found.low, found.high,
    )  # fmt: skip


def t_reach(values: FloatArray, confidence: float) -> float:
    """Half the width of Student's interval of a mean; NaN for fewer than two values.

    >>> round(t_reach(np.array([1.0, 2.0, 3.0]), 0.95), 4)  # 4.3027 * 1 / sqrt(3)
    2.4841
    """
    from scipy.special import stdtrit

    known = values[np.isfinite(values)]
    if len(known) < 2:
        return NAN
    return float(stdtrit(len(known) - 1, (1 + confidence) / 2) * known.std(ddof=1) / np.sqrt(len(known)))


def moved(base: Estimate, other: Estimate, rows: float, confidence: float, paired: bool) -> Moved:
    """How far a method is from the base; `rows` is the half-width that the sample of rows alone causes.

    >>> one, other = (Estimate((a, b), 2, (a + b) / 2, 0.1, a, b) for a, b in ((0.1, 0.2), (0.3, 0.4)))
    >>> found = moved(one, other, 0.05, 0.95, paired=True)  # both seeds differ by 0.2: the rows alone count
    >>> round(found.difference, 6), round(found.low, 6), round(found.high, 6)
    (0.2, 0.15, 0.25)
    """
    a, b = np.asarray(base.values), np.asarray(other.values)
    if paired:
        both = np.isfinite(a) & np.isfinite(b)
        a, b = a[both], b[both]
        seeds = t_reach(b - a, confidence)
    else:
        a, b = a[np.isfinite(a)], b[np.isfinite(b)]
        seeds = float(np.hypot(t_reach(a, confidence), t_reach(b, confidence)))
    if not len(a) or not len(b):
        return Moved(NAN, paired=paired)
    difference = float(b.mean() - a.mean())
    # the two sources are independent of each other; one that is not known cannot be added
    known = [reach for reach in (seeds, rows) if np.isfinite(reach)]
    reach = float(np.sqrt(np.sum(np.square(known)))) if known else NAN
    found = Moved(difference, difference - reach, difference + reach, paired=paired)
    if min(len(a), len(b)) < 2:
        return found
    effect = cohens_d(a, b)
    return replace(found, p=mann_whitney(a, b).p, effect=effect, band=effect_band(effect))


def frontier(points: Mapping[str, tuple[float, float]], metric: Metric) -> list[str]:
    """The names that no other beats in both accuracy and the metric, the most accurate first.

    >>> from evenhand.metrics.catalogue import CATALOGUE
    >>> frontier({"a": (0.9, 0.3), "b": (0.8, 0.1), "c": (0.7, 0.2)}, CATALOGUE["tpr.gap"])
    ['a', 'b']
    """
    known = {
        name: (-x, cost(y, metric)) for name, (x, y) in points.items() if np.isfinite(x) and np.isfinite(y)
    }

    def beaten(mine: tuple[float, float]) -> bool:
        return any(other != mine and other[0] <= mine[0] and other[1] <= mine[1] for other in known.values())

    return sorted((name for name, place in known.items() if not beaten(place)), key=lambda name: known[name])


def cost(value: float, metric: Metric) -> float:
    """A metric's value turned so that lower is better, by the catalogue's word."""
    if metric.better == "higher":
        return -value
    return abs(value - metric.ideal) if metric.better == "nearer" else value


def adjusted(found: Sequence[Moved]) -> list[float]:
    """Holm's p-values of all tests together; NaN stays NaN."""
    from evenhand.statistics.tests import holm

    return [float(p) for p in holm([entry.p for entry in found])] if found else []

"""Confidence intervals for every count metric, from one set of bootstrap replicates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.metrics.counts import Counts
from evenhand.metrics.label_rows import LabelRows
from evenhand.metrics.metric import Metric
from evenhand.metrics.resample import Resampling
from evenhand.metrics.samplers import Look, sampler_of
from evenhand.metrics.undefined import divide
from evenhand.metrics.view import View

NAN = float("nan")
TINY = 1e-12
CHUNK_CELLS = 1 << 22  # cells of replicates held at once: 32 MB
MOST_RATES = 1 << 22  # values of one rate over all replicates; beyond it there are fewer of them
FEWEST = 200


@dataclass(frozen=True)
class Draws:
    """What replicates say of one metric: errors to both sides, its values, those under shuffled groups."""

    down: FloatArray
    up: FloatArray
    ranged: bool
    values: FloatArray = field(default_factory=lambda: np.zeros(0))
    chance: FloatArray = field(default_factory=lambda: np.zeros(0))


def draw_metrics(
    counts: Counts,
    metrics: Sequence[Metric],
    view: View,
    chosen: Array,
    *,
    replicates: int = 1000,
    seed: int = 0,
    how: Resampling = "stratified",
    chance: bool = True,
    rows: LabelRows | None = None,
    values: bool = True,
) -> dict[str, Draws]:
    """Bootstrap all metrics together: each rate of each replicate is worked out once.

    `chosen` are the indices of the groups that take part, `view` the observed margins of just those. `rows`
    are the rows of a multi-label task, whose labels must be drawn together. Without `values` only the errors
    of the replicates are kept.
    """
    sampler = sampler_of(counts, how, rows)
    replicates = sampler.affordable(_affordable(replicates, view.margins.tp.size))
    centre = _view(view, sampler.middle(), chosen)
    parts: dict[str, list[Draws]] = {metric.key: [] for metric in metrics}
    rng = np.random.default_rng(seed)
    for size in _chunks(replicates, sampler.size):
        seen = _view(view, sampler.draw(size, rng), chosen)
        null = _view(view, sampler.deal(size, rng), chosen) if chance else None
        for metric in metrics:
            parts[metric.key].append(_draw_one(metric, view, centre, seen, null, values))
    return {key: _join(found) for key, found in parts.items()}


def _affordable(replicates: int, rates: int) -> int:
    """Fewer replicates where thousands of rates (classes x groups) are worked out in each."""
    return max(min(replicates, FEWEST), min(replicates, MOST_RATES // max(rates, 1)))


def _view(view: View, look: Look, chosen: Array) -> View:
    """The same view of other margins."""
    margins, everyone = look
    return view.of(margins.groups(chosen), everyone)


def _chunks(replicates: int, cells: int) -> Iterator[int]:
    size = max(1, min(replicates, CHUNK_CELLS // max(cells, 1)))
    for first in range(0, replicates, size):
        yield min(size, replicates - first)


def _draw_one(metric: Metric, view: View, centre: View, drawn: View, null: View | None, keep: bool) -> Draws:
    statistic = metric.statistic
    found = (
        None
        if statistic is None or view.convention != "strict"
        else statistic.deviations(centre, drawn, view)
    )
    values = metric(drawn) if keep or found is None else np.zeros(0)
    chance = np.zeros(0) if null is None else metric(null)
    if found is None:
        with np.errstate(invalid="ignore"):  # an unsmoothed epsilon may be infinite in both
            error = np.abs(values - metric(centre))
        return Draws(error, error, False, values, chance)
    return Draws(metric.reduce(found[0], view), metric.reduce(found[1], view), True, values, chance)


def _join(parts: list[Draws]) -> Draws:
    down, up, values, chance = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("down", "up", "values", "chance")
    )
    return Draws(down, up, parts[0].ranged, values, chance)


def interval(value: float, draws: Draws, metric: Metric, confidence: float) -> tuple[float, float]:
    """Interval around a value: NaN if the value, or more than half of the replicates, is undefined."""
    level = (1 + confidence) / 2 if draws.ranged else confidence
    down, up = (_quantile(side, level) for side in (draws.down, draws.up))
    if not np.isfinite(value) or np.isnan(down) or np.isnan(up):
        return NAN, NAN
    low, high = value - max(down, 0.0), value + max(up, 0.0)
    return max(low, min(metric.low, value)), min(high, max(metric.high, value))


def chance_level(value: float, draws: Draws, metric: Metric, confidence: float) -> tuple[float, float]:
    """The value that shuffled groups reach in 1 - confidence of the cases, and how often they reach ours.

    Where nearer to the ideal is better there are two such values, so only the second is given.
    """
    known = draws.chance[~np.isnan(draws.chance)]
    if len(known) < max(20, len(draws.chance) // 2) or np.isnan(value):
        return NAN, NAN
    if metric.better == "nearer":
        return NAN, _share(_distance(known, metric) >= _distance(np.array(value), metric))
    worse = known <= value if metric.better == "higher" else known >= value
    level = 1 - confidence if metric.better == "higher" else confidence
    return _quantile(known, level), _share(worse)


def _distance(values: FloatArray, metric: Metric) -> FloatArray:
    """Distance from the ideal; of a ratio, that of its logarithm, so that 1/2 is as far from 1 as 2 is."""
    if metric.ideal == 1 and np.isinf(metric.high):
        return np.abs(np.log(np.maximum(values, TINY)))
    return np.abs(values - metric.ideal)


def _share(hits: Array) -> float:
    return float((hits.sum() + 1) / (hits.size + 1))


def _quantile(values: FloatArray, level: float) -> float:
    """Quantile of the defined values (infinite ones included); NaN if fewer than half are defined."""
    known = values[~np.isnan(values)]
    if len(known) <= len(values) // 2:
        return NAN
    return float(np.quantile(known, level, method="linear" if np.isfinite(known).all() else "higher"))


def wilson(rate: FloatArray, n: FloatArray, confidence: float) -> tuple[FloatArray, FloatArray]:
    """Wilson's score interval of a rate over `n` cases (E. B. Wilson, JASA 1927); NaN without cases.

    >>> low, high = wilson(np.array([1.0]), np.array([3.0]), 0.95)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.439], [1.0])
    """
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    n = np.where(n > 0, n, np.nan)
    middle = divide(rate + z * z / (2 * n), 1 + z * z / n)
    half = divide(z * np.sqrt(np.maximum(rate * (1 - rate) / n + z * z / (4 * n * n), 0)), 1 + z * z / n)
    return np.clip(middle - half, 0.0, 1.0), np.clip(middle + half, 0.0, 1.0)

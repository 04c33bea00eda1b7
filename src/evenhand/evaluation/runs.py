"""Several runs of one model: how much of a metric is the run, and how much the sample of rows.

Identical training runs differ in every metric (S0). A metric of one run is therefore one draw; here each is
reported as mean, deviation, range and MaxDiff over the runs, with an interval for a single run that covers
both sources.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.evaluation.measure import Frame, measure
from evenhand.evaluation.values import MetricValue, RunSummary
from evenhand.metrics.interval import Draws, draw_metrics, interval
from evenhand.metrics.metric import Metric
from evenhand.metrics.undefined import mean_defined
from evenhand.statistics.variance import variance_share

LEAST_REPLICATES = 200


def measure_runs(frame: Frame, metrics: Sequence[Metric]) -> dict[str, MetricValue]:
    """All metrics over the runs of `frame.counts [R, G, C, C]`; all runs together tell who decided them."""
    runs = frame.counts.cells.shape[0]
    together = replace(
        frame.counts[0], cells=frame.counts.cells.sum(axis=0), row_cells=None, square_cells=None
    )
    pooled = measure(replace(frame, counts=together, options=replace(frame.options, replicates=0)), metrics)
    singles = [replace(frame, counts=frame.counts[run]) for run in range(runs)]
    draws = [_draws(single, metrics, runs, place) for place, single in enumerate(singles)]
    return {
        metric.key: _summary(metric, pooled[metric.key], frame, [d.get(metric.key) for d in draws])
        for metric in metrics
    }


def _draws(frame: Frame, metrics: Sequence[Metric], runs: int, place: int) -> dict[str, Draws]:
    options = frame.options
    usable = [m for m in metrics if not m.needs_privileged or frame.privileged(frame.chosen) >= 0]
    if not options.replicates or not len(frame.chosen):
        return {}
    return draw_metrics(
        frame.counts,
        usable,
        frame.view(),
        frame.chosen,
        seed=options.seed + place,
        chance=False,
        replicates=max(LEAST_REPLICATES, options.replicates // runs),
        how=options.resampling,
    )


def _summary(metric: Metric, pooled: MetricValue, frame: Frame, draws: list[Draws | None]) -> MetricValue:
    if pooled.undefined and not len(frame.chosen):
        return pooled
    per_run = metric.per_class(frame.view())
    values = metric.reduce(per_run, frame.view())
    known = values[~np.isnan(values)]
    if not len(known):
        return replace(pooled, value=float("nan"), bounds=None)
    mean, per_class = float(known.mean()), mean_defined(per_run, axis=0)
    low, high, sampling = _interval(metric, values, mean, draws, frame.options.confidence)
    spread = float(known.std())
    summary = RunSummary(
        len(known),
        mean,
        spread,
        float(known.min()),
        float(known.max()),
        float(known.max() - known.min()),
        float(variance_share(spread, sampling)),
        tuple(values.tolist()),
        *_widest(per_run, frame.classes),
    )
    return replace(
        pooled,
        value=mean,
        low=low,
        high=high,
        runs=summary,
        with_small=None,
        per_class=tuple(per_class.tolist()) if per_class.size > 1 else None,
    )


def _interval(
    metric: Metric, values: FloatArray, mean: float, draws: list[Draws | None], confidence: float
) -> tuple[float, float, float]:
    """Interval of a single run around the mean, and the deviation that the sample of rows alone causes."""
    pairs = [(draw, value - mean) for draw, value in zip(draws, values, strict=True) if draw is not None]
    if not pairs:
        return float("nan"), float("nan"), float("nan")
    both = Draws(
        np.concatenate([np.maximum(draw.down, 0) - shift for draw, shift in pairs]),
        np.concatenate([np.maximum(draw.up, 0) + shift for draw, shift in pairs]),
        pairs[0][0].ranged,
    )
    low, high = interval(mean, both, metric, confidence)
    sampling = np.sqrt(np.nanmean([np.nanvar(draw.values) for draw, _ in pairs if draw.values.size]))
    return low, high, float(sampling)


def _widest(per_run: FloatArray, classes: tuple[str, ...]) -> tuple[tuple[float, ...] | None, str | None]:
    """MaxDiff of each class over the runs, and the class where it is largest."""
    if per_run.shape[-1] == 1:
        return None, None
    width = np.fmax.reduce(per_run, axis=0) - np.fmin.reduce(per_run, axis=0)
    widest = classes[int(np.nanargmax(width))] if not np.isnan(width).all() else None
    return tuple(width.tolist()), widest

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
from evenhand.evaluation.values import NAN, MetricValue, RunSummary
from evenhand.metrics.counts import Counts
from evenhand.metrics.interval import Draws, draw_metrics, interval
from evenhand.metrics.metric import Metric
from evenhand.metrics.undefined import mean_defined
from evenhand.statistics.variance import variance_share

LEAST_REPLICATES = 200


def measure_runs(frame: Frame, metrics: Sequence[Metric]) -> dict[str, MetricValue]:
    """All metrics over the runs of `frame.counts [R, G, C, C]`; all runs together tell who decided them."""
    runs = frame.counts.cells.shape[0]
    plain = replace(frame, options=replace(frame.options, replicates=0))
    pooled = measure(
        replace(
            plain,
            counts=Counts(
                *(kind.sum(axis=0) for kind in frame.counts._kinds), multilabel=frame.counts.multilabel
            ),
        ),
        metrics,
    )
    singles = [measure(replace(plain, counts=frame.counts[run]), metrics) for run in range(runs)]
    draws = [_draws(replace(frame, counts=frame.counts[run]), metrics, runs, run) for run in range(runs)]
    found = {}
    for metric in metrics:
        key, parts = metric.key, [single[metric.key] for single in singles]
        found[key] = _summary(metric, pooled[key], parts, frame, [draw.get(key) for draw in draws])
    return found


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


def _summary(
    metric: Metric, pooled: MetricValue, parts: list[MetricValue], frame: Frame, draws: list[Draws | None]
) -> MetricValue:
    values = np.array([part.value for part in parts])
    known = values[~np.isnan(values)]
    if not len(known):
        return replace(pooled, value=NAN, bounds=None, with_small=None)
    mean = float(known.mean())
    per_run = np.array([part.per_class or (part.value,) for part in parts])
    per_class = mean_defined(per_run, axis=0)
    low, high, sampling = _interval(metric, values, mean, draws, frame.options.confidence)
    std = float(known.std()) if np.isfinite(known).all() else NAN
    width = float(known.max() - known.min()) if np.isfinite(known.min()) else NAN
    summary = RunSummary(
        len(known), mean, std, float(known.min()), float(known.max()), width,
        float(variance_share(std, sampling)), tuple(values.tolist()), *_widest(per_run, frame.classes),
    )  # fmt: skip
    return replace(
        pooled,
        value=mean,
        low=low,
        high=high,
        runs=summary,
        bounds=_mean_bounds(parts),
        with_small=_mean_small(parts),
        per_class=tuple(per_class.tolist()) if per_class.size > 1 else None,
    )


def _mean_bounds(parts: list[MetricValue]) -> tuple[float, float] | None:
    """The mean over the runs lies between the means of their bounds."""
    known = [part.bounds for part in parts if part.bounds is not None and not np.isnan(part.value)]
    if not known:
        return None
    return float(np.mean([low for low, _ in known])), float(np.mean([high for _, high in known]))


def _mean_small(parts: list[MetricValue]) -> float | None:
    known = [
        part.with_small for part in parts if part.with_small is not None and not np.isnan(part.with_small)
    ]
    return float(np.mean(known)) if known else None


def _interval(
    metric: Metric, values: FloatArray, mean: float, draws: list[Draws | None], confidence: float
) -> tuple[float, float, float]:
    """Interval of a single run around the mean, and the deviation that the sample of rows alone causes."""
    pairs = [
        (draw, value - mean) for draw, value in zip(draws, values, strict=True)
        if draw is not None and np.isfinite(value) and np.isfinite(mean)
    ]  # fmt: skip
    if not pairs:
        return NAN, NAN, NAN
    both = Draws(
        np.concatenate([np.maximum(draw.down, 0) - shift for draw, shift in pairs]),
        np.concatenate([np.maximum(draw.up, 0) + shift for draw, shift in pairs]),
        pairs[0][0].ranged,
    )
    low, high = interval(mean, both, metric, confidence)
    drawn = [draw.values[np.isfinite(draw.values)] for draw, _ in pairs]
    variances = [sample.var() for sample in drawn if len(sample)]
    return low, high, float(np.sqrt(np.mean(variances))) if variances else NAN


def _widest(per_run: FloatArray, classes: tuple[str, ...]) -> tuple[tuple[float, ...] | None, str | None]:
    """MaxDiff of each class over the runs, and the class where it is largest."""
    if per_run.shape[-1] == 1:
        return None, None
    with np.errstate(invalid="ignore"):  # infinite in every run
        width = np.fmax.reduce(per_run, axis=0) - np.fmin.reduce(per_run, axis=0)
    widest = classes[int(np.nanargmax(width))] if not np.isnan(width).all() else None
    return tuple(width.tolist()), widest

"""Is the alternative really different? Every metric of two models, their difference, and how sure it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.evaluation.joint import Joint
from evenhand.evaluation.options import Options
from evenhand.evaluation.paired_errors import (
    Errors,
    change_errors,
    looked_at,
    pair_errors,
    views_of,
)
from evenhand.evaluation.run_errors import RunError
from evenhand.evaluation.values import NAN
from evenhand.metrics.margins import Margins
from evenhand.metrics.metric import Metric
from evenhand.statistics.tests import cohens_d, effect_band, mann_whitney
from evenhand.statistics.variance import spread


@dataclass(frozen=True)
class RunDifference:
    """A metric over the runs of both models: S0's U-test and effect size, and whether the ranges part."""

    base: dict[str, float]
    alternative: dict[str, float]
    p: float
    effect: float
    band: str
    exceeds: bool


@dataclass(frozen=True)
class Difference:
    """A metric of the base and of an alternative, and the difference with its paired interval."""

    base: float
    value: float
    difference: float
    low: float = NAN
    high: float = NAN
    p: float = NAN
    runs: RunDifference | None = None


class Measured(float):
    """A number that knows its interval, and what was left out of it."""

    low: float
    high: float
    skipped: int
    reason: str | None

    def __new__(
        cls, value: float, low: float = NAN, high: float = NAN, skipped: int = 0, reason: str | None = None
    ) -> Measured:
        made = super().__new__(cls, value)
        made.low, made.high, made.skipped, made.reason = low, high, skipped, reason
        return made

    @property
    def value(self) -> float:
        """The plain number."""
        return float(self)


def within(found: Difference, metric: Metric, least: float = 0.0) -> Difference:
    """The same with an interval that ends where no two values of the metric are further apart.

    p is at least the `least`: draws of a few rows that all changed alike do not vary, which shows nothing.
    """
    most = metric.high - metric.low
    low, high = np.clip([found.low, found.high], -most, most).tolist()
    return replace(found, low=low, high=high, p=float(np.maximum(found.p, least)))


def changed_rows(base: Array, other: Array) -> int:
    """In how many rows the runs `[R, N]` or `[N]` of two models ever predict different classes.

    >>> changed_rows(np.array([0, 1, 1, 0]), np.array([[0, 0, 0, 0], [0, 0, 1, 0]]))
    2
    """
    runs = np.concatenate([np.atleast_2d(base), np.atleast_2d(other)])
    return int((runs != runs[0]).any(axis=0).sum())


def least_p(changed: int) -> float:
    """The least p that an exact test can give which swaps two models row by row, of so many that changed.

    >>> least_p(1), least_p(5)
    (1.0, 0.0625)
    """
    return min(1.0, 2.0 ** (1 - changed))


@dataclass(frozen=True)
class Paired:
    """What a bootstrap of the joint cells yields: metric differences, and errors of the pair measures."""

    differences: dict[str, Difference]
    pair_errors: dict[str, FloatArray]


def paired(joint: Joint, metrics: Sequence[Metric], chosen: Array, options: Options) -> Paired:
    """Differences of all metrics (model 1 minus model 0), and the resampling errors of CEV and SDE."""
    views = views_of(joint, None, chosen, options)
    values = [{metric.key: float(metric(view)) for metric in metrics} for view in views]
    errors = change_errors(joint, metrics, chosen, options)
    found = {
        metric.key: _difference(
            values[0][metric.key], values[1][metric.key], errors.get(metric.key), options.confidence
        )
        for metric in metrics
    }
    return Paired(found, pair_errors(joint, options))


def _difference(base: float, value: float, errors: Errors | None, confidence: float) -> Difference:
    moved = value - base if np.isfinite(value) and np.isfinite(base) else NAN
    if errors is None or np.isnan(moved):
        return Difference(base, value, moved)
    down, up, sided = errors
    known = np.isfinite(down) & np.isfinite(up)
    if known.sum() <= len(known) // 2:
        return Difference(base, value, moved)
    down, up = down[known], up[known]
    level = (1 + confidence) / 2 if sided else confidence
    beyond = ((down if moved > 0 else up) >= abs(moved) - 1e-12).sum()
    p = min(1.0, float((beyond * (2 if sided else 1) + 1) / (len(down) + 1)))
    low, high = moved - float(np.quantile(down, level)), moved + float(np.quantile(up, level))
    return Difference(base, value, moved, low, high, p)


def measured(
    value: float, errors: FloatArray | None, confidence: float, skipped: int, reason: str | None
) -> Measured:
    """A pair measure with its interval (never below 0: both are distances)."""
    if errors is None or np.isnan(value):
        return Measured(value, skipped=skipped, reason=reason)
    known = np.abs(errors[~np.isnan(errors)])
    if len(known) <= len(errors) // 2:
        return Measured(value, skipped=skipped, reason=reason)
    reach = float(np.quantile(known, confidence))
    return Measured(value, max(value - reach, 0.0), value + reach, skipped, reason)


def over_runs(
    found: dict[str, Difference],
    metrics: Sequence[Metric],
    base: Margins,
    other: Margins,
    chosen: Array,
    options: Options,
) -> dict[str, Difference]:
    """Add what several runs `[R, K, G]` of each model say: does the difference exceed run-to-run variance?"""
    views = [looked_at(part, chosen, options) for part in (base, other)]
    return {
        metric.key: _with_runs(found[metric.key], metric(views[0]), metric(views[1]), options.confidence)
        for metric in metrics
    }


def _with_runs(found: Difference, base: FloatArray, other: FloatArray, confidence: float) -> Difference:
    """The same with the error of the runs; how the runs of both models differ, if both have several."""
    a, b = (values[np.isfinite(values)] for values in (base, other))
    if min(len(a), len(b)) < 1 or max(len(a), len(b)) < 2:
        return found
    moved, error = float(b.mean() - a.mean()), RunError.of([a, b])
    sides = (found.difference - found.low, found.high - found.difference)
    reaches = [float(np.nan_to_num(side)) for side in sides]
    down, up = (error.reach(reach, confidence) for reach in reaches)
    return replace(
        found,
        base=float(a.mean()),
        value=float(b.mean()),
        difference=moved,
        low=moved - down,
        high=moved + up,
        p=error.p(moved, reaches[0] if moved > 0 else reaches[1], confidence),
        runs=_difference_of_runs(a, b) if min(len(a), len(b)) > 1 else None,
    )


def _difference_of_runs(a: FloatArray, b: FloatArray) -> RunDifference:
    test, effect = mann_whitney(a, b), float(cohens_d(a, b))
    return RunDifference(
        spread(a).to_dict(),
        spread(b).to_dict(),
        test.p,
        effect,
        effect_band(effect) if np.isfinite(effect) else "none",
        bool(a.max() < b.min() or b.max() < a.min()),
    )


def mean_of_pairs(parts: Sequence[Paired], confidence: float) -> Paired:
    """One bootstrap for several pairs of runs: their rows are the same, so their errors are alike.

    That does not hold of CEV and SDE, whose errors in single pairs are no errors of those of all runs: none.
    """
    if len(parts) == 1:
        return parts[0]
    found = {
        key: _mean_difference([part.differences[key] for part in parts], confidence)
        for key in parts[0].differences
    }
    return Paired(found, {})


def _mean_difference(pairs: Sequence[Difference], confidence: float) -> Difference:
    """The mean over the pairs in which both runs have a value."""
    known = [pair for pair in pairs if np.isfinite(pair.difference)]
    if not known:
        return pairs[0]
    base, value, moved = (
        float(np.mean([getattr(pair, key) for pair in known])) for key in ("base", "value", "difference")
    )
    sure = [pair for pair in known if not np.isnan(pair.high)]
    down, up = (
        float(np.mean(reaches)) if reaches else NAN
        for reaches in (
            [one.difference - one.low for one in sure],
            [one.high - one.difference for one in sure],
        )
    )
    reach = down if moved > 0 else up
    p = NAN if np.isnan(reach) else RunError().p(moved, reach, confidence)
    return Difference(base, value, moved, moved - down, moved + up, p)

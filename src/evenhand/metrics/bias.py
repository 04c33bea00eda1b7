"""The seven bias metrics of S0, per class, under three conventions.

`strict` (default): what has no value is NaN, skipped in the mean over classes and counted.
`paper`: the printed formulas; a class that no group is ever predicted as has DI-bar 0, an undefined BA is 0.
`artifact`: as the released code computes them, with its slips, for comparing with the published raw numbers
(two groups only): DI-bar of 0/0 is 1, a gap whose second group has rate 0 is forced to 0, FPSF is weighted by
negatives, and every BA after an undefined one moves one class down.

Citation: S. Qian et al., "Are My Deep Learning Systems Fair? An Empirical Study of Fixed-Seed Training",
NeurIPS 2021.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.metrics.compare import Compared, Interval, Pair, Statistic
from evenhand.metrics.undefined import count_defined, divide, sum_defined
from evenhand.metrics.view import Extremes, View


@dataclass(frozen=True)
class Convened(Statistic):
    """A metric whose value depends on the convention; who decided it and its bounds are the plain one's."""

    function: Callable[[View], FloatArray]
    plain: Statistic

    def value(self, view: View) -> FloatArray:
        return self.function(view)

    def bounds(self, extremes: Extremes) -> Interval | None:
        return self.plain.bounds(extremes)

    def deviations(self, centre: View, replicates: View, select: View) -> Interval | None:
        return self.plain.deviations(centre, replicates, select)

    def change(self, views: Pair, centre: Pair, drawn: Pair) -> Interval | None:
        return self.plain.change(views, centre, drawn)

    def deciders(self, view: View) -> Array | None:
        return self.plain.deciders(view)

    def rates(self) -> tuple[str, ...]:
        return self.plain.rates()


def positive_rate_gap(view: View) -> FloatArray:
    """DP: the gap of the rate at which a group is predicted as the class."""
    _two_groups_only(view)
    return Compared("selection", "gap").value(view)


def disparate_impact(view: View) -> FloatArray:
    """DI-bar: 1 - (smallest / largest rate at which a group is predicted as the class)."""
    _two_groups_only(view)
    value = 1.0 - Compared("selection", "ratio").value(view)
    if view.convention == "strict":
        return value
    never = (view.margins.predicted.sum(axis=-1) == 0) & (count_defined(view.rate("selection")) >= 2)
    return np.where(never, 1.0 if view.convention == "artifact" else 0.0, value)


def from_pooled(rate: str) -> Callable[[View], FloatArray]:
    """Signed distance of each group's rate from the pooled one, `[..., K, G]`."""
    return lambda view: view.rate(rate) - view.pooled_rate(rate)


def weighted_by_rows(distances: FloatArray, view: View) -> FloatArray:
    """SPSF: sum over groups of Pr[g] |PPR - PPR_g|; the weights of the groups that have a rate sum to 1."""
    weights = np.where(np.isnan(distances), np.nan, view.shares)
    value = divide(sum_defined(weights * np.abs(distances)), sum_defined(weights))
    return np.where(count_defined(distances) >= 2, value, np.nan)


def weighted_for_false_positives(distances: FloatArray, view: View) -> FloatArray:
    """FPSF: sum over groups of Pr[g] |FPR - FPR_g|; `artifact` weights by the group's share of negatives."""
    if view.convention != "artifact":
        return weighted_by_rows(distances, view)
    n = view.margins.n.sum(axis=-1, keepdims=True)
    return np.asarray((divide(view.margins.negatives, n) * np.abs(distances)).sum(axis=-1))


def true_positive_gap(view: View) -> FloatArray:
    """EOTP: the gap of true positive rates."""
    return _odds_gap(view, "tpr")


def false_positive_gap(view: View) -> FloatArray:
    """EOFP: the gap of false positive rates."""
    return _odds_gap(view, "fpr")


def _odds_gap(view: View, rate: str) -> FloatArray:
    if view.convention != "artifact":
        return Compared(rate, "gap").value(view)
    _two_groups_only(view)
    rates = np.nan_to_num(view.rate(rate), nan=0.0)  # released code: a rate without cases is 0 ...
    plain = np.abs(rates[..., 0] - rates[..., 1])
    return np.where(rates[..., 1] == 0, 0.0, plain)  # ... and a ratio's guard was left in a difference


def share_change(view: View) -> FloatArray:
    """Share of each group among those predicted as the class, less its share among those of the class."""
    m = view.margins
    return divide(m.predicted, m.predicted.sum(axis=-1, keepdims=True)) - divide(
        m.actual, m.actual.sum(axis=-1, keepdims=True)
    )


def amplification(changes: FloatArray, view: View) -> FloatArray:
    """BA: |share of g* among those predicted as the class - its share among those of the class|.

    g* is the group with the largest share of the class's true members (the first one on ties).
    """
    largest = np.broadcast_to(amplified_group(view), (*changes.shape[:-1], 1))
    change = np.take_along_axis(changes, largest, -1)[..., 0]
    value = np.where(view.several, np.abs(change), np.nan)  # with one group all shares are 1
    if view.convention == "strict":
        return value
    return _shifted(value) if view.convention == "artifact" else np.nan_to_num(value, nan=0.0)


def _shifted(value: FloatArray) -> FloatArray:
    """The released code forgets to advance its index at an undefined class: later classes move down."""
    flat = value.reshape(-1, value.shape[-1])
    out = np.zeros_like(flat)
    for row, source in zip(out, flat, strict=True):
        known = source[~np.isnan(source)]
        row[: len(known)] = known
    return out.reshape(value.shape)


def amplified_group(view: View) -> Array:
    """Index of g*, `[..., K, 1]`."""
    return np.asarray(view.margins.actual.argmax(axis=-1)[..., None])


def _two_groups_only(view: View) -> None:
    if view.convention == "artifact" and view.margins.n_groups != 2:
        raise ValueError(
            f"the 'artifact' convention is defined for two groups, not {view.margins.n_groups}; "
            "use 'strict' or 'paper'"
        )

"""The rules by which the setting of a method is chosen, each a small function by name.

A rule sees one method on one problem: the settings' means on the selection part, already turned so that
less is better (`metric` and `accuracy` are distances to the ideal), NaN where a setting may not be chosen. It
gives the places of the chosen settings, the one that is reported first; none where no setting can be chosen.
Of equal settings the first in the study's order wins.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.metrics.metric import Metric

Rule = Callable[["Means"], list[int]]


@dataclass(frozen=True)
class Means:
    """The settings of a method: mean costs `[S]` of the deciding metric and of accuracy; the tolerance."""

    metric: FloatArray
    accuracy: FloatArray
    tolerance: float = 0.0


def cost(values: FloatArray, metric: Metric) -> FloatArray:
    """Values folded to the ideal, so that less is better and 0 is perfect, by the catalogue's word.

    Means that are equal but for rounding become equal: neither beats the other.

    >>> from evenhand.metrics.catalogue import CATALOGUE
    >>> cost(np.array([0.9, 0.5]), CATALOGUE["acc"]).round(6).tolist()
    [0.1, 0.5]
    """
    if metric.better == "nearer":
        folded = np.abs(values - metric.ideal)
    else:
        folded = values - metric.ideal if metric.better == "lower" else metric.ideal - values
    return np.asarray(np.round(folded, 12), dtype=np.float64)


def best_mean(means: Means) -> list[int]:
    """The setting with the best mean of the metric over seeds.

    >>> best_mean(Means(np.array([0.3, 0.1, np.nan]), np.zeros(3)))
    [1]
    """
    return _smallest(means.metric)


def best_per_metric(means: Means) -> list[int]:
    """For each reported metric its own best setting, so that the numbers of one row belong to several models.

    The rule is applied once for each metric. (Reddy et al. 2021, Benchmarking Bias Mitigation Algorithms in
    Representation Learning through Fairness Metrics, NeurIPS Datasets and Benchmarks: S3.)
    """
    return _smallest(means.metric)


def accuracy_constraint(means: Means) -> list[int]:
    """The best metric among the settings whose mean accuracy is within the tolerance of the best one's.

    >>> accuracy_constraint(Means(np.array([0.3, 0.2, 0.0]), np.array([0.10, 0.105, 0.2]), tolerance=0.01))
    [1]
    """
    if np.isnan(means.accuracy).all():
        return []
    # a little room for rounding: 0.89 is within 0.01 of 0.90
    near = means.accuracy <= np.nanmin(means.accuracy) + means.tolerance + 1e-12
    return _smallest(np.where(near, means.metric, np.nan))


def distance_to_optimum(means: Means) -> list[int]:
    """The smallest Euclidean distance of (accuracy, metric) to the point where both are ideal.

    (DTO: Han et al. 2022, fairlib, EMNLP demonstrations; used for selection by Zong et al. 2023, MEDFAIR,
    ICLR.) The optimum is the catalogue's ideal of both and not the best that was seen, so that a choice does
    not depend on which other settings were tried.

    >>> distance_to_optimum(Means(np.array([0.4, 0.1, 0.0]), np.array([0.1, 0.2, 0.5])))
    [1]
    """
    return _smallest(np.hypot(means.accuracy, means.metric))


def pareto(means: Means) -> list[int]:
    """All settings that no other beats in accuracy and metric; reported is the one nearest to the optimum.

    >>> pareto(Means(np.array([0.4, 0.1, 0.2]), np.array([0.1, 0.2, 0.3])))
    [1, 0]
    """
    kept = np.where(undominated(means.accuracy, means.metric), means.metric, np.nan)
    first = distance_to_optimum(Means(kept, means.accuracy))
    return first + [place for place in np.flatnonzero(~np.isnan(kept)).tolist() if place not in first]


def undominated(x: FloatArray, y: FloatArray) -> Array:
    """Which points no other one beats: none is as good in both costs and better in one; NaN never is one.

    >>> undominated(np.array([0.1, 0.2, 0.3]), np.array([0.4, 0.1, 0.2])).tolist()
    [True, True, False]
    """
    known = ~(np.isnan(x) | np.isnan(y))
    with np.errstate(invalid="ignore"):
        as_good = (x[None] <= x[:, None]) & (y[None] <= y[:, None])
        better = (x[None] < x[:, None]) | (y[None] < y[:, None])
    return np.asarray(known & ~(as_good & better).any(axis=1))


def _smallest(values: FloatArray) -> list[int]:
    return [] if np.isnan(values).all() else [int(np.nanargmin(values))]


RULES: dict[str, Rule] = {
    "best-mean": best_mean,
    "best-per-metric": best_per_metric,
    "accuracy-constraint": accuracy_constraint,
    "distance-to-optimum": distance_to_optimum,
    "pareto": pareto,
}

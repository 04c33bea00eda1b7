"""Exact statistics of scores against a binary label: ranking quality, calibration, top-k accuracy.

A *ranking* is the pair `(pos, neg)`: the total weight of positives and of negatives at each distinct score,
from the highest score to the lowest. `auc` and `average_precision` read nothing else, so a list of rows and
a binned histogram (`evenhand.metrics.scores`) go through the same two functions.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np

from evenhand.arrays import Array, FloatArray, as_array, as_codes
from evenhand.metrics.score_rows import bin_index, check_weights, labelled_rows, probabilities, refuse
from evenhand.metrics.undefined import divide


def ranking(y: object, score: object, weights: object | None = None) -> tuple[FloatArray, FloatArray]:
    """Weight of positives and of negatives at each distinct score, highest score first.

    The score may be any real number (a logit will do); equal scores share one entry.

    >>> pos, neg = ranking([1, 0, 1, 0], [0.9, 0.9, 0.4, 0.1])
    >>> pos.tolist(), neg.tolist()
    ([1.0, 1.0, 0.0], [1.0, 0.0, 1.0])
    """
    label, value, weight = labelled_rows(y, score, weights)
    refuse(np.isnan(value), value, "is not a number")
    distinct, index = np.unique(value, return_inverse=True)
    sides = (np.where(label == side, weight, 0.0) for side in (1, 0))
    pos, neg = (np.bincount(index, side, minlength=len(distinct))[::-1] for side in sides)
    return np.asarray(pos, dtype=np.float64), np.asarray(neg, dtype=np.float64)


def auc(pos: Array, neg: Array) -> FloatArray:
    """Area under the ROC curve: the chance that a positive outranks a negative, a tie counting one half.

    AUC = sum_u pos_u (N_below_u + neg_u / 2) / (P N); NaN without positives or without negatives
    (Hanley & McNeil 1982). Rankings `[..., U]` give `[...]`.

    >>> auc(*ranking([1, 0, 1, 0], [0.9, 0.9, 0.4, 0.1])).item()
    0.625
    """
    positives, negatives = pos.sum(axis=-1), neg.sum(axis=-1)
    outranked = negatives[..., None] - np.cumsum(neg, axis=-1) + neg / 2
    pairs = positives * np.asarray(negatives, dtype=np.float64)  # whole numbers would overflow near 2^63
    return divide((pos * outranked).sum(axis=-1), pairs)


def average_precision(pos: Array, neg: Array) -> FloatArray:
    """Average precision: the step-wise sum of precision over the gains in recall, ties one threshold.

    AP = sum_u (pos_u / P) precision_u, not interpolated (Manning et al. 2008, ch. 8; the convention of
    scikit-learn); NaN without positives. Rankings `[..., U]` give `[...]`.

    >>> average_precision(*ranking([1, 0, 1, 0], [0.8, 0.6, 0.4, 0.2])).round(6).item()
    0.833333
    """
    hit = np.cumsum(pos, axis=-1)
    precision = divide(hit, hit + np.cumsum(neg, axis=-1))
    gained = np.where(pos == 0, 0.0, pos * precision)  # above the first case the precision is undefined
    return divide(gained.sum(axis=-1), pos.sum(axis=-1))


def mean_score(y: object, score: object, weights: object | None = None) -> float:
    """Mean of the scores, whatever the labels; NaN without rows.

    >>> mean_score([1, 0], [0.5, 0.25])
    0.375
    """
    _, value, weight = probabilities(y, score, weights)
    return divide((weight * value).sum(), weight.sum()).item()


def brier(y: object, score: object, weights: object | None = None) -> float:
    """Mean squared distance of score and label: mean (s - y)^2 (Brier 1950); NaN without rows.

    >>> round(brier([1, 0], [0.8, 0.4]), 6)
    0.1
    """
    label, value, weight = probabilities(y, score, weights)
    return divide((weight * (value - label) ** 2).sum(), weight.sum()).item()


def log_loss(y: object, score: object, weights: object | None = None, eps: float = 2.0**-52) -> float:
    """Mean of -log of the probability given to what happened; scores are clipped to [eps, 1 - eps].

    >>> round(log_loss([1, 0], [0.5, 0.5]), 6)
    0.693147
    """
    label, value, weight = probabilities(y, score, weights)
    given = np.clip(np.where(label == 1, value, 1 - value), eps, 1 - eps)
    return divide(-(weight * np.log(given)).sum(), weight.sum()).item()


def expected_calibration_error(
    y: object, score: object, weights: object | None = None, bins: int = 15
) -> float:
    """Weighted mean over equal-width score bins of |mean score - share of positives| (Naeini et al. 2015).

    Bins are `[l, u)` and the last one is closed; they are those of `bin_index`. NaN without rows.

    >>> round(expected_calibration_error([1, 0, 1, 1], [0.9, 0.1, 0.9, 0.1], bins=10), 6)
    0.25
    """
    label, value, weight = probabilities(y, score, weights)
    surplus = np.bincount(bin_index(value, bins), weight * (value - label), minlength=bins)
    return divide(np.abs(surplus).sum(), weight.sum()).item()


def top_k_accuracy(y: object, scores: object, k: int = 5, weights: object | None = None) -> float:
    """Share of rows whose true class is among the k highest of `scores[N, C]`; NaN without rows.

    Equal scores are ordered by class id, lowest first, so top-1 is the accuracy of `argmax`.

    >>> top_k_accuracy([2, 0], [[0.5, 0.3, 0.2], [0.5, 0.3, 0.2]], k=2)
    0.5
    """
    table = np.asarray(as_array(scores), dtype=np.float64)
    label = as_codes(y, "labels")
    if table.ndim != 2 or label.shape != table.shape[:1]:
        raise ValueError(f"scores must be [rows, classes] for {label.shape} labels, not {table.shape}")
    classes = table.shape[1]
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    refuse(np.isnan(table), table, "is not a number")
    refuse((label < 0) | (label >= classes), label, f"is no class of 0..{classes - 1}", "label")
    own = np.take_along_axis(table, label[:, None], axis=1)
    ahead = (table > own) | ((table == own) & (np.arange(classes) < label[:, None]))
    weight = check_weights(weights, len(label))
    return divide((weight * (ahead.sum(axis=1) < k)).sum(), weight.sum()).item()


class RowMetric(Protocol):
    """A number of rows: `metric(y, score, weights)`."""

    def __call__(self, y: Array, score: Array, weights: Array, /) -> float: ...


def exact_auc(y: object, score: object, weights: object | None = None) -> float:
    """`auc` of rows: the exact area, whatever the number of distinct scores.

    >>> exact_auc([1, 0, 1, 0], [0.9, 0.9, 0.4, 0.1])
    0.625
    """
    return auc(*ranking(y, score, weights)).item()


def exact_average_precision(y: object, score: object, weights: object | None = None) -> float:
    """`average_precision` of rows.

    >>> exact_average_precision([1, 0], [0.4, 0.2])
    1.0
    """
    return average_precision(*ranking(y, score, weights)).item()


class ByGroup(NamedTuple):
    """A value for each group `[G]`, and the one of all rows (those of unknown group included)."""

    groups: FloatArray
    overall: float


def by_group(
    metric: RowMetric,
    y: object,
    score: object,
    groups: object,
    n_groups: int | None = None,
    weights: object | None = None,
) -> ByGroup:
    """`metric` inside each coded group and over all rows; a row of unknown group (-1) counts in the latter.

    >>> by_group(brier, [1, 0, 1], [0.9, 0.5, 0.5], [0, 1, -1], n_groups=3).groups.round(2).tolist()
    [0.01, 0.25, nan]
    """
    label, value, code = as_array(y), as_array(score), as_codes(groups, "groups")
    weight = check_weights(weights, len(label))
    if not len(label) == len(value) == len(code):
        raise ValueError(f"{len(label)} labels, {len(value)} scores and {len(code)} group codes")
    count = int(code.max(initial=-1)) + 1 if n_groups is None else n_groups
    outside = (code < -1) | (code >= count)
    refuse(outside, code, f"is neither -1 (unknown) nor one of 0..{count - 1}", "group")
    order = np.argsort(code, kind="stable")
    edges = np.searchsorted(code[order], np.arange(count + 1))
    parts = [order[start:stop] for start, stop in pairwise(edges)]
    values = [metric(label[part], value[part], weight[part]) if len(part) else np.nan for part in parts]
    return ByGroup(np.array(values, dtype=np.float64), metric(label, value, weight))

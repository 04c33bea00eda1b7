"""Rates of binned scores, one for each group, and the comparisons that the papers make of them.

Every function takes `Scores` with any leading axes (runs, bootstrap replicates) and returns `[..., G]`. Where
the scores hold several classes or labels, each against the rest, the value is the mean over those that are
defined; `per_class=True` keeps them apart, `[..., K, G]`. `scores.pooled` gives the value over all rows.

Brier score, mean score, DIMS and DIAMR are exact. ECE is exact when its bins are unions of whole ones. AUC
and AP treat the scores of one bin as tied: exact when each bin holds one distinct score.
"""

from __future__ import annotations

import numpy as np

from evenhand.arrays import Array, FloatArray, as_codes
from evenhand.metrics import ranked
from evenhand.metrics.score_rows import check_weights
from evenhand.metrics.scores import Scores
from evenhand.metrics.undefined import divide, max_defined, mean_defined, min_defined


def auc(scores: Scores, per_class: bool = False) -> FloatArray:
    """Area under the ROC curve of each group; NaN without positives or without negatives.

    >>> scores = Scores.from_scores([1, 0, 1, 0], [0.9, 0.8, 0.4, 0.1], [0, 0, 0, 1])
    >>> auc(scores).tolist()
    [0.5, nan]
    """
    return _macro(scores, ranked.auc(*_rankings(scores.cells[..., :-1, :, :])), per_class)


def average_precision(scores: Scores, per_class: bool = False) -> FloatArray:
    """Average precision of each group (step-wise sum); NaN without positives.

    >>> scores = Scores.from_scores([1, 0, 1, 0], [0.8, 0.6, 0.4, 0.2], [0, 0, 0, 0])
    >>> average_precision(scores).round(6).tolist()
    [0.833333]
    """
    return _macro(scores, ranked.average_precision(*_rankings(scores.cells[..., :-1, :, :])), per_class)


def brier(scores: Scores, per_class: bool = False) -> FloatArray:
    """Mean of (s - y)^2 = (sum s^2 - 2 sum of s over positives + positives) / n; exact (Brier 1950).

    >>> brier(Scores.from_scores([1, 0], [0.8, 0.4], [0, 0])).round(6).tolist()
    [0.1]
    """
    square = _known(scores.score_square_cells).sum(axis=(-2, -1))
    score = _known(scores.score_cells)[..., 1, :].sum(axis=-1)
    positives = _known(scores.cells)[..., 1, :].sum(axis=-1)
    return _macro(scores, divide(square - 2 * score + positives, scores.n), per_class)


def log_loss(scores: Scores, per_class: bool = False, eps: float = 2.0**-52) -> FloatArray:
    """Mean of -log of the probability given to what happened, every score read as the mean of its cell.

    An approximation from below (Jensen), off by about the spread inside a bin relative to the score: small
    unless many positives score in the first bin, or negatives in the last.

    >>> log_loss(Scores.from_scores([1, 0], [0.5, 0.5], [0, 0])).round(6).tolist()
    [0.693147]
    """
    weight = _known(scores.cells)
    mean = np.where(weight > 0, divide(_known(scores.score_cells), weight), 0.5)  # empty cells weigh nothing
    given = np.stack([1 - mean[..., 0, :], mean[..., 1, :]], axis=-2)
    loss = -(weight * np.log(np.clip(given, eps, 1 - eps))).sum(axis=(-2, -1))
    return _macro(scores, divide(loss, scores.n), per_class)


def ece(scores: Scores, per_class: bool = False, bins: int = 15) -> FloatArray:
    """Expected calibration error: sum over bins of |sum of scores - positives| / n (Naeini et al. 2015).

    `bins` must divide the number of bins of the histogram; the value is then exact.

    >>> scores = Scores.from_scores([1, 0, 1, 1], [0.9, 0.1, 0.9, 0.1], [0, 0, 0, 0])
    >>> ece(scores, bins=10).round(6).tolist()
    [0.25]
    """
    coarse = scores.coarsen(bins)
    surplus = _known(coarse.score_cells).sum(axis=-2) - _known(coarse.cells)[..., 1, :]
    return _macro(scores, divide(np.abs(surplus).sum(axis=-1), scores.n), per_class)


def mean_score(scores: Scores, per_class: bool = False) -> FloatArray:
    """Mean score of each group; exact.

    >>> mean_score(Scores.from_scores([1, 0], [0.5, 0.25], [0, 0])).tolist()
    [0.375]
    """
    return _macro(scores, divide(_known(scores.score_cells).sum(axis=(-2, -1)), scores.n), per_class)


def mean_residual(scores: Scores, per_class: bool = False) -> FloatArray:
    """Mean of score minus label in each group: above 0 where the scores are too high on average; exact.

    >>> mean_residual(Scores.from_scores([1, 0], [0.5, 0.25], [0, 0])).tolist()
    [-0.125]
    """
    positives = _known(scores.cells)[..., 1, :].sum(axis=-1)
    surplus = _known(scores.score_cells).sum(axis=(-2, -1)) - positives
    return _macro(scores, divide(surplus, scores.n), per_class)


def dims(scores: Scores, per_class: bool = False) -> FloatArray:
    """Difference in mean score: second group minus first; of more than two groups, largest minus smallest.

    S2, Table 3 (score of men minus score of women when the groups are female, male). Several labels are
    averaged; over classes that exclude each other two groups then give 0, whatever the scores.

    >>> dims(Scores.from_scores([1, 0], [0.75, 0.25], [0, 1])).item()
    -0.5
    """
    return _difference(scores, mean_score(scores, per_class=True), per_class)


def diamr(scores: Scores, per_class: bool = False) -> FloatArray:
    """Difference in mean residual (score minus label) between groups, in the order of `dims` (S2, Table 3).

    >>> diamr(Scores.from_scores([1, 0], [0.75, 0.25], [0, 1])).item()
    0.5
    """
    return _difference(scores, mean_residual(scores, per_class=True), per_class)


def mean_average_precision(scores: Scores) -> FloatArray:
    """mAP: mean over labels of the average precision on all rows, whatever their group; `[...]`.

    >>> scores = Scores.from_scores([[1, 0], [0, 1]], [[0.9, 0.7], [0.2, 0.3]], [0, 1])
    >>> mean_average_precision(scores).item()
    0.75
    """
    return average_precision(scores.pooled)[..., 0]


def mean_average_precision_u(scores: Scores, per_class: bool = False) -> FloatArray:
    """mAP_U: mAP in which every group has the same weight among the positives of a label.

    A positive of group d weighs P_i / (|G| P_{i,d}), a negative 1 (S1; Wang et al. 2020). |G| counts the
    groups that have positives of the label; `groups_without_positives` names the others. Rows of unknown
    group have no weight here and are left out.

    >>> scores = Scores.from_scores([1, 0, 1, 1, 0], [0.9, 0.8, 0.7, 0.6, 0.5], [0, 1, 0, 1, 0])
    >>> mean_average_precision_u(scores).round(6).item()
    0.775
    """
    pos, neg = _rankings(_known(scores.cells))
    per_group = pos.sum(axis=-1)
    total, present = per_group.sum(axis=-1, keepdims=True), (per_group > 0).sum(axis=-1, keepdims=True)
    weight = np.where(per_group > 0, divide(total, present * per_group), 0.0)
    value = ranked.average_precision(np.einsum("...g,...gb->...b", weight, pos), neg.sum(axis=-2))
    return mean_defined(value) if scores.per_label and not per_class else value


def groups_without_positives(scores: Scores) -> Array:
    """Which groups have no positive of a label, `[..., (K,) G]`: they have no part in its mAP_U.

    >>> groups_without_positives(Scores.from_scores([1, 0], [0.5, 0.5], [0, 1])).tolist()
    [False, True]
    """
    return np.asarray(_known(scores.cells)[..., 1, :].sum(axis=-1) == 0)


def positive_weights(y: object, groups: object, weights: object | None = None) -> FloatArray:
    """The weight of each row in the exact AP_U of one label: `exact_average_precision(y, s, these)`.

    >>> positive_weights([1, 0, 1, 1, 0, 1], [0, 1, 0, 1, 0, -1]).tolist()
    [0.75, 1.0, 0.75, 1.5, 1.0, 0.0]
    """
    label, g = as_codes(y, "labels"), as_codes(getattr(groups, "ids", groups), "groups")
    weight = np.where(g < 0, 0.0, check_weights(weights, len(label)))
    per_group = np.bincount(g[g >= 0], (weight * label)[g >= 0])
    factor = np.nan_to_num(divide(per_group.sum(), np.count_nonzero(per_group) * per_group))
    return np.where((label == 1) & (g >= 0), weight * factor[g], weight) if len(factor) else weight


def _known(cells: Array) -> Array:
    return cells[..., :-1, :, :]


def _rankings(cells: Array) -> tuple[Array, Array]:
    """Positives and negatives of histograms `[..., 2, B]`, highest bin first."""
    return cells[..., 1, ::-1], cells[..., 0, ::-1]


def _macro(scores: Scores, rates: FloatArray, per_class: bool) -> FloatArray:
    return mean_defined(rates, axis=-2) if scores.per_label and not per_class else rates


def _difference(scores: Scores, rates: FloatArray, per_class: bool) -> FloatArray:
    if rates.shape[-1] == 2:
        value = rates[..., 1] - rates[..., 0]
    else:
        enough = (~np.isnan(rates)).sum(axis=-1) >= 2  # one group has nothing to differ from
        value = np.where(enough, max_defined(rates) - min_defined(rates), np.nan)
    return mean_defined(value) if scores.per_label and not per_class else value

"""Counts -> a rate for each group.

Every rate is one line over the one-vs-rest margins. Called with counts (or margins) it returns `[..., G]`:
for a binary task the rate of the positive class 1, for more classes or labels the mean over those where it is
defined. `per_class=True` returns `[..., K, G]`.

>>> from evenhand.metrics.counts import Counts
>>> counts = Counts.from_predictions([1, 1, 0, 0, 1], [1, 0, 0, 1, 1], [0, 0, 0, 1, 1])
>>> tpr(counts).tolist(), fpr(counts).tolist()
([0.5, 1.0], [0.0, 1.0])
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.metrics.counts import Counts
from evenhand.metrics.margins import ROUNDING, Margins
from evenhand.metrics.undefined import divide, mean_defined

Better = Literal["higher", "lower", "none"]


def as_margins(counts: Counts | Margins) -> Margins:
    """The one-vs-rest margins of counts; margins as they are."""
    return counts.margins() if isinstance(counts, Counts) else counts


def over_classes(values: FloatArray, margins: Margins, axis: int = -1) -> FloatArray:
    """The positive class of a binary task; otherwise the mean over the classes that are defined."""
    if values.shape[axis] == 1:
        return np.asarray(np.take(values, 0, axis=axis))
    return np.asarray(np.take(values, 1, axis=axis)) if margins.binary else mean_defined(values, axis=axis)


@dataclass(frozen=True)
class Rate:
    """A rate per group: what it is, in which direction it is better, which cells raise and lower it.

    `raised_by` and `lowered_by` name one-vs-rest cells (tp, fp, fn, tn); a rate is monotone in each, which
    is what bounds it when group labels are missing. `whole` rates look at all classes at once, so they have
    no value for a single class.
    """

    key: str
    name: str
    formula: str
    better: Better
    of: Callable[[Margins], FloatArray]
    raised_by: frozenset[str]
    lowered_by: frozenset[str]
    empty: str = "no rows"
    whole: bool = False
    low: float = 0.0
    high: float = 1.0

    def __call__(self, counts: Counts | Margins, per_class: bool = False) -> FloatArray:
        margins = as_margins(counts)
        values = self.of(margins)
        return values if per_class else over_classes(values, margins, axis=-2)


def _accuracy(m: Margins) -> FloatArray:
    if not m.exclusive:
        return divide(m.tp + m.tn, m.n)
    return divide(m.tp.sum(axis=-2, keepdims=True), m.n[..., :1, :])


def _balanced_accuracy(m: Margins) -> FloatArray:
    recall = divide(m.tp, m.actual)
    if not m.exclusive:
        return (recall + divide(m.tn, m.negatives)) / 2
    # of two classes both must occur; among many the absent ones are left out
    return recall.mean(axis=-2, keepdims=True) if m.binary else mean_defined(recall, axis=-2)[..., None, :]


def _mcc(m: Margins) -> FloatArray:
    if not m.exclusive:
        top = m.tp * m.tn - m.fp * m.fn
        return divide(top, np.sqrt(m.predicted * 1.0 * m.actual) * np.sqrt(m.rejected * 1.0 * m.negatives))
    n, hit = m.n[..., :1, :] * 1.0, m.tp.sum(axis=-2, keepdims=True)
    top = hit * n - (m.predicted * 1.0 * m.actual).sum(axis=-2, keepdims=True)
    spread = [_spread(side, n) for side in (m.predicted, m.actual)]
    return np.clip(divide(top, np.sqrt(spread[0]) * np.sqrt(spread[1])), -1.0, 1.0)


def _spread(side: Array, n: Array) -> FloatArray:
    """n^2 - sum of squares: 0 (and not what rounding leaves) where all rows are of one class."""
    left = n * n - (side * 1.0 * side).sum(axis=-2, keepdims=True)
    return np.where(left <= ROUNDING * n * n, 0.0, left)


def _rate(
    key: str,
    name: str,
    formula: str,
    better: Better,
    of: Callable[[Margins], FloatArray],
    up: str,
    down: str,
    empty: str,
    *,
    whole: bool = False,
    low: float = 0.0,
) -> Rate:
    return Rate(
        key, name, formula, better, of, frozenset(up.split()), frozenset(down.split()), empty, whole, low
    )


# fmt: off
selection = _rate("selection", "selection rate", "(TP + FP) / n", "none",
                  lambda m: divide(m.predicted, m.n), "tp fp", "fn tn", "no rows")
tpr = _rate("tpr", "true positive rate", "TP / (TP + FN)", "higher",
            lambda m: divide(m.tp, m.actual), "tp", "fn", "no positives")
fpr = _rate("fpr", "false positive rate", "FP / (FP + TN)", "lower",
            lambda m: divide(m.fp, m.negatives), "fp", "tn", "no negatives")
tnr = _rate("tnr", "true negative rate", "TN / (FP + TN)", "higher",
            lambda m: divide(m.tn, m.negatives), "tn", "fp", "no negatives")
fnr = _rate("fnr", "false negative rate", "FN / (TP + FN)", "lower",
            lambda m: divide(m.fn, m.actual), "fn", "tp", "no positives")
ppv = _rate("ppv", "positive predictive value (precision)", "TP / (TP + FP)", "higher",
            lambda m: divide(m.tp, m.predicted), "tp", "fp", "no positive predictions")
npv = _rate("npv", "negative predictive value", "TN / (TN + FN)", "higher",
            lambda m: divide(m.tn, m.rejected), "tn", "fn", "no negative predictions")
false_omission = _rate("for", "false omission rate", "FN / (TN + FN)", "lower",
                       lambda m: divide(m.fn, m.rejected), "fn", "tn", "no negative predictions")
accuracy = _rate("accuracy", "accuracy", "share of rows with prediction = label", "higher",
                 _accuracy, "tp tn", "fp fn", "no rows", whole=True)
balanced_accuracy = _rate("balanced_accuracy", "balanced accuracy", "mean over classes of TP / (TP + FN)",
                          "higher", _balanced_accuracy, "tp tn", "fp fn", "a class without rows", whole=True)
f1 = _rate("f1", "F1 score", "2 TP / (2 TP + FP + FN)", "higher",
           lambda m: divide(2 * m.tp, m.predicted + m.actual), "tp", "fp fn", "no positives, none predicted")
mcc = _rate("mcc", "Matthews correlation coefficient",
            "(TP TN - FP FN) / sqrt((TP + FP)(TP + FN)(TN + FP)(TN + FN))", "higher", _mcc, "tp tn", "fp fn",
            "labels or predictions of one class only", whole=True, low=-1.0)
# fmt: on

RATES: dict[str, Rate] = {
    rate.key: rate
    for rate in (
        selection,
        tpr,
        fpr,
        tnr,
        fnr,
        ppv,
        npv,
        false_omission,
        accuracy,
        balanced_accuracy,
        f1,
        mcc,
    )
}
selection_rate = selection

"""The metrics of S1: reweighted and worst-cell accuracy, signed bias amplification, intersectional bias.

Groups are the attribute's own (`attr`) or each crossed with the label (`label_attr`), whose accuracy is the
true positive rate of that class in that group.

Citation: "Scaling Bias Mitigation with Multiple Fairness Tasks and Multiple Protected Attributes";
epsilon: J. Foulds et al., "An Intersectional Definition of Fairness", ICDE 2020.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.metrics.counts import Counts
from evenhand.metrics.margins import Margins
from evenhand.metrics.rates import RATES, as_margins, over_classes
from evenhand.metrics.undefined import divide, index_of_largest, max_defined, mean_defined, min_defined
from evenhand.metrics.view import View

Cells = Literal["attr", "label_attr"]


def cell_accuracies(view: View, cells: Cells) -> FloatArray:
    """Accuracy of each cell, `[..., 1, cells]`: groups, or classes x groups."""
    if cells == "attr":
        return mean_defined(view.rate("accuracy"), axis=-2)[..., None, :]
    m = view.margins
    recall = view.rate("tpr")
    if not m.exclusive:  # a label's two cells: present and absent
        recall = np.concatenate([recall, view.rate("tnr")], axis=-2)
    return recall.reshape(*recall.shape[:-2], 1, -1)


def overall_accuracy(view: View) -> FloatArray:
    """Acc: share of all rows predicted right, whatever their group."""
    everyone = view.margins.pooled if view.everyone is None else view.everyone
    return RATES["accuracy"].of(everyone)[..., 0]


def reweighted_accuracy(view: View, cells: Cells = "attr") -> FloatArray:
    """Acc_U = mean over non-empty cells of the accuracy in the cell."""
    return mean_defined(cell_accuracies(view, cells))


def lowest_accuracy(view: View, cells: Cells = "attr") -> FloatArray:
    """Min-Acc: accuracy of the worst cell; of several labels, the mean of their worst groups."""
    if cells == "attr":
        return mean_defined(min_defined(view.rate("accuracy")))[..., None]
    return min_defined(cell_accuracies(view, cells))


def signed_amplification(view: View) -> FloatArray:
    """s_y = Pr(g* | prediction = y) - Pr(g* | label = y), g* the largest group among those predicted y."""
    m = view.margins
    predicted, actual = (divide(part, part.sum(axis=-1, keepdims=True)) for part in (m.predicted, m.actual))
    largest = m.predicted.argmax(axis=-1)[..., None]
    value = (np.take_along_axis(predicted, largest, -1) - np.take_along_axis(actual, largest, -1))[..., 0]
    return np.where(view.several, value, np.nan)  # with one group all shares are 1


def predicted_most(view: View) -> Array:
    """Index of g*, `[..., K, 1]`."""
    return np.asarray(view.margins.predicted.argmax(axis=-1)[..., None])


def intersectional_bias(view: View) -> FloatArray:
    """epsilon_y = log(largest rate) - log(smallest rate) of being predicted as y, `[..., K]`.

    Rates are smoothed as Foulds et al. do: (count + k / C) / (n + k), k = `view.smoothing`; with k = 0 a rate
    of zero makes epsilon infinite. Groups without rows are left out. A label of several is a task of two
    classes, and has the mean of both: S1's Table 6 has 1.18 for plain training on CelebA, whose annotations
    themselves come to 1.01 so, and to 1.56 with "yes" alone.
    """
    found = _span(log_rates(view))
    return np.where(view.several, found if view.margins.exclusive else _both_values(found), np.nan)


def positive_intersectional_bias(view: View) -> FloatArray:
    """The same of being predicted as the class, or as having the label, alone, `[..., K]`."""
    return np.where(view.several, _span(log_positive_rates(view)), np.nan)


def _span(logs: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore"):  # infinity minus infinity: nobody is ever predicted as the class
        return max_defined(logs) - min_defined(logs)


def _both_values(found: FloatArray) -> FloatArray:
    """The mean of "yes" and "no" of each label, from `[..., 2 K]`."""
    yes, no = np.split(found, 2, axis=-1)
    return (yes + no) / 2


def log_rates(view: View) -> FloatArray:
    """Logarithm of the smoothed rate of being predicted as each class, `[..., K, G]`.

    Of several labels those of "yes" come first, then those of "no": `[..., 2 K, G]`.
    """
    yes = log_positive_rates(view)
    if view.margins.exclusive:
        return yes
    return np.concatenate([yes, _log_smoothed(view.margins.n - view.margins.predicted, view)], axis=-2)


def log_positive_rates(view: View) -> FloatArray:
    """Logarithm of the smoothed rate of being predicted as each class, or as having each label."""
    return _log_smoothed(view.margins.predicted, view)


def _log_smoothed(count: FloatArray, view: View) -> FloatArray:
    m, k = view.margins, view.smoothing
    classes = m.tp.shape[-2] if m.exclusive else 2
    rates = divide(count + k / classes, np.where(m.n > 0, m.n + k, 0.0))
    with np.errstate(divide="ignore"):
        return np.log(rates)


def extreme_groups(view: View) -> Array:
    """Groups with the largest and smallest smoothed rate, `[..., K, 2]`; of a label: of "yes"."""
    logs = log_positive_rates(view)
    return np.stack([index_of_largest(logs), index_of_largest(-logs)], axis=-1)


# -- the same for counts: the functions a user calls -----------------------------------------------------
def acc_u(counts: Counts | Margins, cells: Cells = "attr") -> FloatArray:
    """Reweighted accuracy of counts `[..., G, C, C]`.

    >>> counts = Counts.from_table([[[36, 4], [4, 36]], [[14, 1], [3, 2]]])
    >>> round(float(acc_u(counts)), 5), round(float(acc_u(counts, "label_attr")), 5)
    (0.85, 0.78333)
    """
    return reweighted_accuracy(View(as_margins(counts)), cells)[..., 0]


def min_acc(counts: Counts | Margins, cells: Cells = "attr") -> FloatArray:
    """Accuracy of the worst cell.

    >>> counts = Counts.from_table([[[36, 4], [4, 36]], [[14, 1], [3, 2]]])
    >>> float(min_acc(counts, "label_attr"))
    0.4
    """
    return lowest_accuracy(View(as_margins(counts)), cells)[..., 0]


def ba_signed(counts: Counts | Margins, which: Literal["mean", "positive"] = "mean") -> FloatArray:
    """Signed bias amplification: mean over classes, or the positive class alone.

    >>> counts = Counts.from_table([[[36, 4], [4, 36]], [[14, 1], [3, 2]]])
    >>> round(float(ba_signed(counts)), 6), round(float(ba_signed(counts, "positive")), 6)
    (0.007913, 0.041344)
    """
    margins = as_margins(counts)
    values = signed_amplification(View(margins))
    return over_classes(values, margins) if which == "positive" else mean_defined(values)


def eps(counts: Counts | Margins, smoothing: float = 1.0) -> FloatArray:
    """Intersectional bias, mean over classes.

    >>> counts = Counts.from_table([[[36, 4], [4, 36]], [[14, 1], [3, 2]]])
    >>> round(float(eps(counts)), 6), round(float(eps(counts, smoothing=0)), 6)
    (0.804719, 0.867301)
    """
    return mean_defined(intersectional_bias(View(as_margins(counts), smoothing=smoothing)))

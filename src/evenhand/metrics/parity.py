"""Metrics with a privileged group: S3's Table 1 accuracies and the full list of its official code.

The list has 61 values for a binary attribute. The definitions here are the corrected ones: rates instead of
raw counts, undefined stays NaN, and `legacy` brings back what the official code prints.

Citation: "Benchmarking Bias Mitigation Algorithms in Representation Learning through
Fairness Metrics" (S3); the list: S. Friedler et al., "A comparative study of fairness-enhancing interventions
in machine learning", FAT* 2019.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.metrics.margins import Margins
from evenhand.metrics.rates import RATES
from evenhand.metrics.undefined import divide, mean_defined
from evenhand.metrics.view import View

ViewFunction = Callable[[View], FloatArray]
BASES = {
    "accuracy": "accuracy",
    "tpr": "tpr",
    "tnr": "tnr",
    "fpr": "fpr",
    "fnr": "fnr",
    "calibration_pos": "ppv",
    "calibration_neg": "for",
}


def split_by_privilege(view: View) -> tuple[Margins, Margins]:
    """Margins of the privileged group and of each other group."""
    others = np.delete(np.arange(view.margins.n_groups), view.privileged)
    return view.margins.groups([view.privileged]), view.margins.groups(others)


def _rate(margins: Margins, rate: str, legacy: bool) -> FloatArray:
    values = RATES[rate].of(margins)
    # the official code calls a rate without cases 1, except those it derives as 1 - rate, and a correlation
    return np.nan_to_num(values, nan=0.0 if rate in ("fpr", "fnr", "mcc") else 1.0) if legacy else values


def privileged(rate: str) -> ViewFunction:
    """The rate of the privileged group."""
    return lambda view: _rate(split_by_privilege(view)[0], rate, view.legacy)[..., 0]


def unprivileged(rate: str) -> ViewFunction:
    """The rate of all other groups pooled."""
    return lambda view: _rate(split_by_privilege(view)[1].pooled, rate, view.legacy)[..., 0]


def mean_of_two(rate: str) -> ViewFunction:
    """Mean of the privileged and the pooled unprivileged rate: S3's accuracy, whatever the group sizes."""
    return lambda view: (privileged(rate)(view) + unprivileged(rate)(view)) / 2


def mean_of_groups(rate: str) -> ViewFunction:
    """Mean of the rate over all groups."""
    return lambda view: _average(_rate(view.margins, rate, view.legacy), view.legacy)


def ratio_to_privileged(rate: str) -> ViewFunction:
    """Rate of the pooled unprivileged groups over that of the privileged one."""
    return lambda view: _ratio(unprivileged(rate)(view), privileged(rate)(view), view.legacy)


def mean_ratio(rate: str) -> ViewFunction:
    """Mean over the unprivileged groups of their rate over the privileged one."""

    def value(view: View) -> FloatArray:
        first, others = (_rate(part, rate, view.legacy) for part in split_by_privilege(view))
        return _average(_ratio(others, first, view.legacy), view.legacy)

    return value


def closeness(rate: str) -> ViewFunction:
    """1 - |privileged - pooled unprivileged rate|."""
    return lambda view: 1.0 - np.abs(privileged(rate)(view) - unprivileged(rate)(view))


def mean_closeness(rate: str) -> ViewFunction:
    """Mean over the unprivileged groups of 1 - |difference to the privileged one|."""

    def value(view: View) -> FloatArray:
        first, others = (_rate(part, rate, view.legacy) for part in split_by_privilege(view))
        return _average(1.0 - np.abs(others - first), view.legacy)

    return value


def odds_difference(rate: str, legacy_cell: str) -> ViewFunction:
    """|difference| of a rate between privileged and others; the official code compares raw counts."""

    def value(view: View) -> FloatArray:
        if view.legacy:
            others, first = _legacy_counts(view, legacy_cell)
            return np.abs(others - first)
        return np.abs(privileged(rate)(view) - unprivileged(rate)(view))

    return value


def odds_ratio(rate: str, legacy_cell: str) -> ViewFunction:
    """Unprivileged over privileged rate; the official code divides raw counts."""

    def value(view: View) -> FloatArray:
        if view.legacy:
            return _ratio(*_legacy_counts(view, legacy_cell), legacy=True)
        return ratio_to_privileged(rate)(view)

    return value


def _legacy_counts(view: View, cell: str) -> tuple[FloatArray, FloatArray]:
    """Raw counts of the others and of the privileged group."""
    first, others = split_by_privilege(view)
    return getattr(others.pooled, cell)[..., 0] * 1.0, getattr(first, cell)[..., 0] * 1.0


def pooled(rate: str) -> ViewFunction:
    """The rate over all rows."""
    return lambda view: _rate(view.margins.pooled, rate, view.legacy)[..., 0]


def _ratio(top: FloatArray, bottom: FloatArray, legacy: bool) -> FloatArray:
    value = divide(top, bottom)
    if legacy:
        value = np.where(bottom == 0, np.where(np.asarray(top) == 0, 1.0, 0.0), value)
    return value


def _average(values: FloatArray, legacy: bool) -> FloatArray:
    """Mean over groups; the official code returns 1 when the sum is exactly 0."""
    mean = mean_defined(values)
    return np.where(mean == 0, 1.0, mean) if legacy else mean

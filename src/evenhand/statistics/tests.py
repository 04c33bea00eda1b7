"""Did a number change between two sets of runs? The two tests of S0, of the level and of the spread.

Each test takes the values of the base runs and of the other runs and says with a label which way the other
moved: "-" significantly down, "+" significantly up, "NS" not significantly. Tests for runs that share their
seeds are in `paired.py` and `permutation.py`.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.metrics.undefined import divide
from evenhand.statistics.corrections import benjamini_hochberg, holm
from evenhand.statistics.effects import BANDS, cohens_d, effect_band
from evenhand.statistics.outcome import (
    ALPHA,
    CONSTANT,
    Alternative,
    Test,
    direction_of,
    label_of,
    side_of,
    undefined,
)
from evenhand.statistics.permutation import MOST_PATTERNS, number_of_splits, split_p
from evenhand.statistics.samples import constant, finite, rounded, sample

__all__ = [
    "ALPHA",
    "BANDS",
    "Alternative",
    "Test",
    "benjamini_hochberg",
    "cohens_d",
    "effect_band",
    "holm",
    "levene_relative",
    "mann_whitney",
    "relative_variance",
]

Method = Literal["normal", "auto"]
MOST_EXACT = 50  # runs of a side up to which the exact distribution of U is used


def mann_whitney(
    base: object,
    other: object,
    alternative: Alternative = "two-sided",
    alpha: float = ALPHA,
    method: Method = "normal",
) -> Test:
    """Mann-Whitney U of the base runs against the others (1947): do the values of one tend to be larger?

    U counts the pairs in which the base is higher, ties for half. "normal" is S0's: normal approximation, tie
    and continuity corrected. "auto" is exact for up to 50 runs of a side: without ties by U's distribution,
    with ties by all splits of the ranks if they are at most 65,536, else normal.

    "posthoc" is S0's rule: one-sided, the side chosen after seeing the means ("less" if the base mean is the
    lower), in effect a two-sided test at twice the level. When both samples are constant the runs carry no
    evidence of more than one run each, and the label is "NS" whatever p.

    >>> found = mann_whitney([0.5, 0.6, 0.7, 0.8], [0.1, 0.2, 0.3, 0.4], "posthoc")
    >>> found.alternative, found.label, round(found.p, 4)
    ('greater', '-', 0.0152)
    >>> round(mann_whitney([5, 6, 7, 8], [1, 2, 3, 4], method="auto").p, 6)  # 2 of 70 splits
    0.028571
    """
    from scipy.stats import mannwhitneyu

    a, b = sample(base), sample(other)
    with np.errstate(invalid="ignore"):  # the means of infinite values have no difference
        rise = float(np.mean(rounded(b)) - np.mean(rounded(a)))
    side = side_of(alternative, rise)
    how = _method(a, b) if method == "auto" else "normal"
    scipy_method = "exact" if how == "exact" else "asymptotic"
    found = mannwhitneyu(a, b, alternative=side, method=scipy_method)
    p = _p_of_tied(a, b, side) if how == "splits" else float(found.pvalue)
    same = CONSTANT if constant(a) and constant(b) else None
    label = "NS" if same else label_of(p, direction_of(side, rise), alpha)
    return Test(float(found.statistic), p, side, label, same, "normal" if how == "normal" else "exact")


def levene_relative(base: object, other: object, alpha: float = ALPHA) -> Test:
    """Do the relative spreads differ? Levene around the median (Brown & Forsythe 1974) of values / own mean.

    The label compares the sample variances of the normalised values. NaN and "NS" where a mean is 0, where
    both samples are constant, and where all values are equally far from their medians (as any two are).

    >>> levene_relative([1.0, 1.0, 1.0, 1.01], [1.0, 2.0, 3.0, 4.0]).label
    '+'
    """
    from scipy.stats import levene

    a, b = sample(base), sample(other)
    if not finite(a, b):
        return undefined("two-sided", "a value is infinite")
    if a.mean() == 0 or b.mean() == 0:
        return undefined("two-sided", "a sample has mean 0")
    if constant(a) and constant(b):
        return undefined("two-sided", CONSTANT)
    a, b = a / a.mean(), b / b.mean()
    if _equally_far(a) and _equally_far(b):
        return undefined("two-sided", "all values are equally far from their medians")
    found = levene(a, b, center="median")
    p, rise = float(found.pvalue), relative_variance(rounded(b)) - relative_variance(rounded(a))
    return Test(float(found.statistic), p, "two-sided", label_of(p, rise, alpha))


def relative_variance(values: object) -> float:
    """Sample variance (ddof 1) of the values divided by their mean; exactly 0 for constant values.

    NaN where the mean is 0.

    >>> round(relative_variance([1.0, 3.0]), 6)
    0.5
    """
    known = sample(values)
    if constant(known):
        return 0.0
    return float(np.var(divide(known, known.mean()), ddof=1))


def _method(a: FloatArray, b: FloatArray) -> str:
    if len(np.unique(np.concatenate([a, b]))) == len(a) + len(b):
        return "exact" if max(len(a), len(b)) <= MOST_EXACT else "normal"
    return "splits" if number_of_splits(len(a), len(b)) <= MOST_PATTERNS else "normal"


def _p_of_tied(a: FloatArray, b: FloatArray, side: str) -> float:
    """The exact p of U with ties: a permutation test of the ranks."""
    from scipy.stats import rankdata

    ranks = rankdata(np.concatenate([a, b]))
    return split_p(ranks[: len(a)], ranks[len(a) :], side)


def _equally_far(values: FloatArray) -> bool:
    """Levene divides by the variation of these distances; two runs, or two values in turn, have none."""
    far = np.abs(values - np.median(values))
    return bool(np.ptp(far) <= 1e-12 * far.max())

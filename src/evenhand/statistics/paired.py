"""Wilcoxon's signed-rank test: runs that share their seeds, compared seed by seed."""

from __future__ import annotations

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.statistics.outcome import (
    ALPHA,
    APART,
    CONSTANT,
    Alternative,
    Test,
    direction_of,
    label_of,
    side_of,
    undefined,
)
from evenhand.statistics.permutation import MOST_PATTERNS, sign_p
from evenhand.statistics.samples import constant, finite, pairs, without_noise

MOST_EXACT = 50


def wilcoxon(
    base: object, other: object, alternative: Alternative = "two-sided", alpha: float = ALPHA
) -> Test:
    """Signed ranks of the differences base - other, seed by seed (Wilcoxon 1945).

    The statistic is the sum of the ranks of |difference| over the pairs in which the base is higher. Exact up
    to 50 pairs without ties and up to 16 with ties, else normal with tie and continuity correction. Pairs
    without a difference are left out (Wilcoxon's rule), and so are pairs with an undefined value. The label
    needs the ranks and the mean to agree on the direction. Fewer than 6 pairs cannot reach 0.05.

    >>> found = wilcoxon([0.20, 0.22, 0.25, 0.21, 0.24, 0.23], [0.10, 0.11, 0.16, 0.13, 0.17, 0.17])
    >>> found.label, found.p, found.statistic
    ('-', 0.03125, 21.0)
    >>> wilcoxon([0.1, 0.2], [0.1, 0.2]).reason
    'no pair differs'
    """
    a, b = pairs(base, other, fewest=2)
    if not finite(a, b):
        return undefined(alternative, "a value is infinite")
    moved = without_noise(a - b)
    moved = moved[np.abs(moved) > 1e-12 * np.maximum(np.abs(a), np.abs(b)).max()]
    if not len(moved):
        return undefined(alternative, "no pair differs")
    side = side_of(alternative, -float(moved.sum()))
    statistic, p, method = _signed_ranks(moved, side)
    rise = _agreed(statistic, moved, side)
    reason = CONSTANT if constant(a) and constant(b) else APART if np.isnan(rise) else None
    return Test(statistic, p, side, "NS" if reason else label_of(p, rise, alpha), reason, method)


def _signed_ranks(moved: FloatArray, side: str) -> tuple[float, float, str]:
    """The sum of the positive ranks, its p, and how that was found."""
    from scipy.stats import rankdata
    from scipy.stats import wilcoxon as of_scipy

    ranks = rankdata(np.abs(moved))
    statistic = float(ranks[moved > 0].sum())
    untied = len(np.unique(ranks)) == len(ranks)
    if untied and len(ranks) <= MOST_EXACT:
        return statistic, float(of_scipy(moved, alternative=side, method="exact").pvalue), "exact"
    if not untied and 2 ** len(ranks) <= MOST_PATTERNS:
        return statistic, sign_p(-np.sign(moved) * ranks, side), "exact"
    return statistic, _normal_p(statistic, ranks, side), "normal"


def _normal_p(statistic: float, ranks: FloatArray, side: str) -> float:
    """Mean n(n+1)/4, variance n(n+1)(2n+1)/24 - sum(t^3 - t)/48 over ties, half a rank of continuity."""
    from scipy.special import ndtr

    n, ties = len(ranks), np.unique(ranks, return_counts=True)[1].astype(np.float64)
    deviation = np.sqrt(n * (n + 1) * (2 * n + 1) / 24 - (ties**3 - ties).sum() / 48)
    far = statistic - n * (n + 1) / 4
    if side == "two-sided":
        return min(1.0, 2 * float(ndtr(-max(abs(far) - 0.5, 0.0) / deviation)))
    return float(ndtr((far + 0.5) / deviation) if side == "less" else ndtr(-(far - 0.5) / deviation))


def _agreed(statistic: float, moved: FloatArray, side: str) -> float:
    """The direction of the other; NaN where the ranks point one way and the mean the other."""
    if side != "two-sided":
        return direction_of(side, 0.0)
    n = len(moved)
    of_ranks, of_mean = n * (n + 1) / 4 - statistic, -float(moved.sum())
    return float("nan") if of_ranks * of_mean < 0 else of_ranks

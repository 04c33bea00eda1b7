"""Two shares of the same rows, as of two models: is there a difference, and how large may it be?

Of n rows, `lost` are right with the first model alone and `won` with the second alone; the others are alike.
The test is McNemar's (Psychometrika 1947), in its exact form. The interval of (won - lost) / n is Tango's
score interval (Statistics in Medicine 1998): it asks which true differences the data do not speak against. It
has width where nothing changed, or where all rows of a small class did, which redrawing rows cannot give.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.metrics.undefined import divide

HALVINGS = 50  # of the interval in which an end lies: 2^-50


def mcnemar_p(lost: object, won: object) -> FloatArray:
    """Two-sided exact p that so many rows lost and won are a fair coin's: 2 Pr(X <= min), at most 1.

    >>> mcnemar_p([10, 0, 4], [2, 0, 4]).round(6).tolist()
    [0.038574, 1.0, 1.0]
    """
    from scipy.special import bdtr

    few, many = np.asarray(lost, dtype=np.float64), np.asarray(won, dtype=np.float64)
    fewer, all_of_them = np.minimum(few, many), (few + many).astype(np.int64)
    return np.where(all_of_them > 0, np.minimum(1.0, 2 * bdtr(fewer, np.maximum(all_of_them, 1), 0.5)), 1.0)


def tango_interval(
    lost: object, won: object, n: object, confidence: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    """The differences (won - lost) / n that the score test does not refuse; NaN without rows.

    The test is of the difference d: z = (won - lost - n d) / sqrt(n (2 q + d (1 - d))), q the likeliest
    share of rows that are lost, were d true.

    >>> low, high = tango_interval([0, 3, 6], [0, 0, 2], [10, 3, 100])
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([-0.278, -1.0, -0.108], [0.278, 0.123, 0.019])
    """
    b, c, n = (np.asarray(each, dtype=np.float64) for each in (won, lost, n))
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    value = divide(b - c, n)
    ends = []
    for side in (-1.0, 1.0):
        inside, outside = value, np.full_like(value, side)
        refused = np.abs(_score(b, c, n, outside)) > z  # else the end is that of what is possible
        for _ in range(HALVINGS):
            middle = (inside + outside) / 2
            beyond = np.abs(_score(b, c, n, middle)) > z
            inside, outside = np.where(beyond, inside, middle), np.where(beyond, middle, outside)
        ends.append(np.where(np.isnan(value), np.nan, np.where(refused, inside, side)))
    return ends[0], ends[1]


def _score(b: FloatArray, c: FloatArray, n: FloatArray, d: FloatArray) -> FloatArray:
    """How many deviations the counts are off a difference of d."""
    linear = -b - c + (2 * n - b + c) * d
    constant = -c * d * (1 - d)
    q = (np.sqrt(np.maximum(linear**2 - 8 * n * constant, 0.0)) - linear) / np.maximum(4 * n, 1)
    variance = np.maximum(n * (2 * q + d * (1 - d)), 0.0)
    off = b - c - n * d
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.abs(off) < 1e-12, 0.0, off / np.sqrt(variance))

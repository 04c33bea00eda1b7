"""Several methods over several problems: ranks, and Friedman's test whether they differ at all.

A problem is a task with its grouping and network, a cell the mean over the runs of a method. A problem on
which a cell is undefined is left out and counted: ranks need all methods of a problem. A method that fails
often is better left out by the caller, so that the problems stay.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from evenhand.arrays import FloatArray, as_array
from evenhand.errors import InputError
from evenhand.statistics.outcome import NAN


@dataclass(frozen=True)
class Friedman:
    """Friedman's chi-square and Iman & Davenport's F of the ranks, and why there is none.

    `attainable` is the smallest p of the chi-square for so many problems and methods (perfect agreement).
    """

    statistic: float
    p: float
    f: float
    f_p: float
    attainable: float
    mean_ranks: FloatArray
    problems: int
    left_out: int
    reason: str | None = None


def method_ranks(matrix: object, better: str = "lower", ideal: float = 0.0) -> FloatArray:
    """Ranks `[N, k]` of the methods on each problem, 1 is best, ties averaged; incomplete problems left out.

    `better` is the catalogue's word: "lower", "higher", or "nearer" to the ideal.

    >>> method_ranks([[0.1, 0.3, 0.3], [0.2, float("nan"), 0.1]]).tolist()
    [[1.0, 2.5, 2.5]]
    """
    from scipy.stats import rankdata

    costs = _costs(matrix, better, ideal)
    complete = costs[~np.isnan(costs).any(axis=1)]
    return np.asarray(rankdata(complete, axis=1), dtype=np.float64) if len(complete) else complete


def average_ranks(matrix: object, better: str = "lower", ideal: float = 0.0) -> FloatArray:
    """The mean rank `[k]` of each method over the complete problems; NaN where there is none.

    >>> average_ranks([[0.1, 0.3], [0.2, 0.2]], better="higher").tolist()
    [1.75, 1.25]
    """
    found = method_ranks(matrix, better, ideal)
    return found.mean(axis=0) if len(found) else np.full(found.shape[1], NAN)


def friedman(matrix: object, better: str = "lower", ideal: float = 0.0) -> Friedman:
    """Do the methods differ over the problems? Friedman (1937) on values `[problems, methods]`.

    chi2 = [12 N / (k (k + 1)) sum_j (R_j - (k + 1) / 2)^2] / [1 - sum(t^3 - t) / (N k (k^2 - 1))] with mean
    ranks R_j and ties t, k - 1 degrees of freedom; F = (N - 1) chi2 / (N (k - 1) - chi2) with k - 1 and (k -
    1)(N - 1) (Iman & Davenport 1980; less conservative). Where all problems agree F is infinite, and its p is
    the exact chance of that, k!^-(N - 1). Undefined, with the reason, for fewer than 2 problems or 3 methods:
    two methods are compared by `wilcoxon` over the problems (Demsar 2006).

    >>> found = friedman([[1, 2, 3], [1, 2, 3], [1, 3, 2], [1, 2, 3]])
    >>> found.statistic, round(found.p, 4), found.mean_ranks.tolist()
    (6.5, 0.0388, [1.0, 2.25, 2.75])
    """
    from scipy.special import chdtrc

    of = method_ranks(matrix, better, ideal)
    n, k = of.shape
    left_out = len(np.asarray(as_array(matrix))) - n
    mean = of.mean(axis=0) if n else np.full(k, NAN)
    reason = _undefined(n, k, of)
    least = float(chdtrc(k - 1, n * (k - 1))) if n >= 1 and k >= 2 else 1.0
    if reason:
        return Friedman(NAN, NAN, NAN, NAN, least, mean, n, left_out, reason)
    chi2 = 12 * n / (k * (k + 1)) * float(((mean - (k + 1) / 2) ** 2).sum()) / _untied(of)
    f, f_p = _iman_davenport(chi2, n, k)
    return Friedman(chi2, float(chdtrc(k - 1, chi2)), f, f_p, least, mean, n, left_out)


def _costs(matrix: object, better: str, ideal: float) -> FloatArray:
    """The values turned so that lower is better."""
    values = np.asarray(as_array(matrix), dtype=np.float64)
    if values.ndim != 2:
        raise InputError(f"ranks need a table of problems by methods, not an array {values.shape}")
    if better not in ("lower", "higher", "nearer"):
        raise InputError(f"better must be 'lower', 'higher' or 'nearer', not '{better}'")
    turned = {"lower": values, "higher": -values, "nearer": np.abs(values - ideal)}[better]
    return np.where(np.isfinite(turned), np.round(turned, 12), turned)  # equal but for rounding is equal


def _undefined(n: int, k: int, of: FloatArray) -> str | None:
    if k < 3:
        return "Friedman's test is for 3 methods or more; compare two with wilcoxon over the problems"
    if n < 2:
        return f"a test over problems needs at least 2 complete problems, not {n}"
    if np.ptp(of) == 0:
        return "all methods tie on every problem"
    return None


def _untied(of: FloatArray) -> float:
    """1 less the share of the ranks' variation that ties take away."""
    n, k = of.shape
    counts = np.concatenate([np.unique(row, return_counts=True)[1] for row in of]).astype(np.float64)
    return 1 - float((counts**3 - counts).sum() / (n * k * (k**2 - 1)))


def _iman_davenport(chi2: float, n: int, k: int) -> tuple[float, float]:
    from scipy.special import fdtrc

    rest = n * (k - 1) - chi2
    if rest <= 1e-9 * n * k:
        return math.inf, math.factorial(k) ** -(n - 1.0)
    f = (n - 1) * chi2 / rest
    return f, float(fdtrc(k - 1, (k - 1) * (n - 1), f))

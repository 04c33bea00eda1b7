"""Do two numbers move together over runs? Correlations with n, p and interval, and their matrix."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from itertools import permutations

import numpy as np

from evenhand.arrays import FloatArray, IntArray, as_array
from evenhand.errors import InputError
from evenhand.statistics.outcome import NAN
from evenhand.statistics.samples import pairs

KINDS = ("spearman", "pearson", "kendall")
MOST_EXACT = 7  # 7! = 5040 orders: below that Student's p of a rank correlation is far off


@dataclass(frozen=True)
class Correlation:
    """A coefficient, its p-value and interval, over the runs on which both numbers are defined."""

    value: float
    p: float
    low: float
    high: float
    n: int
    reason: str | None = None


@dataclass(frozen=True)
class CorrelationMatrix:
    """Coefficients `[M, M]` over metrics with their p-values, intervals and numbers of runs."""

    names: tuple[str, ...]
    matrix: FloatArray
    p: FloatArray
    low: FloatArray
    high: FloatArray
    n: IntArray

    def to_dict(self) -> dict[str, object]:
        """Names, coefficients and numbers of runs, as a report keeps them: None where undefined."""
        rows = [[value if value == value else None for value in row] for row in self.matrix.tolist()]
        return {"metrics": list(self.names), "matrix": rows, "n": self.n.tolist()}


def correlate(x: object, y: object, kind: str = "spearman", confidence: float = 0.95) -> Correlation:
    """Spearman's rho (ties averaged), Pearson's r or Kendall's tau-b, of the pairs that are both defined.

    p is two-sided: Student's t with n - 2 (rho, r), SciPy's for tau; of 7 pairs and fewer, rho's is exact
    over all orders. The interval is Fisher's, tanh(atanh(c) -+ z e), with e^2 = 1 / (n - 3) for r, (1 + rho^2
    / 2) / (n - 3) for rho (Bonett & Wright 2000) and 0.437 / (n - 4) for tau (Fieller et al. 1957); it does
    not exist at -1 and 1. Fewer than 3 pairs, or a constant side: NaN.

    >>> found = correlate([1, 2, 3, 4, 5, 6, 7, 8], [2, 1, 4, 3, 7, 5, 8, 6])
    >>> round(found.value, 4), round(found.p, 4), round(found.low, 2), round(found.high, 2), found.n
    (0.8333, 0.0102, 0.18, 0.98, 8)
    """
    if kind not in KINDS:
        near = get_close_matches(kind, KINDS, n=1, cutoff=0.3)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        raise InputError(f"there is no correlation '{kind}' ({', '.join(KINDS)}){hint}")
    a, b = pairs(x, y)
    reason = _undefined(a, b, kind)
    if reason:
        return Correlation(NAN, NAN, NAN, NAN, len(a), reason)
    if kind == "kendall":
        from scipy.stats import kendalltau

        found = kendalltau(a, b)
        value, p = float(found.statistic), float(found.pvalue)
    else:
        a, b = (_ranked(a), _ranked(b)) if kind == "spearman" else (a, b)
        value = _product_moment(a, b)
        p = _exact_p(a, b) if kind == "spearman" and len(a) <= MOST_EXACT else student_p(value, len(a))
    return Correlation(value, p, *fisher_interval(value, len(a), kind, confidence), len(a))


def correlation_matrix(
    values: object, names: Sequence[str] = (), kind: str = "spearman", confidence: float = 0.95
) -> CorrelationMatrix:
    """All pairs of the columns of values `[runs, metrics]`, each over the runs on which both are defined.

    The diagonal is 1 for a metric that varies and NaN for one that does not.

    >>> found = correlation_matrix([[1, 9, 5], [2, 7, 5], [3, 8, 5], [4, 6, 5]], ["a", "b", "c"])
    >>> found.to_dict()["matrix"]
    [[1.0, -0.8, None], [-0.8, 1.0, None], [None, None, None]]
    """
    table = np.asarray(as_array(values), dtype=np.float64)
    if table.ndim != 2:
        raise InputError(f"a correlation matrix needs a table of runs by metrics, not an array {table.shape}")
    m = table.shape[1]
    names = tuple(names) or tuple(str(place) for place in range(m))
    if len(names) != m:
        raise InputError(f"there are {len(names)} names for {m} metrics")
    out = np.full((4, m, m), NAN)
    n = np.zeros((m, m), dtype=np.int64)
    for i in range(m):
        for j in range(i, m):
            found = correlate(table[:, i], table[:, j], kind, confidence)
            out[:, i, j] = out[:, j, i] = (found.value, found.p, found.low, found.high)
            n[i, j] = n[j, i] = found.n
    return CorrelationMatrix(names, out[0], out[1], out[2], out[3], n)


def student_p(value: float, n: int) -> float:
    """Two-sided p of a correlation of n pairs, t = c sqrt((n - 2) / (1 - c^2)).

    >>> round(student_p(0.5, 12), 4), student_p(1.0, 12)
    (0.0979, 0.0)
    """
    from scipy.special import stdtr

    if abs(value) >= 1:
        return 0.0
    return float(2 * stdtr(n - 2, -abs(value) * math.sqrt((n - 2) / ((1 - value) * (1 + value)))))


def fisher_interval(value: float, n: int, kind: str, confidence: float) -> tuple[float, float]:
    """Fisher's interval of a correlation; NaN for too few pairs and at -1 and 1."""
    from scipy.special import ndtri

    squares = {"pearson": (1.0, 3), "spearman": (1 + value**2 / 2, 3), "kendall": (0.437, 4)}
    numerator, spent = squares[kind]
    if n <= spent or abs(value) >= 1 - 1e-15:
        return NAN, NAN
    reach = float(ndtri((1 + confidence) / 2)) * math.sqrt(numerator / (n - spent))
    return math.tanh(math.atanh(value) - reach), math.tanh(math.atanh(value) + reach)


def _undefined(a: FloatArray, b: FloatArray, kind: str) -> str | None:
    if len(a) < 3:
        return f"a correlation needs at least 3 pairs, not {len(a)}"
    if kind == "pearson" and not np.isfinite([a, b]).all():
        return "a value is infinite"
    if (a == a[0]).all() or (b == b[0]).all():
        return "one side is constant"
    return None


def _ranked(values: FloatArray) -> FloatArray:
    from scipy.stats import rankdata

    return np.asarray(rankdata(values), dtype=np.float64)


def _product_moment(a: FloatArray, b: FloatArray) -> float:
    a, b = a - a.mean(), b - b.mean()
    value = float(a @ b) / math.sqrt(float(a @ a) * float(b @ b))
    return min(1.0, max(-1.0, value))


def _exact_p(a: FloatArray, b: FloatArray) -> float:
    """The share of all orders of the second side whose correlation is as far from 0."""
    a, b = a - a.mean(), b - b.mean()
    found = np.abs(b[_orders(len(b))] @ a)
    return float((found >= abs(float(a @ b)) - 1e-9).mean())


@lru_cache(maxsize=8)
def _orders(n: int) -> IntArray:
    return np.array(list(permutations(range(n))), dtype=np.int64)

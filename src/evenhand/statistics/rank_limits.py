"""The critical values of the rank tests: exact by counting where runs are few, else the normal approximation.

A rank test of n runs rejects where its statistic, counted from the nearer end, is at most a whole number that
depends on n and the level alone. Simulations look that number up instead of computing a p-value each time.
"""

from __future__ import annotations

import math
from functools import lru_cache

from evenhand.statistics.power import MOST_EXACT

NEVER = -1  # no outcome of so few runs reaches the level


@lru_cache(maxsize=4096)
def limit_of_u(n_base: int, n_other: int, alpha: float) -> int:
    """The largest U with a two-sided p of at most alpha (Mann and Whitney 1947); -1 where there is none.

    >>> limit_of_u(4, 4, 0.05), limit_of_u(8, 8, 0.05), limit_of_u(3, 3, 0.05)  # as tables print them
    (0, 13, -1)
    """
    product = n_base * n_other
    if max(n_base, n_other) > MOST_EXACT:
        deviation = math.sqrt(product * (n_base + n_other + 1) / 12)
        return _normal_limit(product / 2, deviation, alpha)
    return _limit(_ways_of_u(n_base, n_other), math.comb(n_base + n_other, n_base), alpha)


@lru_cache(maxsize=4096)
def limit_of_signed_ranks(n: int, alpha: float) -> int:
    """The largest sum of signed ranks with a two-sided p of at most alpha (Wilcoxon 1945); -1: there is none.

    >>> limit_of_signed_ranks(6, 0.05), limit_of_signed_ranks(16, 0.05), limit_of_signed_ranks(5, 0.05)
    (0, 29, -1)
    """
    if n > MOST_EXACT:
        return _normal_limit(n * (n + 1) / 4, math.sqrt(n * (n + 1) * (2 * n + 1) / 24), alpha)
    ways = [1]
    for rank in range(1, n + 1):  # each rank is in the sum or not
        ways = [a + b for a, b in zip(ways + [0] * rank, [0] * rank + ways, strict=True)]
    return _limit(ways, 2**n, alpha)


def _ways_of_u(n_base: int, n_other: int) -> list[int]:
    """In how many ways each U comes about: the coefficients of the Gaussian binomial (n + m over n) in q."""
    size = n_base * n_other + 1
    ways = [1] + [0] * (size - 1)
    for step in range(1, n_base + 1):
        for place in range(size - 1, n_other + step - 1, -1):  # times (1 - q^(m + step))
            ways[place] -= ways[place - n_other - step]
        for place in range(step, size):  # over (1 - q^step)
            ways[place] += ways[place - step]
    return ways


def _limit(ways: list[int], total: int, alpha: float) -> int:
    reached, found = 0, NEVER
    for value, count in enumerate(ways[: (len(ways) + 1) // 2]):
        reached += count
        if 2 * reached > alpha * total:
            break
        found = value
    return found


def _normal_limit(mean: float, deviation: float, alpha: float) -> int:
    """With half a step of continuity."""
    from scipy.special import ndtri

    return math.floor(mean - 0.5 + float(ndtri(alpha / 2)) * deviation)

"""Permutation tests: how often would chance alone, dealing out the same values, move the mean as far?

Exact where all patterns are at most 65,536, otherwise from random patterns, of which the observed one is one
more: p = (k + 1) / (n + 1) is valid and never 0 (Phipson & Smyth 2010).
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import chain, combinations

import numpy as np

from evenhand.arrays import FloatArray, IntArray
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
from evenhand.statistics.samples import constant, finite, pairs, sample

MOST_PATTERNS = 2**16
DRAWS = 9999
CHUNK = 1 << 22  # random numbers held at a time


def permutation_paired(
    base: object,
    other: object,
    n: int = DRAWS,
    seed: int = 0,
    alternative: Alternative = "two-sided",
    alpha: float = ALPHA,
) -> Test:
    """Paired permutation test of the mean difference other - base: every pair may be swapped (Fisher 1935).

    Exact over all 2^m sign patterns for m <= 16 pairs, else `n` random patterns. Pairs with an undefined
    value are left out. The pairs are runs of the same seed: what the seed does to both cancels.

    >>> found = permutation_paired([5, 6, 7, 8, 9, 10], [1, 2, 3, 4, 5, 7])
    >>> found.label, found.p == 2 / 2**6, found.statistic
    ('-', True, -3.8333333333333335)
    """
    a, b = pairs(base, other, fewest=2)
    if not finite(a, b):
        return undefined(alternative, "a value is infinite")
    moved = b - a
    side = side_of(alternative, float(moved.mean()))
    exact = len(moved) < MOST_PATTERNS.bit_length()
    p = sign_p(moved, side) if exact else _drawn_sign_p(moved, side, n, seed)
    return _told(a, b, float(moved.mean()), p, side, alpha, exact)


def permutation_unpaired(
    base: object,
    other: object,
    n: int = DRAWS,
    seed: int = 0,
    alternative: Alternative = "two-sided",
    alpha: float = ALPHA,
) -> Test:
    """Permutation test of the difference of means other - base: any value may belong to either side.

    Exact over all splits if they are at most 65,536 (9 and 9 runs), else `n` random ones.

    >>> found = permutation_unpaired([5, 6, 7, 8], [1, 2, 3, 4])
    >>> found.label, found.p == 2 / 70
    ('-', True)
    """
    a, b = sample(base), sample(other)
    if not finite(a, b):
        return undefined(alternative, "a value is infinite")
    rise = float(b.mean() - a.mean())
    side, exact = side_of(alternative, rise), number_of_splits(len(a), len(b)) <= MOST_PATTERNS
    p = split_p(a, b, side) if exact else _drawn_split_p(a, b, side, n, seed)
    return _told(a, b, rise, p, side, alpha, exact)


def sign_p(moved: FloatArray, side: str) -> float:
    """The share of all sign patterns whose sum is as far out as that of these differences."""
    return float(_as_far(_signs(len(moved)) @ moved, float(moved.sum()), side, moved).mean())


def split_p(a: FloatArray, b: FloatArray, side: str) -> float:
    """The share of all splits of the values in which the sum of the second part is as far out."""
    pooled = np.concatenate([a, b]) - np.concatenate([a, b]).mean()
    sums = -pooled[_splits(len(a), len(b))].sum(axis=1)  # the parts together sum to 0
    return float(_as_far(sums, float(pooled[len(a) :].sum()), side, pooled).mean())


def number_of_splits(n_base: int, n_other: int) -> int:
    """In how many ways the values can be dealt out to two sides of these sizes.

    >>> number_of_splits(4, 4)
    70
    """
    return math.comb(n_base + n_other, n_base)


def _as_far(found: FloatArray, observed: float, side: str, values: FloatArray) -> FloatArray:
    """1 where a pattern is as far out as the observed one; equal but for rounding counts as equal."""
    room = 1e-10 * float(np.abs(values).sum())
    if side == "two-sided":
        return (np.abs(found) >= abs(observed) - room).astype(np.float64)
    turn = direction_of(side, 0.0)
    return (turn * found >= turn * observed - room).astype(np.float64)


def _drawn_sign_p(moved: FloatArray, side: str, n: int, seed: int) -> float:
    rng, hits = np.random.default_rng(seed), 0.0
    for count in _chunks(n, len(moved)):
        signs = rng.integers(0, 2, (count, len(moved)), dtype=np.int8) * 2.0 - 1.0
        hits += _as_far(signs @ moved, float(moved.sum()), side, moved).sum()
    return (hits + 1) / (n + 1)


def _drawn_split_p(a: FloatArray, b: FloatArray, side: str, n: int, seed: int) -> float:
    pooled = np.concatenate([a, b]) - np.concatenate([a, b]).mean()
    rng, hits = np.random.default_rng(seed), 0.0
    for count in _chunks(n, len(pooled)):
        dealt = rng.permuted(np.broadcast_to(pooled, (count, len(pooled))), axis=1)
        sums = dealt[:, len(a) :].sum(axis=1)
        hits += _as_far(sums, float(pooled[len(a) :].sum()), side, pooled).sum()
    return (hits + 1) / (n + 1)


def _chunks(n: int, width: int) -> list[int]:
    step = max(1, CHUNK // width)
    return [min(step, n - start) for start in range(0, n, step)]


@lru_cache(maxsize=4)
def _signs(n: int) -> FloatArray:
    """All `[2^n, n]` patterns of signs."""
    return np.where(np.arange(2**n)[:, None] >> np.arange(n) & 1, -1.0, 1.0)


@lru_cache(maxsize=4)
def _splits(n_base: int, n_other: int) -> IntArray:
    """All choices `[C, n_base]` of who belongs to the base."""
    chosen = chain.from_iterable(combinations(range(n_base + n_other), n_base))
    return np.fromiter(chosen, dtype=np.int64).reshape(-1, n_base)


def _told(a: FloatArray, b: FloatArray, rise: float, p: float, side: str, alpha: float, exact: bool) -> Test:
    same = CONSTANT if constant(a) and constant(b) else None
    label = "NS" if same else label_of(p, direction_of(side, rise), alpha)
    return Test(rise, p, side, label, same, "exact" if exact else "drawn")

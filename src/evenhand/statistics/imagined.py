"""Could a comparison have been shown among all the others? Its p at the best, corrected with theirs.

Doing the whole correction once for each comparison takes the square of their number; here all that share a
smallest p are done at once.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evenhand.arrays import FloatArray, IntArray

# (others sorted, number of tests, the smallest p, where the own p stands among the sorted) -> corrected p
Best = Callable[[FloatArray, int, float, IntArray], FloatArray]


def best_corrected(p_values: FloatArray, attainable: FloatArray, how: str = "holm") -> FloatArray:
    """For each test: what `correct` makes of its smallest attainable p while all others stay as they are.

    A test whose own p is undefined is counted here, as it would have been had it come out clearly. A p below
    the attainable one (a normal approximation with ties may be) stands for it.

    >>> best_corrected(np.array([0.2, 0.01, 0.3]), np.full(3, 0.004)).round(6).tolist()
    [0.012, 0.012, 0.012]
    """
    least, undefined = np.fmin(p_values, attainable), np.isnan(p_values)
    known = np.sort(p_values[~undefined])
    place = np.searchsorted(known, p_values)  # undefined ones: past the end
    found = np.full_like(p_values, np.nan)
    for value, extra in set(zip(least.tolist(), undefined.tolist(), strict=True)):
        here = (least == value) & (undefined == extra)
        found[here] = np.minimum(BEST[how](known, len(known) + extra, value, place[here]), 1.0)
    return found


def _holm(known: FloatArray, tests: int, least: float, place: IntArray) -> FloatArray:
    """Only smaller p-values raise it, and the own one is none of them."""
    smaller = known[: np.searchsorted(known, least)]
    steps = (tests - np.arange(len(smaller))) * smaller
    return np.full(len(place), np.max(steps, initial=(tests - len(smaller)) * least))


def _benjamini_hochberg(known: FloatArray, tests: int, least: float, place: IntArray) -> FloatArray:
    """Only larger p-values lower it; those below the own p move up by one rank when it leaves its place."""
    first = int(np.searchsorted(known, least))  # where it stands now; never behind its old place
    rank = np.arange(1, len(known) + 1)
    moved = np.minimum.accumulate(tests * known[first:] / (rank[first:] + 1))
    stayed = np.minimum.accumulate((tests * known / rank)[::-1])[::-1]
    between = np.append(tests * least / (first + 1), moved)
    between = np.minimum.accumulate(between)[place - first]
    after = np.append(stayed, [np.inf, np.inf])[place + 1]
    return np.asarray(np.minimum(between, after), dtype=np.float64)


def _bonferroni(known: FloatArray, tests: int, least: float, place: IntArray) -> FloatArray:
    return np.full(len(place), tests * least)


def _alone(known: FloatArray, tests: int, least: float, place: IntArray) -> FloatArray:
    return np.full(len(place), least)


BEST: dict[str, Best] = {
    "holm": _holm,
    "benjamini-hochberg": _benjamini_hochberg,
    "bonferroni": _bonferroni,
    "none": _alone,
}

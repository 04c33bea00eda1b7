"""Which methods differ? Nemenyi's critical difference of mean ranks, and the groups that no test parts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from evenhand.arrays import FloatArray, as_array
from evenhand.errors import InputError
from evenhand.statistics.corrections import holm
from evenhand.statistics.outcome import ALPHA, NAN
from evenhand.statistics.paired import wilcoxon
from evenhand.statistics.ranks import Friedman, average_ranks, friedman


@dataclass(frozen=True)
class RankSummary:
    """Methods over problems, best mean rank first: everything that a critical-difference diagram shows.

    `cliques` are the largest sets of neighbours whose mean ranks are within the critical difference; all
    methods are one where Friedman's test shows nothing. Both are undefined where it is (see `words`).
    """

    methods: tuple[str, ...]
    mean_ranks: tuple[float, ...]
    friedman: Friedman
    critical_difference: float
    cliques: tuple[tuple[str, ...], ...]
    words: str

    def to_dict(self) -> dict[str, Any]:
        """The plain values, as a report keeps them: None where undefined."""

        def known(value: float) -> float | None:
            return value if math.isfinite(value) else None

        return {
            "methods": list(self.methods), "mean_ranks": [known(rank) for rank in self.mean_ranks],
            "problems": self.friedman.problems, "left_out": self.friedman.left_out,
            "friedman": {"statistic": known(self.friedman.statistic), "p": known(self.friedman.p),
                         "f": known(self.friedman.f), "f_p": known(self.friedman.f_p)},
            "critical_difference": known(self.critical_difference),
            "cliques": [list(clique) for clique in self.cliques], "words": self.words,
        }  # fmt: skip


def rank_methods(
    matrix: object, names: Sequence[str], better: str = "lower", ideal: float = 0.0, alpha: float = ALPHA
) -> RankSummary:
    """Mean ranks, Friedman's test, the critical difference and its groups, of values `[problems, methods]`.

    >>> values = [[1, 2, 3], [1, 2, 3], [1, 3, 2], [1, 2, 3], [1, 2, 3], [1, 2, 3]]
    >>> found = rank_methods(values, ["a", "b", "c"])
    >>> found.methods, round(found.critical_difference, 3), found.cliques
    (('a', 'b', 'c'), 1.353, (('a', 'b'), ('b', 'c')))
    """
    found = friedman(matrix, better, ideal)
    if len(found.mean_ranks) != len(names):
        raise InputError(f"there are {len(names)} names for {len(found.mean_ranks)} methods")
    order = np.argsort(found.mean_ranks, kind="stable")
    sorted_ranks = found.mean_ranks[order]
    width = critical_difference(len(names), found.problems, alpha) if found.reason is None else NAN
    ordered = tuple(names[place] for place in order)
    reach = width if not found.p > alpha else np.inf  # pairs are not looked at where the whole shows nothing
    groups = tuple(tuple(ordered[i] for i in clique) for clique in cliques(sorted_ranks, reach))
    means = tuple(float(rank) for rank in sorted_ranks)
    return RankSummary(ordered, means, found, width, groups, _words(found, alpha))


def critical_difference(methods: int, problems: int, alpha: float = ALPHA) -> float:
    """Nemenyi's (1963): two methods differ if their mean ranks are farther apart than q sqrt(k(k+1) / (6N)).

    q is the quantile of the studentized range of k methods (infinite degrees of freedom) over sqrt 2. NaN for
    fewer than 2 methods or 2 problems.

    >>> round(critical_difference(4, 30), 3)
    0.856
    """
    if methods < 2 or problems < 2:
        return NAN
    return _quantile(methods, alpha) * math.sqrt(methods * (methods + 1) / (6 * problems))


def nemenyi(matrix: object, better: str = "lower", ideal: float = 0.0) -> FloatArray:
    """P-values `[k, k]` of all pairs of methods by their mean ranks, the number of pairs allowed for.

    They depend on which other methods are in the table; `pairwise_wilcoxon` does not (Benavoli et al. 2016).

    >>> nemenyi([[1, 2, 3], [1, 2, 3], [1, 3, 2], [1, 2, 3]]).round(3).tolist()
    [[1.0, 0.181, 0.036], [0.181, 1.0, 0.759], [0.036, 0.759, 1.0]]
    """
    from scipy.stats import studentized_range

    found = friedman(matrix, better, ideal)
    mean, n, k = found.mean_ranks, found.problems, len(found.mean_ranks)
    if k < 2 or n < 2:
        return np.full((k, k), NAN)
    apart = np.abs(mean[:, None] - mean) / math.sqrt(k * (k + 1) / (6 * n))
    p = np.asarray(studentized_range.sf(apart * math.sqrt(2), k, np.inf), dtype=np.float64)
    return np.where(np.eye(k, dtype=bool), 1.0, np.clip(p, 0.0, 1.0))


def pairwise_wilcoxon(matrix: object) -> FloatArray:
    """P-values `[k, k]` of Wilcoxon's test over the problems, for all pairs of methods, corrected by Holm.

    A pair takes part with the problems on which both are defined.

    >>> values = [[0.1, 0.2], [0.2, 0.4], [0.3, 0.6], [0.4, 0.8], [0.5, 0.9], [0.6, 1.3]]
    >>> pairwise_wilcoxon(values).tolist()
    [[1.0, 0.03125], [0.03125, 1.0]]
    """
    values = np.asarray(as_array(matrix), dtype=np.float64)
    k = values.shape[1]
    rows, columns = np.triu_indices(k, 1)
    shared = [~np.isnan(values[:, [i, j]]).any(axis=1) for i, j in zip(rows, columns, strict=True)]
    p = [
        wilcoxon(values[both, i], values[both, j]).p if both.sum() >= 2 else NAN
        for i, j, both in zip(rows, columns, shared, strict=True)
    ]
    found = np.eye(k)
    found[rows, columns] = found[columns, rows] = holm(p)
    return found


def cliques(mean_ranks: object, width: float) -> list[list[int]]:
    """The largest sets of methods, 2 or more, whose mean ranks lie within the width; places, best first.

    >>> cliques([1.0, 1.5, 2.2, 3.3], 1.3)
    [[0, 1, 2], [2, 3]]
    """
    means = np.asarray(as_array(mean_ranks), dtype=np.float64)
    order = [place for place in np.argsort(means, kind="stable").tolist() if not math.isnan(means[place])]
    found: list[list[int]] = []
    end = 0
    for start in range(len(order)):
        reach = sum(bool(means[place] - means[order[start]] <= width) for place in order)
        if reach > end and reach - start >= 2:  # else it lies inside the one before
            found.append(order[start:reach])
        end = max(end, reach)
    return found


@lru_cache(maxsize=64)
def _quantile(methods: int, alpha: float) -> float:
    from scipy.stats import studentized_range

    return float(studentized_range.ppf(1 - alpha, methods, np.inf)) / math.sqrt(2)


def _words(found: Friedman, alpha: float) -> str:
    if found.reason:
        return f"cannot tell: {found.reason}"
    count = f"{found.problems} problems"
    if found.attainable > alpha:
        return f"cannot tell: {count} are too few for so many methods (p is at least {found.attainable:.2g})"
    if found.p > alpha:
        return f"no difference between the methods is shown over {count} (p = {found.p:.2g})"
    return f"the methods differ over {count} (p = {found.p:.2g})"


__all__ = ["RankSummary", "average_ranks", "cliques", "critical_difference", "nemenyi", "pairwise_wilcoxon",
           "rank_methods"]  # fmt: skip

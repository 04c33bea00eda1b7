"""Which rows a multi-label task loses so that no label is much more frequent in one group than in another.

A row counts for each of its labels, so no count can be set for one label alone. Rows are taken away one by
one, the most useful first; then those that turn out not to have been needed are put back.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from evenhand.arrays import Array, IntArray


def rows_within(y: Array, g: IntArray, n_groups: int, ratio: float, rank: IntArray) -> Array:
    """A mask of the rows that are kept: for every label, no group has more than `ratio` times another's rows.

    y `[N, L]` holds 0 and 1, g `[N]` groups (-1: counted nowhere and kept), rank `[N]` a permutation that
    decides between equals. With c[g, l] the rows of group g that have label l, the end is
    max_g c[g, l] <= ratio * min_g c[g, l] for all l. A row is worth the number of labels in which its group
    has too many, less `ratio` for each label in which its group has fewest and none to spare: one row less
    there takes `ratio` rows of the others with it.

    >>> y = np.array([[1, 0], [1, 0], [1, 1], [1, 1], [0, 1]])
    >>> rows_within(y, np.array([0, 0, 0, 1, 1]), 2, 1.0, np.arange(5)).tolist()
    [False, False, True, True, False]
    """
    state = _State(y, g, n_groups, Fraction(str(ratio)), rank)
    taken = []
    while (row := state.most_useful()) is not None:
        state.take(row)
        taken.append(row)
    state.put_back(taken[::-1])
    return state.kept


class _State:
    """Counts, what a row is worth, and which rows are left; all in whole numbers, so that ties are ties."""

    def __init__(self, y: Array, g: IntArray, n_groups: int, ratio: Fraction, rank: IntArray) -> None:
        self.y, self.g, self.ratio, self.n = np.asarray(y) > 0, g, ratio, len(y)
        self.kept = np.ones(self.n, dtype=bool)
        self.counts = np.stack([self.y[g == group].sum(axis=0, dtype=np.int64) for group in range(n_groups)])
        self.members = [
            [np.flatnonzero(self.y[:, label] & (g == group)) for label in range(self.y.shape[1])]
            for group in range(n_groups)
        ]
        self.over, self.worth = self._weights(self.counts)
        known = np.where(g < 0, 0, g)
        self.helps = np.where(g < 0, 0, np.einsum("nl,nl->n", self.y, self.over[known], dtype=np.int64))
        worth = np.einsum("nl,nl->n", self.y, self.worth[known], dtype=np.int64)
        self.value = worth * self.n + rank  # the rank decides only where worths are equal

    def _weights(self, counts: IntArray) -> tuple[Array, IntArray]:
        """For each group and label: whether the group has too many rows, and what a row less is worth."""
        least, most = counts.min(axis=0), counts.max(axis=0)
        over = counts > self._allowed(least)
        tight = (counts == least) & (most > self._allowed(least - 1))
        return over, over * self.ratio.denominator - tight * self.ratio.numerator

    def _allowed(self, least: IntArray) -> IntArray:
        """The whole number of rows that a group may have where the smallest has `least`."""
        found: IntArray = self.ratio.numerator * least // self.ratio.denominator
        return found

    def most_useful(self) -> int | None:
        """The row that is best taken away, or None where every label is within the bound."""
        if not self.over.any():
            return None
        candidates = np.flatnonzero(self.helps > 0)  # rows that were taken help no more
        return int(candidates[self.value[candidates].argmax()])

    def take(self, row: int) -> None:
        """Leave a row out; only the labels that it has are looked at again."""
        labels = np.flatnonzero(self.y[row])
        self.kept[row] = False
        self.helps[row] = -self.y.shape[1]  # and whatever is added later stays below 1
        self.counts[self.g[row], labels] -= 1
        over, worth = self._weights(self.counts[:, labels])
        more_over = over.astype(np.int64) - self.over[:, labels]
        more_worth = worth - self.worth[:, labels]
        for group, place in zip(*np.nonzero(more_worth), strict=True):
            there = self.members[group][labels[place]]
            self.value[there] += more_worth[group, place] * self.n
            self.helps[there] += more_over[group, place]
        self.over[:, labels], self.worth[:, labels] = over, worth

    def put_back(self, rows: list[int]) -> None:
        """Take rows in again, as long as some can be: no label may be beyond the bound by them."""
        waiting = rows
        while waiting:
            left = [row for row in waiting if not self._fits(row)]
            if len(left) == len(waiting):
                return
            waiting = left

    def _fits(self, row: int) -> bool:
        labels, group = self.y[row], self.g[row]
        counts = self.counts[:, labels]
        counts[group] += 1
        fits = bool((counts.max(axis=0) <= self._allowed(counts.min(axis=0))).all())
        if fits:
            self.counts[:, labels] = counts
            self.kept[row] = True
        return fits

"""Multi-label rows, kept whole for the bootstrap: the labels of one row are drawn together.

A table for each label forgets which labels belong to the same row. Drawing the tables one by one would treat
the labels as independent, and the interval of a mean over labels would come out too narrow. So the distinct
rows (group, all labels, all predictions) are kept, and a replicate draws those.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.metrics.resample import Resampling

BLOCK = 1 << 14  # distinct rows turned into table cells at once
MOST_PRODUCTS = 1 << 33  # multiplications spent on replicates; beyond it there are fewer of them
FEWEST = 100


@dataclass(frozen=True)
class LabelRows:
    """M distinct rows: group (`n_groups` = unknown), labels and predictions `[M, L]`, and how many of each.

    >>> y = np.array([[1, 0], [1, 0], [0, 1]])
    >>> LabelRows.from_rows(y, y, np.array([0, 0, 1]), 2).rows.tolist()
    [2, 1]
    """

    group: Array = field(repr=False)
    truth: Array = field(repr=False)
    prediction: Array = field(repr=False)
    rows: Array = field(repr=False)
    weight: FloatArray = field(repr=False)
    n_groups: int

    @classmethod
    def from_rows(
        cls, y: Array, p: Array, g: Array, n_groups: int, weights: Array | None = None
    ) -> LabelRows:
        """Distinct rows of coded arrays, sorted by group."""
        ids = np.where(g < 0, n_groups, g)
        packed = np.concatenate(
            [
                ids.astype(">u4").view(np.uint8).reshape(len(g), 4),
                np.packbits(y.astype(bool), axis=1),
                np.packbits(p.astype(bool), axis=1),
            ],
            axis=1,
        )
        keys = np.ascontiguousarray(packed).view(f"V{packed.shape[1]}").ravel()
        _, first, place = np.unique(keys, return_index=True, return_inverse=True)
        rows = np.bincount(place)
        total = np.bincount(place, weights).astype(np.float64)
        return cls(ids[first], y[first], p[first], rows, total, n_groups)

    def replicates(self, wanted: int) -> int:
        """How many replicates are affordable."""
        cost = len(self.rows) * int(self.truth.shape[1]) * (self.n_groups + 1) * 4
        return max(min(wanted, FEWEST), min(wanted, MOST_PRODUCTS // max(cost, 1)))

    def draw(self, replicates: int, rng: np.random.Generator, how: Resampling = "stratified") -> Array:
        """Cells `[R, L, G + 1, 2, 2]` of resampled rows; `stratified` keeps the size of every group."""
        drawn = np.zeros((replicates, len(self.rows)))
        strata = self.group if how == "stratified" else np.zeros_like(self.group)
        for stratum in np.unique(strata):
            inside = np.flatnonzero(strata == stratum)
            if len(inside):
                part = self.rows[inside]
                drawn[:, inside] = rng.multinomial(part.sum(), part / part.sum(), size=replicates)
        return self._cells(drawn * (self.weight / self.rows))

    def deal(self, replicates: int, rng: np.random.Generator) -> Array:
        """Cells of replicates in which the groups are dealt at random among the rows of known group."""
        known = np.flatnonzero(self.group < self.n_groups)
        labels = self.truth.shape[1]
        out = np.zeros((replicates, labels, self.n_groups + 1, 2, 2))
        out[:, :, -1] = self._cells(np.where(self.group == self.n_groups, self.weight, 0.0)[None])[:, :, -1]
        if not len(known):
            return out
        chances = self.rows[known] / self.rows[known].sum()
        mean = self.weight[known] / self.rows[known]
        for group in range(self.n_groups):
            size = int(self.rows[self.group == group].sum())
            weights = np.zeros((replicates, len(self.rows)))
            weights[:, known] = rng.multinomial(size, chances, size=replicates) * mean
            out[:, :, group] = self._cells(weights).sum(axis=2)
        return out

    def _cells(self, weights: FloatArray) -> Array:
        """Tables of weighted distinct rows `[R, M]`: a matrix product with the cells each row falls into."""
        labels, groups = self.truth.shape[1], self.n_groups + 1
        out = np.zeros((len(weights), labels * groups * 4))
        for first in range(0, len(self.rows), BLOCK):
            part = slice(first, first + BLOCK)
            cell = (self.group[part, None] * 2 + self.truth[part]) * 2 + self.prediction[part]
            column = np.arange(labels) * groups * 4 + cell
            falls = np.zeros((len(cell), out.shape[1]))
            np.put_along_axis(falls, column, 1.0, axis=1)
            out += weights[:, part] @ falls
        return out.reshape(len(weights), labels, groups, 2, 2)

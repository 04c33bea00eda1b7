"""Two models on the same rows: the distinct (group, truth, prediction, prediction) and how often each occurs.

Both models see the same rows, so their errors move together from sample to sample. Resampling these joint
cells keeps that, and the interval of a difference is as narrow as it should be.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.metrics.margins import Margins
from evenhand.metrics.resample import weigh
from evenhand.metrics.sparse_cells import margins_of_cells

CHUNK = 1 << 22  # draws held at once: 32 MB
FEWEST_AT_ONCE = 32  # draws of very many cells: deviations are taken of those that are held
DENSE = 1 << 22  # joint codes up to which counting beats sorting


@dataclass(frozen=True)
class Joint:
    """M distinct cells of several models; `group` is `n_groups` where it is unknown.

    >>> y, other = np.array([0, 1, 1]), np.array([0, 0, 0])
    >>> joint = Joint.from_rows(y, [y, other], g=np.zeros(3, dtype=int), n_groups=1, n_classes=2)
    >>> joint.rows.tolist(), joint.predictions.tolist()
    ([1, 2], [[0, 1], [0, 0]])
    """

    group: Array = field(repr=False)
    truth: Array = field(repr=False)
    predictions: Array = field(repr=False)
    rows: Array = field(repr=False)
    weight: FloatArray = field(repr=False)
    n_groups: int
    n_classes: int
    square: FloatArray | None = field(default=None, repr=False)  # sums of squared weights, if rows have any

    @classmethod
    def from_rows(
        cls,
        y: Array,
        predictions: list[Array],
        g: Array,
        n_groups: int,
        n_classes: int,
        weights: Array | None = None,
    ) -> Joint:
        """Cells of coded rows; `weight` is the sum of weights in each (without any, the number of rows)."""
        code = np.where(g < 0, n_groups, g).astype(np.int64)
        for part in (y, *predictions):
            code = code * n_classes + part
        size = (n_groups + 1) * n_classes ** (1 + len(predictions))
        if size <= DENSE:
            cells = np.flatnonzero(np.bincount(code, minlength=size))
            lookup = np.zeros(size, dtype=np.int64)
            lookup[cells] = np.arange(len(cells))
            place = lookup[code]
        else:
            cells, place = np.unique(code, return_inverse=True)
        rows = np.bincount(place, minlength=len(cells))
        total = np.bincount(place, weights, minlength=len(cells)).astype(np.float64)
        square = None
        if weights is not None:
            square = np.bincount(place, np.square(weights), minlength=len(cells)).astype(np.float64)
        group, truth, *guesses = _decode(cells, n_classes, 1 + len(predictions))
        return cls(group, truth, np.stack(guesses), rows, total, n_groups, n_classes, square)

    def draw(self, replicates: int, rng: np.random.Generator) -> Iterator[FloatArray]:
        """Bootstrap weights `[r, M]` in chunks, the size of every group kept.

        Drawn rows of a cell weigh as much as so many of its rows would: their mean, and their variance.
        """
        edges = np.searchsorted(self.group, np.arange(self.n_groups + 2))
        mean = self.weight / self.rows
        spread = None if self.square is None else np.maximum(self.square / self.rows - mean * mean, 0.0)
        at_once = min(replicates, max(FEWEST_AT_ONCE, CHUNK // max(len(self.rows), 1)))
        for first in range(0, replicates, at_once):
            out = np.empty((min(at_once, replicates - first), len(self.rows)))
            for start, stop in pairwise(edges):
                if stop > start:
                    part = self.rows[start:stop]
                    size = round(float(part.sum()))  # rows of smoothed cells are no whole numbers
                    out[:, start:stop] = rng.multinomial(size, part / part.sum(), size=len(out))
            yield out * mean if spread is None else weigh(mean, spread, out, rng)

    def margins(self, model: int, weights: FloatArray | None = None) -> Margins:
        """Margins `[..., K, G + 1]` of one model, the unknown group last; of `weights [..., M]` if given."""
        w = self.weight if weights is None else weights
        guess = self.predictions[model]
        return margins_of_cells(self.group, self.truth, guess, w, self.n_groups + 1, self.n_classes)


def _decode(cells: Array, n_classes: int, digits: int) -> list[Array]:
    parts = []
    for _ in range(digits):
        cells, digit = np.divmod(cells, n_classes)
        parts.append(digit)
    return [cells, *reversed(parts)]

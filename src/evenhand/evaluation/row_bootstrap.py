"""Error rates of several models on the same rows, resampled: what another sample of rows would have shown.

All models are counted on the same drawn rows, so that a difference between two of them, or a mean over runs,
has the interval that belongs to it. Only errors are counted anew (FN by true class, FP by predicted class);
how many rows a class and a group have is the same for every model.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from evenhand.arrays import Array, FloatArray, IntArray
from evenhand.metrics.undefined import divide

CHUNK = 1 << 23  # drawn weights held at once: 32 MB
MOST_RATES = 1 << 24  # rates held of one model over all replicates; beyond this there are fewer of them
FEWEST = 50


@dataclass(frozen=True)
class Rates:
    """FPR, FNR and accuracy; replicate 0 is the sample itself, the last group all rows together."""

    fpr: FloatArray = field(repr=False)  # [B + 1, R, G + 1, K]
    fnr: FloatArray = field(repr=False)
    accuracy: FloatArray = field(repr=False)  # [B + 1, R, G + 1]


@dataclass(frozen=True)
class RowBootstrap:
    """Rows with their classes `y` and groups (`ids`, -1 unknown), drawn `replicates` times within each group.

    >>> y, ids = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    >>> found = RowBootstrap(y, ids, 2, 2, replicates=0).rates(np.array([[0, 1, 1, 1]]))
    >>> found.fnr[0, 0].tolist()  # of the first group, the second, and all rows
    [[0.0, 0.0], [1.0, 0.0], [0.5, 0.0]]
    >>> found.accuracy[0, 0].tolist()
    [1.0, 0.5, 0.75]
    """

    y: Array = field(repr=False)
    ids: Array = field(repr=False)
    n_classes: int
    n_groups: int
    replicates: int = 400
    seed: int = 0
    weights: Array | None = field(default=None, repr=False)

    def rates(self, labels: Array) -> Rates:
        """The rates of runs `labels [R, N]`, on the rows and on every draw of them."""
        runs = np.atleast_2d(labels)
        missed, taken = [], []
        for run in runs:
            wrong = np.flatnonzero(run != self.y)
            missed.append(self._counted(wrong, self.y[wrong]))
            taken.append(self._counted(wrong, run[wrong]))
        fn, fp = (np.stack(parts, axis=1) for parts in (missed, taken))
        actual = self._actual[:, None]
        rows = actual.sum(axis=-1, keepdims=True)
        return Rates(
            divide(fp, rows - actual), divide(fn, actual), 1.0 - divide(fn.sum(axis=-1), rows[..., 0])
        )

    @cached_property
    def _actual(self) -> FloatArray:
        return self._counted(np.arange(len(self.y)), self.y)

    def _counted(self, rows: IntArray, classes: Array) -> FloatArray:
        """Weight by group and class of these rows on every draw, `[B + 1, G + 1, K]`."""
        from scipy.sparse import csr_matrix

        groups, own = self.ids[rows].astype(np.int64), np.arange(len(rows))
        classes = classes.astype(np.int64)  # codes of a file are as small as they can be, cells are not
        known = groups >= 0
        cells = np.concatenate([groups[known] * self.n_classes + classes[known], self._last + classes])
        shape = (self._last + self.n_classes, len(rows))
        places = (cells, np.concatenate([own[known], own]))
        chosen = csr_matrix((np.ones(len(cells), dtype=np.float32), places), shape=shape)
        parts = [(chosen @ drawn[rows]).T for drawn in self._drawn]
        return np.concatenate(parts).reshape(-1, self.n_groups + 1, self.n_classes).astype(np.float64)

    @property
    def _last(self) -> int:
        """Where the cells of all rows together begin, behind those of the groups."""
        return self.n_groups * self.n_classes

    @cached_property
    def _drawn(self) -> list[FloatArray]:
        """How often every row is drawn, times its weight, `[N, b]` in chunks; the rows as they are first."""
        rng, n = np.random.default_rng(self.seed), len(self.y)
        own = np.ones(n) if self.weights is None else np.asarray(self.weights, dtype=np.float64)
        strata = [np.flatnonzero(self.ids == group) for group in range(-1, self.n_groups)]
        found: list[FloatArray] = [own[:, None]]
        left, most = self._affordable(), max(1, CHUNK // max(n, 1))
        while left > 0:
            drawn = np.zeros((min(left, most), n), dtype=np.float32)
            for rows in strata:
                for one in drawn if len(rows) else ():
                    picked = rng.integers(0, len(rows), len(rows))
                    one[rows] = np.bincount(picked, minlength=len(rows))
            found.append(np.ascontiguousarray((drawn * own).T, dtype=np.float32))
            left -= len(drawn)
        return found

    def _affordable(self) -> int:
        size = (self.n_groups + 1) * self.n_classes
        return max(min(self.replicates, FEWEST), min(self.replicates, MOST_RATES // size))


def reach_of(
    values: FloatArray, confidence: float = 0.95, within: tuple[float, float] = (-np.inf, np.inf)
) -> tuple[FloatArray, FloatArray]:
    """The ends of the interval around `values[0]`, from how far the draws `values[1:]` lie from it.

    The ends stay `within` what is possible. NaN where more than half of the draws are undefined, or where
    there are none.

    >>> low, high = reach_of(np.array([[0.5], [0.4], [0.55], [0.5]]), 0.9)
    >>> round(low.item(), 3), round(high.item(), 3)
    (0.41, 0.59)
    """
    value, drawn = values[0], np.abs(values[1:] - values[0])
    if not len(drawn):
        return np.full_like(value, np.nan), np.full_like(value, np.nan)
    count = np.isfinite(drawn).sum(axis=0)
    ordered = np.sort(np.where(np.isfinite(drawn), drawn, np.inf), axis=0)  # what is undefined comes last
    place = confidence * np.maximum(count - 1, 0)
    lower, upper = np.floor(place).astype(np.int64), np.ceil(place).astype(np.int64)
    ends = [np.take_along_axis(ordered, at[None], axis=0)[0] for at in (lower, upper)]
    usable = (count > len(drawn) / 2) & np.isfinite(value)
    ends = [np.where(usable, end, 0.0) for end in ends]
    reach = np.where(usable, ends[0] + (place - lower) * (ends[1] - ends[0]), np.nan)
    return np.clip(value - reach, *within), np.clip(value + reach, *within)

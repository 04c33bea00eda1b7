"""The one-vs-rest layer: for each class (or label) and group, how many were hit, predicted and there.

Nearly every metric of the catalogue needs no more than these four numbers, so they are written once for
binary, multi-class and multi-label tasks, and for any number of leading axes (runs, thresholds, bootstrap
replicates).
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from evenhand.arrays import Array

ROUNDING = 1e-12  # differences of weights below this share of the whole are rounding


@dataclass(frozen=True)
class Margins:
    """Arrays `[..., K, G]`: K classes of a multi-class task (or K labels of a multi-label one), G groups.

    `exclusive` says that a row belongs to exactly one of the K classes; a binary task has K = 2.

    >>> from evenhand.metrics.counts import Counts
    >>> margins = Counts.from_predictions([0, 1, 1, 0], [0, 1, 0, 1], [0, 0, 1, 1]).margins()
    >>> margins.tp[1].tolist(), margins.fn[1].tolist()
    ([1, 0], [0, 1])
    """

    tp: Array
    predicted: Array
    actual: Array
    n: Array
    exclusive: bool = field(default=True, kw_only=True)

    @property
    def fp(self) -> Array:
        """Predicted as the class, but not of it."""
        return self._rest(self.predicted - self.tp)

    @property
    def fn(self) -> Array:
        """Of the class, but not predicted as it."""
        return self._rest(self.actual - self.tp)

    @property
    def tn(self) -> Array:
        """Neither of the class nor predicted as it."""
        return self._rest(self.n - self.predicted - self.actual + self.tp)

    @property
    def negatives(self) -> Array:
        """Rows that are not of the class."""
        return self._rest(self.n - self.actual)

    @property
    def rejected(self) -> Array:
        """Rows that are not predicted as the class."""
        return self._rest(self.n - self.predicted)

    def _rest(self, difference: Array) -> Array:
        """What rounding leaves of a difference of weights is nothing: no rows must not become a few."""
        if difference.dtype.kind != "f":
            return difference
        return np.where(np.abs(difference) <= ROUNDING * self.n, 0.0, difference)

    @property
    def binary(self) -> bool:
        """Two classes that exclude each other: class 1 is the positive one."""
        return self.exclusive and self.tp.shape[-2] == 2

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return int(self.tp.shape[-1])

    @cached_property
    def pooled(self) -> Margins:
        """All groups together: G = 1."""
        return self._each(lambda array: array.sum(axis=-1, keepdims=True))

    def groups(self, index: Any) -> Margins:
        """The chosen groups only, e.g. those large enough to be compared."""
        return self._each(lambda array: array[..., index])

    def _each(self, function: Any) -> Margins:
        arrays = {f.name: function(getattr(self, f.name)) for f in fields(self) if f.name != "exclusive"}
        return replace(self, **arrays)


def margins_of_tables(table: Array, *, multilabel: bool) -> Margins:
    """One-vs-rest margins of tables `[..., G, C, C]` (multi-label: `[..., L, G, 2, 2]`)."""
    if multilabel:  # the labels already stand where the classes go; only "present" is scored
        n = table.sum(axis=(-2, -1))
        return Margins(
            table[..., 1, 1], table[..., :, 1].sum(-1), table[..., 1, :].sum(-1), n, exclusive=False
        )
    tp = np.diagonal(table, axis1=-2, axis2=-1)
    predicted, actual = table.sum(axis=-2), table.sum(axis=-1)
    n = np.broadcast_to(actual.sum(axis=-1, keepdims=True), actual.shape)
    return Margins(*(np.swapaxes(array, -1, -2) for array in (tp, predicted, actual, n)))


def margins_of_everyone(cells: Array, multilabel: bool) -> Margins:
    """Margins of all rows together, those of unknown group included: `cells [..., G + 1, C, C]`."""
    return margins_of_tables(cells.sum(axis=-3, keepdims=True), multilabel=multilabel)

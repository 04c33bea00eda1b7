"""Counts: how many rows of each group have which truth and which prediction.

A `[group, truth, prediction]` table is exact, adds over batches, processes and devices, stacks over runs and
thresholds, is tiny to store, and every count metric is a function of it. Group ids are fixed by the caller,
so a batch that lacks a group cannot shift the others, and rows whose group is unknown keep a place of their
own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from evenhand.arrays import Array, as_array, as_codes
from evenhand.metrics.coded_rows import coded_rows, number_of, weight_sums
from evenhand.metrics.margins import Margins, margins_of_tables
from evenhand.metrics.tally import tally


@dataclass(frozen=True, eq=False)
class Counts:
    """Immutable tables `[..., G, C, C]` (group, truth, prediction); multi-label `[..., L, G, 2, 2]`.

    `cells` holds one group row more than `table`: the last one counts the rows of unknown group.
    Weighted counts also keep the number of rows and the sum of squared weights of each cell, which the
    bootstrap needs.

    >>> counts = Counts.from_predictions([0, 1, 1, 0], [0, 1, 0, 0], [0, 0, 1, -1], n_groups=2)
    >>> counts.table.tolist()
    [[[1, 0], [0, 1]], [[0, 0], [1, 0]]]
    >>> counts.unknown.tolist()
    [[1, 0], [0, 0]]
    """

    cells: Array
    row_cells: Array | None = None
    square_cells: Array | None = None
    multilabel: bool = field(default=False, kw_only=True)

    # -- making ------------------------------------------------------------------------------------------
    @classmethod
    def from_predictions(
        cls,
        y_true: object,
        y_pred: object,
        groups: object,
        n_classes: int | None = None,
        n_groups: int | None = None,
        weights: object | None = None,
    ) -> Counts:
        """Count codes 0, 1, 2, ...: `y_true [N]`, `y_pred [N]` or one row a run `[R, N]`, `groups [N]`.

        A two-dimensional `y_true [N, L]` is multi-label: `y_pred [N, L]` or `[R, N, L]`. Groups may be -1
        (unknown). Give `n_classes` and `n_groups` when counting batch by batch.

        >>> Counts.from_predictions([0, 1], [[0, 1], [1, 1]], [0, 1]).table.shape
        (2, 2, 2, 2)
        """
        y, p, g = coded_rows(y_true, y_pred, getattr(groups, "ids", groups))
        multilabel = y.ndim == 2
        n_groups = n_groups if n_groups is not None else getattr(groups, "n_groups", None)
        n_groups = number_of(n_groups, [g], least=1)
        n_classes = 2 if multilabel else number_of(n_classes, [y, p], least=2)
        kinds = weight_sums(weights, g)
        labels = [(y[:, label], p[..., label]) for label in range(y.shape[1])] if multilabel else [(y, p)]
        tables = [_count_runs(truth, guess, g, n_groups, n_classes, kinds) for truth, guess in labels]
        stacked = [np.stack(kind, axis=-4) if multilabel else kind[0] for kind in zip(*tables, strict=True)]
        if kinds:  # rows were counted as a sum of ones
            stacked[1] = np.rint(stacked[1]).astype(np.int64)
        return cls(*stacked, multilabel=multilabel)

    @classmethod
    def from_table(cls, table: object, unknown: object | None = None, multilabel: bool = False) -> Counts:
        """Counts of a ready table `[..., G, C, C]`.

        >>> Counts.from_table([[[8, 2], [1, 9]]]).n_classes
        2
        """
        known = as_array(table)
        extra = np.zeros_like(known[..., :1, :, :]) if unknown is None else as_array(unknown)[..., None, :, :]
        return cls(np.concatenate([known, extra], axis=-3), multilabel=multilabel)

    @classmethod
    def from_cells(
        cls,
        group: Array,
        truth: Array,
        prediction: Array,
        count: Array,
        *,
        n_groups: int,
        n_classes: int,
        rows: Array | None = None,
        squares: Array | None = None,
        leading: Array | None = None,
        n_leading: int = 0,
    ) -> Counts:
        """Counts of sparse cells, such as a GROUP BY returns; group -1 is unknown.

        `leading` (with `n_leading`) puts the cells of several runs into one stack.

        >>> one = np.array([1])
        >>> Counts.from_cells(np.array([-1]), one, one, np.array([7]), n_groups=1, n_classes=2).unknown[1, 1]
        np.int64(7)
        """
        shape: tuple[int, ...] = (n_groups + 1, n_classes, n_classes)
        place = [np.where(group < 0, n_groups, group), truth, prediction]
        if leading is not None:
            shape, place = (n_leading, *shape), [leading, *place]
        index = tuple(as_codes(values, "cells") for values in place)
        return cls(
            *(_scatter(shape, index, values) for values in (count, rows, squares) if values is not None)
        )

    @classmethod
    def stack(cls, parts: Sequence[Counts]) -> Counts:
        """One more leading axis: several runs, models or thresholds side by side."""
        return cls(
            *(np.stack(kind) for kind in zip(*(part._kinds for part in parts), strict=True)),
            multilabel=parts[0].multilabel,
        )

    @classmethod
    def merge(cls, parts: Iterable[Counts]) -> Counts:
        """The sum of the parts: batches, processes, devices."""
        found = list(parts)
        if not found:
            raise ValueError("there is nothing to merge: no parts were given")
        return sum(found[1:], found[0])

    # -- reading -----------------------------------------------------------------------------------------
    @property
    def table(self) -> Array:
        """`[..., G, C, C]`: the rows of known group."""
        return self.cells[..., :-1, :, :]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """`np.asarray(counts)` is the table."""
        return np.array(self.table, dtype=dtype, copy=copy)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the table."""
        return self.table.shape

    @property
    def unknown(self) -> Array:
        """`[..., C, C]`: the rows whose group is unknown."""
        return self.cells[..., -1, :, :]

    @property
    def rows(self) -> Array:
        """Number of rows (not of weight) in each cell, `[..., G + 1, C, C]`."""
        return self.cells if self.row_cells is None else self.row_cells

    @property
    def weighted(self) -> bool:
        """Whether the cells are sums of weights."""
        return self.row_cells is not None

    @property
    def n_groups(self) -> int:
        """Number of groups, the unknown one not among them."""
        return int(self.cells.shape[-3]) - 1

    @property
    def n_classes(self) -> int:
        """Number of classes; of labels when multi-label."""
        return int(self.cells.shape[-4] if self.multilabel else self.cells.shape[-1])

    def margins(self) -> Margins:
        """The one-vs-rest layer of the known groups, on which the rates are written."""
        return self._margins

    @cached_property
    def _margins(self) -> Margins:
        return margins_of_tables(self.table, multilabel=self.multilabel)

    @property
    def _kinds(self) -> tuple[Array, ...]:
        return tuple(kind for kind in (self.cells, self.row_cells, self.square_cells) if kind is not None)

    # -- combining ---------------------------------------------------------------------------------------
    def __add__(self, other: Counts) -> Counts:
        if not isinstance(other, Counts):
            return NotImplemented
        if self.cells.shape != other.cells.shape or self.multilabel != other.multilabel:
            mine, theirs = (
                f"{part.n_groups} groups and {part.n_classes} classes, {part.table.shape},"
                for part in (self, other)
            )
            raise ValueError(
                f"counts of {mine} cannot be added to counts of {theirs}: every part needs the same n_groups "
                "and n_classes"
            )
        if self.weighted != other.weighted:
            raise ValueError("weighted and unweighted counts cannot be added: weight every part, or none")
        return Counts(
            *(a + b for a, b in zip(self._kinds, other._kinds, strict=True)), multilabel=self.multilabel
        )

    def __radd__(self, other: Any) -> Counts:
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __getitem__(self, index: Any) -> Counts:
        return Counts(*(kind[index] for kind in self._kinds), multilabel=self.multilabel)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Counts)
            and self.multilabel == other.multilabel
            and len(self._kinds) == len(other._kinds)
            and all(np.array_equal(a, b) for a, b in zip(self._kinds, other._kinds, strict=True))
        )

    __hash__ = None  # type: ignore[assignment]  # a table of numbers, compared by value


def _count_runs(y: Any, p: Any, g: Any, n_groups: int, n_classes: int, kinds: list[Any]) -> list[Array]:
    if p.ndim == 1:
        return tally(g, y, p, n_groups, n_classes, kinds)
    runs = [tally(g, y, run, n_groups, n_classes, kinds) for run in p]
    return [np.stack(kind) for kind in zip(*runs, strict=True)]


def _scatter(shape: tuple[int, ...], index: tuple[Array, ...], values: Array) -> Array:
    flat = np.ravel_multi_index(index, shape)
    values = as_array(values)
    table = np.zeros(int(np.prod(shape)), dtype=np.float64 if values.dtype.kind == "f" else np.int64)
    np.add.at(table, flat, values)
    return table.reshape(shape)

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

from evenhand.arrays import Array, as_array, as_codes, is_torch
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
        y, p, g = (
            _codes(values, what)
            for values, what in (
                (y_true, "labels"),
                (y_pred, "predictions"),
                (getattr(groups, "ids", groups), "groups"),
            )
        )
        multilabel = y.ndim == 2
        _check_shapes(y, p, g)
        n_groups = n_groups if n_groups is not None else getattr(groups, "n_groups", None)
        n_classes = 2 if multilabel else _limit(n_classes, y, p, "classes")
        kinds = _weight_kinds(weights, len(g), g)
        labels = [(y[:, label], p[..., label]) for label in range(y.shape[1])] if multilabel else [(y, p)]
        n_groups = _limit(n_groups, g, g, "groups")
        tables = [_count_runs(truth, guess, g, n_groups, n_classes, kinds) for truth, guess in labels]
        stacked = [np.stack(kind, axis=-4) if multilabel else kind[0] for kind in zip(*tables, strict=True)]
        if kinds:
            stacked[1] = np.rint(stacked[1]).astype(
                np.int64
            )  # counted as a sum of ones, but a number of rows
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
        return sum(parts)  # type: ignore[return-value]  # 0 + Counts is Counts, see __radd__

    # -- reading -----------------------------------------------------------------------------------------
    @property
    def table(self) -> Array:
        """`[..., G, C, C]`: the rows of known group."""
        return self.cells[..., :-1, :, :]

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
        if self.cells.shape[-3:] != other.cells.shape[-3:] or self.multilabel != other.multilabel:
            raise ValueError(
                f"counts of {self.n_groups} groups and {self.n_classes} classes cannot be added to counts of "
                f"{other.n_groups} and {other.n_classes}: give every part the same n_groups and n_classes"
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


def _codes(values: object, what: str) -> Any:
    """Whole-number codes; a torch tensor stays where it is."""
    return values if is_torch(values) else as_codes(values, what)


def _check_shapes(y: Array, p: Array, g: Array) -> None:
    if y.ndim not in (1, 2) or g.ndim != 1 or p.ndim not in (y.ndim, y.ndim + 1):
        raise ValueError(
            f"labels {tuple(y.shape)}, predictions {tuple(p.shape)} and groups {tuple(g.shape)} do not fit: "
            "labels and groups have one entry a row, predictions one (or one row of them for each run)"
        )
    lengths = (y.shape[0], p.shape[-y.ndim], g.shape[0])
    if len(set(lengths)) > 1:
        raise ValueError(
            "labels, predictions and groups have different lengths: {}, {} and {}".format(*lengths)
        )


def _limit(given: int | None, first: Array, second: Array, what: str) -> int:
    """The given number of codes, or one more than the largest that occurs (at least 2 classes)."""
    if given is not None:
        return given
    floor = 2 if what == "classes" else 1
    return max([floor, *(int(codes.max()) + 1 for codes in (first, second) if len(codes.reshape(-1)))])


def _weight_kinds(weights: object | None, rows: int, like: object) -> list[Any]:
    """The three sums of a weighted table: of weights, of rows, of squared weights; none when unweighted."""
    if weights is None:
        return []
    w: Any
    if is_torch(like):
        import torch

        w = torch.as_tensor(weights, dtype=torch.float64, device=like.device)
        checked, ones = w.detach().cpu().numpy(), torch.ones_like(w)
    else:
        w = checked = as_array(weights).astype(np.float64)
        ones = np.ones_like(w)
    if checked.shape != (rows,):
        raise ValueError(f"{checked.size} weights for {rows} rows")
    if not bool(np.all(np.isfinite(checked) & (checked >= 0))):
        row = int(np.argmax(~(np.isfinite(checked) & (checked >= 0))))
        raise ValueError(f"weight {checked[row]} in row {row}: weights must be finite and not negative")
    return [w, ones, w * w]


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

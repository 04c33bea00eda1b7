"""Scores: how the scores of each group and label are spread over equal-width bins of [0, 1].

The score counterpart of `Counts`: a histogram adds over batches, processes and files, stacks over runs and
labels, and is a few hundred kilobytes for any number of rows. Each cell keeps its weight, the sum of its
scores and the sum of their squares, so mean score, Brier score and calibration error lose nothing to the
binning; AUC and average precision treat the scores of one bin as tied (see `evenhand.metrics.binned`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from evenhand.arrays import Array, as_array, as_codes
from evenhand.metrics.score_cells import draw_cells, tally_scores
from evenhand.metrics.score_rows import GRID

MOST_CELLS = 1 << 24  # 16.8 million cells are 0.4 GB: beyond that the bins are halved


@dataclass(frozen=True, eq=False)
class Scores:
    """Immutable histograms `[..., G + 1, 2, B]` (group, label, bin); the last group is the unknown one.

    `per_label` says that the axis before the groups runs over K classes or labels, one against the rest.
    Weighted scores also keep rows and squared weights of each cell, which the bootstrap needs.

    >>> scores = Scores.from_scores([1, 0, 1], [0.9, 0.2, 1.0], [0, 0, -1], n_groups=1, bins=10)
    >>> scores.cells[0].tolist()
    [[0, 0, 1, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0, 1]]
    >>> scores.n_unknown.item()
    1
    """

    cells: Array
    score_cells: Array
    score_square_cells: Array
    row_cells: Array | None = None
    square_cells: Array | None = None
    per_label: bool = field(default=False, kw_only=True)

    # -- making ------------------------------------------------------------------------------------------
    @classmethod
    def from_scores(
        cls,
        y_true: object,
        scores: object,
        groups: object,
        n_groups: int | None = None,
        weights: object | None = None,
        bins: int | None = None,
        runs: bool = False,
    ) -> Scores:
        """Bin the scores of rows: `y_true [N]` of 0 and 1 with `scores [N]`, the score of label 1.

        `scores [N, K]` become K histograms, one against the rest: `y_true [N]` holds the class (multi-class)
        or `y_true [N, K]` the labels (multi-label). With `runs`, `scores` has one more axis in front. Groups
        are codes (-1 = unknown) or `Groups`. Default: 3840 bins, fewer where the histogram would be huge.

        >>> Scores.from_scores([0, 1, 2], np.eye(3), [0, 0, 1]).cells.shape
        (3, 3, 2, 3840)
        """
        values, y = as_array(scores), as_codes(y_true, "labels")
        g = as_codes(getattr(groups, "ids", groups), "groups")
        if n_groups is None:
            n_groups = _number_of_groups(groups, g)
        if runs:
            parts = [cls.from_scores(y, run, g, n_groups, weights, bins) for run in values]
            return cls.stack(parts)
        per_label = values.ndim == 2
        bins = bins or default_bins(n_groups, values.shape[1] if per_label else 1)
        kinds = tally_scores(y, values, g, None if weights is None else as_array(weights), n_groups, bins)
        return cls(*kinds, per_label=per_label)

    @classmethod
    def from_cells(
        cls,
        group: object,
        label: object,
        bin: object,
        count: object,
        sum_score: object,
        sum_square: object,
        *,
        n_groups: int,
        bins: int = GRID,
        rows: object | None = None,
        squares: object | None = None,
    ) -> Scores:
        """Scores of sparse cells, such as a GROUP BY returns; group -1 is unknown. One call for each label.

        `count` is the number of rows, or the sum of weights when `rows` and `squares` (of weights) are given.

        >>> cell = dict(group=[-1], label=[1], bin=[9], count=[2], sum_score=[1.9], sum_square=[1.81])
        >>> Scores.from_cells(**cell, n_groups=1, bins=10).n_unknown.item()
        2
        """
        g, shape = as_codes(group, "groups"), (n_groups + 1, 2, bins)
        index = (np.where(g < 0, n_groups, g), as_codes(label, "labels"), as_codes(bin, "bins"))
        flat = np.ravel_multi_index(index, shape)
        given = [values for values in (count, sum_score, sum_square, rows, squares) if values is not None]
        return cls(*(_scatter(flat, as_array(values), shape) for values in given))

    @classmethod
    def stack(cls, parts: Sequence[Scores], per_label: bool | None = None) -> Scores:
        """One more leading axis: runs or models; with `per_label`, the labels of one task."""
        kinds = [np.stack(kind) for kind in zip(*(part._kinds for part in parts), strict=True)]
        return cls(*kinds, per_label=parts[0].per_label if per_label is None else per_label)

    @classmethod
    def merge(cls, parts: Iterable[Scores]) -> Scores:
        """The sum of the parts: batches, processes, files."""
        return sum(parts)  # type: ignore[return-value]  # 0 + Scores is Scores, see __radd__

    # -- reading -----------------------------------------------------------------------------------------
    @property
    def n_groups(self) -> int:
        """Number of groups, the unknown one not among them."""
        return int(self.cells.shape[-3]) - 1

    @property
    def bins(self) -> int:
        """Number of equal-width bins."""
        return int(self.cells.shape[-1])

    @property
    def weighted(self) -> bool:
        """Whether the cells are sums of weights."""
        return self.row_cells is not None

    @property
    def rows(self) -> Array:
        """Number of rows (not of weight) in each cell."""
        return self.cells if self.row_cells is None else self.row_cells

    @property
    def n(self) -> Array:
        """Weight of each known group, `[..., G]`."""
        return np.asarray(self.cells[..., :-1, :, :].sum(axis=(-2, -1)))

    @property
    def n_unknown(self) -> Array:
        """Weight of the rows whose group is unknown, `[...]`."""
        return np.asarray(self.cells[..., -1, :, :].sum(axis=(-2, -1)))

    @cached_property
    def pooled(self) -> Scores:
        """All rows as one group, those of unknown group included."""
        return self._each(_pool)

    def only(self, groups: Array) -> Scores:
        """The chosen groups, and the rows of unknown group as before."""
        kept = np.append(groups, self.n_groups)
        return self._each(lambda kind: kind[..., kept, :, :])

    def coarsen(self, bins: int) -> Scores:
        """The same rows in fewer bins; `bins` must divide the present number."""
        if self.bins % bins:
            raise ValueError(
                f"{self.bins} bins cannot be joined into {bins}: choose a divisor of {self.bins}"
            )
        return self._each(lambda kind: kind.reshape(*kind.shape[:-1], bins, -1).sum(axis=-1))

    @property
    def _kinds(self) -> tuple[Array, ...]:
        kinds = (self.cells, self.score_cells, self.score_square_cells, self.row_cells, self.square_cells)
        return tuple(kind for kind in kinds if kind is not None)

    def _each(self, function: Callable[[Array], Array]) -> Scores:
        return Scores(*(function(kind) for kind in self._kinds), per_label=self.per_label)

    # -- combining ---------------------------------------------------------------------------------------
    def __add__(self, other: Scores) -> Scores:
        if not isinstance(other, Scores):
            return NotImplemented
        if self.cells.shape[-3:] != other.cells.shape[-3:] or self.per_label != other.per_label:
            raise ValueError(
                f"scores of {self.n_groups} groups in {self.bins} bins cannot be added to scores of "
                f"{other.n_groups} in {other.bins}: give every part the same n_groups and bins"
            )
        if self.weighted != other.weighted:
            raise ValueError("weighted and unweighted scores cannot be added: weight every part, or none")
        kinds = (a + b for a, b in zip(self._kinds, other._kinds, strict=True))
        return Scores(*kinds, per_label=self.per_label)

    def __radd__(self, other: Any) -> Scores:
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __getitem__(self, index: Any) -> Scores:
        """Pick along the first axis: a run, or a label where labels are the only leading axis."""
        if isinstance(index, tuple) or self.cells.ndim == 3:
            raise IndexError("scores are picked along their one first leading axis; see also label()")
        one_label = self.per_label and self.cells.ndim == 4 and isinstance(index, (int, np.integer))
        return replace(self._each(lambda kind: kind[index]), per_label=self.per_label and not one_label)

    def label(self, index: int) -> Scores:
        """The histogram of one class or label against the rest, for every run."""
        if not self.per_label:
            raise IndexError("these scores have no label axis")
        return replace(self._each(lambda kind: kind[..., index, :, :, :]), per_label=False)

    # -- chance ------------------------------------------------------------------------------------------
    def resample(self, replicates: int, rng: np.random.Generator, bins: int = 240) -> Scores:
        """Bootstrap replicates `[replicates, ..., G + 1, 2, bins]`, drawn inside each group.

        The rows of a group are redrawn as a multinomial over its non-empty cells, in `bins` coarse bins. Each
        stacked label or run is drawn by itself, so a mean over labels gets no covariance between them.
        Compare the replicates with `coarsen(bins)`: ties inside wider bins move AUC and AP slightly. Needs
        24 bytes for each replicate and coarse cell.

        >>> scores = Scores.from_scores([1, 0, 1], [0.9, 0.2, 0.4], [0, 0, 0])
        >>> scores.resample(5, np.random.default_rng(0)).n.ravel().tolist()
        [3, 3, 3, 3, 3]
        """
        source = self.coarsen(bins) if self.bins > bins else self
        return Scores(*draw_cells(source._kinds, replicates, rng), per_label=self.per_label)


def default_bins(n_groups: int, n_labels: int = 1) -> int:
    """3840 bins, halved (never below 60) while the histogram would hold more than 16.8 million cells.

    >>> default_bins(4), default_bins(196, n_labels=284)
    (3840, 120)
    """
    bins = GRID
    while bins > 60 and (n_groups + 1) * 2 * bins * n_labels > MOST_CELLS:
        bins //= 2
    return bins


def _number_of_groups(groups: object, g: Array) -> int:
    if hasattr(groups, "ids") and hasattr(groups, "__len__"):
        return len(groups)
    return int(g.max(initial=-1)) + 1


def _pool(kind: Array) -> Array:
    total = kind.sum(axis=-3, keepdims=True)
    return np.concatenate([total, np.zeros_like(total)], axis=-3)


def _scatter(flat: Array, values: Array, shape: tuple[int, ...]) -> Array:
    table = np.zeros(int(np.prod(shape)), dtype=np.float64 if values.dtype.kind == "f" else np.int64)
    np.add.at(table, flat, values)
    return table.reshape(shape)

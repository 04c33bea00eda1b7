"""Three ways to draw bootstrap replicates, one for each shape of the data; all yield margins.

A small table is drawn cell by cell. A large one with few filled cells (many classes or groups, few rows) is
drawn by its filled cells only. The labels of a multi-label row are drawn together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.metrics.counts import Counts
from evenhand.metrics.label_rows import LabelRows
from evenhand.metrics.margins import Margins, margins_of_everyone, margins_of_tables
from evenhand.metrics.resample import (
    Resampling,
    draw,
    expected_cells,
    shuffled_groups,
    smoothed,
    weigh,
    weight_moments,
)
from evenhand.metrics.sparse_cells import margins_of_cells

Look = tuple[Margins, Margins]  # of each group, and of everyone
SPARSE = 1 << 15  # cells from which on it pays to look which of them are filled
MOST_DEALT = 1 << 28  # rows dealt to groups over all replicates; beyond it there are fewer replicates
FEWEST = 100


class Sampler(Protocol):
    """Draws replicates of the margins."""

    @property
    def size(self) -> int:
        """Numbers that one replicate takes."""

    def affordable(self, replicates: int) -> int:
        """How many of the replicates can be drawn in good time."""

    def middle(self) -> Look:
        """The margins around which the replicates scatter."""

    def draw(self, replicates: int, rng: np.random.Generator) -> Look:
        """Margins of resampled rows."""

    def deal(self, replicates: int, rng: np.random.Generator) -> Look:
        """Margins of the same rows, with group labels dealt at random."""


def sampler_of(counts: Counts, how: Resampling, rows: LabelRows | None) -> Sampler:
    """The sampler that fits the data."""
    if rows is not None:
        return LabelSampler(counts, rows, how)
    filled = np.count_nonzero(counts.rows)
    if not counts.multilabel and counts.cells.size > SPARSE and filled < counts.cells.size // 4:
        return FilledCells(counts, how)
    return WholeTable(counts, how)


def _look(cells: Array, multilabel: bool) -> Look:
    known = margins_of_tables(cells[..., :-1, :, :], multilabel=multilabel)
    return known, margins_of_everyone(cells, multilabel)


@dataclass(frozen=True)
class WholeTable:
    """Every cell of the table, filled or not."""

    counts: Counts
    how: Resampling

    @property
    def size(self) -> int:
        """All cells."""
        return int(self.counts.cells.size)

    def affordable(self, replicates: int) -> int:
        """All of them: cells are cheap."""
        return replicates

    @cached_property
    def chances(self) -> FloatArray:
        """Cells in proportion to which rows are drawn."""
        return smoothed(self.counts)

    def middle(self) -> Look:
        """The smoothed table."""
        return _look(expected_cells(self.counts, self.chances), self.counts.multilabel)

    def draw(self, replicates: int, rng: np.random.Generator) -> Look:
        """A multinomial over the cells."""
        drawn = draw(self.counts, self.chances, replicates, rng, self.how)
        return _look(drawn.cells, self.counts.multilabel)

    def deal(self, replicates: int, rng: np.random.Generator) -> Look:
        """Every group drawn from all groups together."""
        return _look(shuffled_groups(self.counts, replicates, rng).cells, self.counts.multilabel)


@dataclass(frozen=True)
class LabelSampler:
    """Rows of a multi-label task."""

    counts: Counts
    rows: LabelRows
    how: Resampling

    @property
    def size(self) -> int:
        """The tables of all labels."""
        return int(self.counts.cells.size)

    def affordable(self, replicates: int) -> int:
        """Fewer, where many distinct rows meet many labels."""
        return self.rows.replicates(replicates)

    def middle(self) -> Look:
        """The tables as they are."""
        return _look(self.counts.cells * 1.0, multilabel=True)

    def draw(self, replicates: int, rng: np.random.Generator) -> Look:
        """Whole rows, with all their labels."""
        return _look(self.rows.draw(replicates, rng, self.how), multilabel=True)

    def deal(self, replicates: int, rng: np.random.Generator) -> Look:
        """Whole rows, dealt to the groups."""
        return _look(self.rows.deal(replicates, rng), multilabel=True)


@dataclass(frozen=True)
class FilledCells:
    """The filled cells of a large table."""

    counts: Counts
    how: Resampling

    @property
    def size(self) -> int:
        """The margins, and the filled cells."""
        return max(self.counts.n_classes * (self.counts.n_groups + 1), len(self._flat))

    def affordable(self, replicates: int) -> int:
        """Fewer, where very many rows would have to be dealt."""
        rows = max(int(self.counts.rows.sum()), 1)
        return max(min(replicates, FEWEST), min(replicates, MOST_DEALT // rows))

    @cached_property
    def _chances(self) -> FloatArray:
        return smoothed(self.counts)

    @cached_property
    def _flat(self) -> Array:
        return np.flatnonzero(self._chances)

    @cached_property
    def _cells(self) -> tuple[Array, Array, Array]:
        group, truth, prediction = np.unravel_index(self._flat, self.counts.cells.shape)
        return group, truth, prediction

    def _margins(self, weights: FloatArray) -> Look:
        every = margins_of_cells(*self._cells, weights, self.counts.n_groups + 1, self.counts.n_classes)
        return every.groups(slice(None, -1)), every.pooled

    def middle(self) -> Look:
        """The smoothed cells."""
        return self._margins(expected_cells(self.counts, self._chances).ravel()[self._flat])

    def draw(self, replicates: int, rng: np.random.Generator) -> Look:
        """A multinomial over the filled cells of each group (of all groups together, if `whole`)."""
        chance, sizes = self._chances.ravel()[self._flat], self.counts.rows.sum(axis=(-1, -2))
        strata = self._cells[0] if self.how == "stratified" else np.zeros(len(self._flat), dtype=np.int64)
        drawn = np.zeros((replicates, len(self._flat)))
        for stratum in np.unique(strata):
            inside = slice(*np.searchsorted(strata, [stratum, stratum + 1]))
            rows = int(sizes[stratum] if self.how == "stratified" else sizes.sum())
            part = chance[inside] / chance[inside].sum()
            drawn[:, inside] = rng.multinomial(rows, part, size=replicates)
        if self.counts.weighted:
            mean, variance = (moment.ravel()[self._flat] for moment in weight_moments(self.counts))
            drawn = weigh(mean, variance, drawn, rng)
        return self._margins(drawn)

    def deal(self, replicates: int, rng: np.random.Generator) -> Look:
        """The rows themselves, with their groups shuffled."""
        counts, groups = self.counts, self.counts.n_groups
        known = counts.rows[:-1]
        filled = np.flatnonzero(known)
        place = np.repeat(filled, known.ravel()[filled])
        group, truth, prediction = np.unravel_index(place, known.shape)
        mean = weight_moments(counts)[0][:-1].ravel()[place] if counts.weighted else np.ones(len(place))
        margins = [
            _dealt(rng.permutation(group), truth, prediction, mean, groups, counts.n_classes)
            for _ in range(replicates)
        ]
        tp, predicted, actual, n = (np.stack(kind) for kind in zip(*margins, strict=True))
        whole = margins_of_everyone(counts.cells, multilabel=False)
        everyone = Margins(*(np.broadcast_to(part, (replicates, *part.shape)) for part in _arrays(whole)))
        return Margins(tp, predicted, actual, n), everyone


def _dealt(
    group: Array, truth: Array, prediction: Array, weight: FloatArray, groups: int, classes: int
) -> tuple[Array, Array, Array, Array]:
    """Margins of rows, one by one: tp, predicted, actual and n, each `[K, G]`."""
    size, shape = classes * groups, (classes, groups)
    actual, predicted = (
        np.bincount(label * groups + group, weight, minlength=size).reshape(shape)
        for label in (truth, prediction)
    )
    hit = truth == prediction
    tp = np.bincount((truth * groups + group)[hit], weight[hit], minlength=size).reshape(shape)
    return tp, predicted, actual, np.broadcast_to(actual.sum(axis=0), shape)


def _arrays(margins: Margins) -> tuple[Array, Array, Array, Array]:
    return margins.tp, margins.predicted, margins.actual, margins.n

"""The bootstrap as a multinomial over cells: a thousand replicates of a million rows in milliseconds.

Resampling the rows of a table and counting them again is the same as drawing its cells from a multinomial
distribution, so the rows are never touched.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.metrics.counts import Counts

Resampling = Literal["stratified", "whole"]


def resample(
    counts: Counts, replicates: int, rng: np.random.Generator, how: Resampling = "stratified"
) -> Counts:
    """Replicates `[R, ...]` of counts without leading axes: cells drawn in proportion to their rows.

    `stratified` keeps the size of every group, `whole` lets it vary with the sample. A weighted cell gets the
    number of rows drawn into it times a mean weight, plus the spread of the weights in the cell (a gamma draw
    with the right mean and variance).

    >>> counts = Counts.from_table([[[30, 10], [5, 55]], [[20, 20], [10, 50]]])
    >>> drawn = resample(counts, 100, np.random.default_rng(0))
    >>> drawn.table.shape, set(drawn.table.sum(axis=(-1, -2)).ravel().tolist())
    ((100, 2, 2, 2), {100})
    """
    return draw(counts, counts.rows.astype(np.float64), replicates, rng, how)


def draw(
    counts: Counts,
    chances: FloatArray,
    replicates: int,
    rng: np.random.Generator,
    how: Resampling,
    weighed_like: Counts | None = None,
) -> Counts:
    """Replicates with as many rows as `counts`, the cells drawn in proportion to `chances`.

    The rows of a cell get weights like those of the same cell in `weighed_like` (default: `counts`).
    """
    if how not in ("stratified", "whole"):
        raise ValueError(f"resampling must be 'stratified' or 'whole', not {how!r}")
    axes = 2 if how == "stratified" else 3
    lead = counts.cells.shape[: counts.cells.ndim - axes]
    rows = np.rint(counts.rows.reshape(*lead, -1).sum(axis=-1)).astype(np.int64)
    drawn = _multinomial(rng, rows, chances.reshape(*lead, -1), replicates)
    cells = drawn.reshape(replicates, *counts.cells.shape)
    if not counts.weighted:
        return Counts(cells, multilabel=counts.multilabel)
    return Counts(_weigh(weighed_like or counts, cells, rng), cells, multilabel=counts.multilabel)


def smoothed(counts: Counts, strength: float = 1.0) -> FloatArray:
    """Cells in which every group borrows `strength` rows a label from all groups together.

    A group with 3 hits in 3 cases would otherwise be resampled to 3 of 3 for ever, and its interval would
    have no width. The share of each label within the group stays as it is.
    """
    rows = counts.rows.astype(np.float64)
    pooled = rows.sum(axis=-3, keepdims=True) + 0.5
    pattern = pooled / pooled.sum(axis=-1, keepdims=True)
    label = rows.sum(axis=-1, keepdims=True)
    scale = np.where(label > 0, label / (label + strength), 0.0)
    return np.asarray((rows + strength * pattern) * scale)


def shuffled_groups(counts: Counts, replicates: int, rng: np.random.Generator) -> Counts:
    """Replicates in which the group labels are dealt at random: the metrics when groups do not matter.

    >>> counts = Counts.from_table([[[40, 0], [0, 60]], [[0, 20], [20, 0]]])
    >>> shuffled_groups(counts, 50, np.random.default_rng(0)).table.sum(axis=(-1, -2))[0].tolist()
    [100, 40]
    """
    alike = Counts(*(_pool_known(kind) for kind in counts._kinds), multilabel=counts.multilabel)
    return draw(counts, alike.rows.astype(np.float64), replicates, rng, "stratified", alike)


def _pool_known(cells: Array) -> Array:
    """Give every known group the cells of all known groups together."""
    known = cells[..., :-1, :, :]
    pooled = np.broadcast_to(known.sum(axis=-3, keepdims=True), known.shape)
    return np.concatenate([pooled, cells[..., -1:, :, :]], axis=-3)


def _multinomial(rng: np.random.Generator, rows: Array, chances: FloatArray, replicates: int) -> Array:
    """Draws `[R, ..., cells]`; only the cells that can occur are drawn, empty strata stay empty."""
    possible = np.flatnonzero(chances.reshape(-1, chances.shape[-1]).any(axis=0))
    narrow = chances[..., possible]
    total = narrow.sum(axis=-1, keepdims=True)
    uniform = np.full_like(narrow, 1.0 / max(len(possible), 1))
    p = np.where(total > 0, narrow / np.where(total > 0, total, 1.0), uniform)
    out = np.zeros((replicates, *chances.shape), dtype=np.int64)
    if len(possible):
        out[..., possible] = rng.multinomial(rows, p, size=(replicates, *chances.shape[:-1]))
    return out


def expected_cells(counts: Counts, rows: FloatArray) -> FloatArray:
    """The cells to expect of so many rows in each: the rows themselves, or their mean weight as often."""
    return rows * _mean_weight(counts) if counts.weighted else rows


def _mean_weight(counts: Counts) -> FloatArray:
    """Mean weight of the rows of each cell; the overall mean where a cell has none."""
    pooled = counts.cells.sum() / max(counts.rows.sum(), 1)
    return np.where(counts.rows > 0, counts.cells / np.maximum(counts.rows, 1), pooled)


def _weigh(counts: Counts, rows: Array, rng: np.random.Generator) -> FloatArray:
    """Sums of weights for the rows drawn into each cell."""
    n, mean = np.maximum(counts.rows, 1), _mean_weight(counts)
    square = 0.0 if counts.square_cells is None else counts.square_cells
    variance = np.where(counts.rows > 0, np.maximum(square / n - mean * mean, 0.0), 0.0)
    scale = np.where(mean > 0, variance / np.where(mean > 0, mean, 1.0), 0.0)
    shape = np.where(
        variance > 1e-12 * mean * mean, mean * mean / np.where(variance > 0, variance, 1.0), np.inf
    )
    vary = np.isfinite(shape) & (scale > 0)
    noisy = rng.gamma(np.maximum(rows * np.where(vary, shape, 1.0), 1e-300)) * scale
    return np.where(vary & (rows > 0), noisy, rows * mean)

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
    weights = weigh(*weight_moments(weighed_like or counts), cells, rng)
    return Counts(weights, cells, multilabel=counts.multilabel)


def smoothed(counts: Counts, borrowed: float = 1.0, even: float = 2.0) -> FloatArray:
    """Cells in which every group has a few rows more of each label, so that no rate is resampled as certain.

    A group with 25 hits in 25 cases would otherwise be resampled to 25 of 25 for ever, and its interval would
    have no width. It gets `even` hits and as many misses (A. Agresti and B. Coull, The American Statistician
    1998), and `borrowed` rows that are right as often as the label is right over all groups. Misses are the
    label's commonest mistake, so that a table of many classes stays sparse. A label that the group lacks is
    lent as much of `borrowed` rows as is usual over all groups: its precision is not certain either. The size
    of the group stays as it is, and nearly so the share of each label in it.

    >>> smoothed(Counts.from_table([[[3, 0], [0, 0]], [[2, 4], [0, 0]]]))[:, 0].round(2).tolist()
    [[2.08, 0.92], [2.48, 3.52], [0.0, 0.0]]
    """
    rows = counts.rows.astype(np.float64)
    label, pooled = rows.sum(axis=-1, keepdims=True), rows.sum(axis=-3, keepdims=True)
    pattern, size = _commonest(pooled), label.sum(axis=-2, keepdims=True)
    extra = borrowed * pattern + even * (pattern > 0)
    present = (rows + extra) * (label / (label + extra.sum(axis=-1, keepdims=True)))
    usual = pooled.sum(axis=-1, keepdims=True) / np.maximum(pooled.sum(axis=(-1, -2), keepdims=True), 1.0)
    cells = np.where(label > 0, present, borrowed * usual * pattern)
    return np.where(size > 0, cells * size / np.maximum(cells.sum(axis=(-1, -2), keepdims=True), 1e-300), 0.0)


def _commonest(pooled: FloatArray) -> FloatArray:
    """For each label, the chance of a right prediction and of the commonest wrong one, summing to 1."""
    right = np.diagonal(pooled, axis1=-2, axis2=-1)
    hit = (right + 0.5) / (pooled.sum(axis=-1) + 1.0)
    diagonal = np.eye(pooled.shape[-1], dtype=bool)
    mistake = np.where(diagonal, -1.0, pooled).argmax(axis=-1)[..., None]
    out = np.where(diagonal, hit[..., None], 0.0)
    np.put_along_axis(out, mistake, 1.0 - hit[..., None], axis=-1)
    return out


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
    return rows * weight_moments(counts)[0] if counts.weighted else rows


def weight_moments(counts: Counts) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of the weights in each cell; the overall mean where a cell has no rows."""
    filled, n = counts.rows > 0, np.maximum(counts.rows, 1)
    pooled = counts.cells.sum() / max(counts.rows.sum(), 1)
    mean = np.where(filled, counts.cells / n, pooled)
    square = 0.0 if counts.square_cells is None else counts.square_cells
    return mean, np.where(filled, np.maximum(square / n - mean * mean, 0.0), 0.0)


def weigh(mean: FloatArray, variance: FloatArray, rows: Array, rng: np.random.Generator) -> FloatArray:
    """Sums of weights of so many rows in each cell: gamma draws with the right mean and variance."""
    vary = variance > 1e-12 * mean * mean
    safe_mean, safe_variance = np.where(mean > 0, mean, 1.0), np.where(vary, variance, 1.0)
    shape = np.where(vary, mean * mean / safe_variance, 1.0)
    noisy = rng.gamma(np.maximum(rows * shape, 1e-300)) * (safe_variance / safe_mean)
    return np.where(vary & (rows > 0), noisy, rows * mean)

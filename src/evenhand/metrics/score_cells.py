"""Filling the cells of a score histogram from rows, and drawing them anew for the bootstrap."""

from __future__ import annotations

import numpy as np

from evenhand.arrays import Array, FloatArray, IntArray
from evenhand.metrics.score_rows import bin_index, check_probabilities, check_weights, refuse

SPARSE = 4  # a table with so many times more cells than rows is written only where rows fall
BLOCK = 1 << 18  # rows handled at once, so that temporary arrays stay small whatever the number of rows


def tally_scores(
    y: Array, scores: Array, g: Array, weights: Array | None, n_groups: int, bins: int
) -> list[Array]:
    """Histograms `[G + 1, 2, B]`, or `[K, G + 1, 2, B]` for `scores [N, K]`.

    Unweighted: rows, sum of scores, sum of squared scores; weighted: the same with weights, then rows and
    squared weights.

    >>> one = np.array([1])
    >>> [kind[0, 1].tolist() for kind in tally_scores(one, np.array([0.5]), np.array([0]), None, 1, 2)]
    [[0, 1], [0.0, 0.5], [0.0, 0.25]]
    """
    _check_shapes(y, scores, g)
    if weights is not None:
        weights = check_weights(weights, len(g))
    _check_codes(y, scores, g, n_groups)
    labels = scores.shape[1] if scores.ndim == 2 else 1
    shape = (labels, n_groups + 1, 2, bins)
    kinds = [np.zeros(shape, dtype=np.int64 if weights is None else np.float64)]
    kinds += [np.zeros(shape) for _ in range(2)]
    if weights is not None:
        kinds += [np.zeros(shape, dtype=np.int64), np.zeros(shape)]
    step = max(
        BLOCK, (n_groups + 1) * 2 * bins
    )  # a table larger than the block would cost more than the rows
    for first in range(0, len(g), step):
        _add_block(kinds, y, scores, g, weights, slice(first, first + step))
    return [kind if scores.ndim == 2 else kind[0] for kind in kinds]


def _add_block(
    kinds: list[Array], y: Array, scores: Array, g: Array, weights: Array | None, rows: slice
) -> None:
    labels, groups, _, bins = kinds[0].shape
    value = np.asarray(scores[rows], dtype=np.float64).reshape(-1, labels)
    check_probabilities(value if scores.ndim == 2 else value[:, 0], rows.start)
    group = np.where(g[rows] < 0, groups - 1, g[rows]).astype(np.int64)
    weight = None if weights is None else weights[rows]
    for label in range(labels):
        score, present = value[:, label], _present(y[rows], label, scores.ndim)
        index = (group * 2 + present) * bins + bin_index(score, bins)
        for kind, part in zip(kinds, _parts(score, weight), strict=True):
            if rows.start == 0 and groups * 2 * bins > SPARSE * len(index):  # and so the only block
                np.add.at(kind[label].reshape(-1), index, 1 if part is None else part)
                continue
            counted = np.bincount(index, part, minlength=groups * 2 * bins)
            kind[label] += counted.reshape(groups, 2, bins)


def _present(y: Array, label: int, score_axes: int) -> Array:
    """Whether the label is there: one column of labels, one class of several, or the label itself."""
    if y.ndim == 2:
        return y[:, label]
    return y == label if score_axes == 2 else y


def _parts(score: FloatArray, weight: FloatArray | None) -> list[FloatArray | None]:
    if weight is None:
        return [None, score, score * score]
    return [weight, weight * score, weight * score * score, None, weight * weight]


def _check_shapes(y: Array, scores: Array, g: Array) -> None:
    fits = y.shape == scores.shape or (scores.ndim == 2 and y.shape == scores.shape[:1])
    if not fits or scores.ndim not in (1, 2) or g.shape != scores.shape[:1]:
        raise ValueError(
            f"labels {y.shape}, scores {scores.shape} and groups {g.shape} do not fit: scores are [rows] for "
            "one label, [rows, classes] for several, and labels and groups have one entry a row"
        )


def _check_codes(y: Array, scores: Array, g: Array, n_groups: int) -> None:
    classes = scores.shape[1] if scores.ndim == 2 and y.ndim == 1 else 2
    refuse((y < 0) | (y >= classes), y, f"is outside 0..{classes - 1}", "label")
    refuse((g < -1) | (g >= n_groups), g, f"is neither -1 (unknown) nor one of 0..{n_groups - 1}", "group")


def draw_cells(kinds: tuple[Array, ...], replicates: int, rng: np.random.Generator) -> list[Array]:
    """Replicates `[replicates, ..., G + 1, 2, B]` of the histograms, each group drawn from its own cells.

    The rows of a group are dealt over its non-empty cells in proportion to the rows that are there. A cell
    that gets m of its r rows has m/r of its sums; the spread of unequal weights inside it is added as a gamma
    variable with the mean and variance of a sum of m weights drawn from the cell.
    """
    weighted = len(kinds) == 5
    rows = kinds[3] if weighted else kinds[0]
    cells = int(np.prod(rows.shape[-2:]))
    flat = [kind.reshape(-1, cells) for kind in kinds]
    out = [np.zeros((replicates, *kind.shape), dtype=kind.dtype) for kind in flat]
    for stratum, count in enumerate(rows.reshape(-1, cells)):
        used = np.flatnonzero(count)
        if used.size:
            drawn = rng.multinomial(int(count.sum()), count[used] / count.sum(), size=replicates)
            part = [kind[stratum, used] for kind in flat]
            redrawn = _weighted_sums(part, drawn, rng) if weighted else _plain_sums(part, drawn)
            for kind, values in zip(out, redrawn, strict=True):
                kind[:, stratum, used] = values
    return [kind.reshape(replicates, *shape.shape) for kind, shape in zip(out, kinds, strict=True)]


def _plain_sums(part: list[Array], drawn: IntArray) -> list[Array]:
    rows, score, square = part
    return [drawn, drawn * (score / rows), drawn * (square / rows)]


def _weighted_sums(part: list[Array], drawn: IntArray, rng: np.random.Generator) -> list[Array]:
    weight, score, square, rows, weight_square = part
    mean = weight / rows
    spread = np.maximum(weight_square / rows - mean**2, 0.0)
    noisy = (spread > 1e-12 * mean**2) & (drawn > 0)  # rounding alone is no spread
    shape = np.where(noisy, drawn * mean**2 / np.where(spread > 0, spread, 1.0), 1.0)
    scale = spread / np.where(mean > 0, mean, 1.0)
    total = np.where(noisy, rng.gamma(shape) * scale, drawn * mean)
    share = total / np.where(weight > 0, weight, 1.0)  # a cell of weight 0 has no sums to scale
    return [total, share * score, share * square, drawn, drawn * (weight_square / rows)]

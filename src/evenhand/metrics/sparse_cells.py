"""Margins of a list of cells: what tables too large to be drawn whole are summed up by."""

from __future__ import annotations

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.metrics.margins import Margins


def margins_of_cells(
    group: Array, truth: Array, prediction: Array, weights: FloatArray, n_groups: int, n_classes: int
) -> Margins:
    """Margins `[..., K, G]` of M cells (group, truth, prediction) with weights `[..., M]`.

    >>> one = np.array([0, 0])
    >>> margins = margins_of_cells(one, np.array([0, 1]), np.array([1, 1]), np.array([3.0, 5.0]), 1, 2)
    >>> margins.tp.tolist(), margins.predicted.tolist()
    ([[0.0], [5.0]], [[0.0], [8.0]])
    """
    shape = (n_classes, n_groups)
    actual, predicted = (project(weights, label * n_groups + group, shape) for label in (truth, prediction))
    tp = project(np.where(truth == prediction, weights, 0.0), truth * n_groups + group, shape)
    n = np.broadcast_to(actual.sum(axis=-2, keepdims=True), actual.shape)
    return Margins(tp, predicted, actual, n)


def project(weights: FloatArray, index: Array, shape: tuple[int, ...]) -> FloatArray:
    """Sum weights `[..., M]` into cells `[..., *shape]` by flat index."""
    order = np.argsort(index, kind="stable")
    ordered = index[order]
    out = np.zeros((*weights.shape[:-1], int(np.prod(shape))))
    if len(ordered):
        starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
        out[..., ordered[starts]] = np.add.reduceat(weights[..., order], starts, axis=-1)
    return out.reshape(*weights.shape[:-1], *shape)

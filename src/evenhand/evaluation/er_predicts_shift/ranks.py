"""Rank correlations of many samples at once: each sample is weights over the same models.

A bootstrap sample is whole weights (how often each model was drawn), so that Spearman's rho of the sample is
the product-moment correlation, with these weights, of the ranks that the weights give. All correlations of
all variables come as one matrix, and partial ones from it.
"""

from __future__ import annotations

import numpy as np

from evenhand.arrays import FloatArray, IntArray

TINY = 1e-9  # of a variance that is 0 but for rounding


def rank_correlations(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Spearman's rho of all pairs `[B, V, V]` of variables `values [V, m]` for weights `[B, m]`.

    Ties have their middle rank. A variable that is constant in a sample has NaN there. (Spearman 1904.)

    >>> x = np.array([[1.0, 2.0, 3.0, 4.0], [2.0, 1.0, 4.0, 3.0]])
    >>> rank_correlations(x, np.array([[1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 0.0, 0.0]]))[:, 0, 1].tolist()
    [0.6, -1.0]
    """
    lower = (values[:, :, None] > values[:, None, :]) + 0.5 * (values[:, :, None] == values[:, None, :])
    ranks = np.einsum("vij,bj->bvi", lower, weights, optimize=True)
    total = weights.sum(axis=1)[:, None, None]
    centred = ranks - (ranks @ weights[:, :, None]) / total
    products: FloatArray = (centred * weights[:, None, :]) @ centred.transpose(0, 2, 1)
    spread = np.diagonal(products, axis1=1, axis2=2).copy()
    spread[spread <= TINY * total[:, 0]] = np.nan
    found: FloatArray = products / np.sqrt(spread[:, :, None] * spread[:, None, :])
    return np.clip(found, -1.0, 1.0)


def partial(correlations: FloatArray, x: int, y: IntArray, controls: list[int]) -> FloatArray:
    """Correlations `[B, len(y)]` of x with each y, what both share with the controls taken out.

    `r_xy.z = s_xy / sqrt(s_xx s_yy)` with `s = R_ab - R_az R_zz^-1 R_zb` of the matrix of (rank)
    correlations; for one control that is `(r_xy - r_xz r_yz) / sqrt((1 - r_xz^2)(1 - r_yz^2))`. NaN where
    the controls fix one side, or do not vary themselves.

    >>> r = np.array([[[1.0, 0.6, 0.5], [0.6, 1.0, 0.4], [0.5, 0.4, 1.0]]])
    >>> partial(r, 0, np.array([1]), [2]).round(6).tolist()
    [[0.503953]]
    """
    inner = correlations[:, controls][:, :, controls]
    sound = np.asarray(np.isfinite(inner).all(axis=(1, 2)))
    sound &= np.abs(np.linalg.det(np.where(sound[:, None, None], inner, 0.0))) > TINY
    inverse = np.full_like(inner, np.nan)
    inverse[sound] = np.linalg.inv(inner[sound])
    of_x = correlations[:, x, controls][:, None, :]
    of_y = correlations[:, y][:, :, controls]
    s_xy = correlations[:, x, y] - np.einsum("bkz,bzw,byw->by", of_x, inverse, of_y)
    s_xx = 1.0 - np.einsum("bkz,bzw,bkw->b", of_x, inverse, of_x)[:, None]
    s_yy = 1.0 - np.einsum("byz,bzw,byw->by", of_y, inverse, of_y)
    both = np.where((s_xx > TINY) & (s_yy > TINY), s_xx * s_yy, np.nan)
    found: FloatArray = s_xy / np.sqrt(both)
    return np.clip(found, -1.0, 1.0)

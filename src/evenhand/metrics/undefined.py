"""Arithmetic in which undefined is NaN: never 0, never 1, and never a warning.

A rate with no cases has no value. Every function here keeps that, and the summaries skip what is undefined
instead of letting it pass for a number.
"""

from __future__ import annotations

import numpy as np

from evenhand.arrays import Array, FloatArray

FEW = 16


def divide(numerator: Array | float, denominator: Array | float) -> FloatArray:
    """Elementwise quotient, NaN wherever the denominator is 0.

    >>> divide(np.array([1, 0, 3]), np.array([2, 0, 4])).tolist()
    [0.5, nan, 0.75]
    """
    top, bottom = np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    out = np.full(np.broadcast_shapes(top.shape, bottom.shape), np.nan)
    np.divide(top, bottom, out=out, where=bottom != 0)
    return out


def mean_defined(values: Array, axis: int | tuple[int, ...] = -1) -> FloatArray:
    """Mean over the entries that are defined; NaN where none is.

    >>> mean_defined(np.array([1.0, np.nan, 3.0])).item()
    2.0
    """
    defined = ~np.isnan(values)
    if defined.all() and values.size:
        return np.asarray(values.mean(axis=axis))
    return divide(np.where(defined, values, 0.0).sum(axis=axis), defined.sum(axis=axis))


def max_defined(values: Array, axis: int = -1) -> FloatArray:
    """Largest defined entry; NaN where none is defined.

    >>> max_defined(np.array([1.0, np.nan, 3.0])).item()
    3.0
    """
    return _extreme(np.fmax, values, axis)


def min_defined(values: Array, axis: int = -1) -> FloatArray:
    """Smallest defined entry; NaN where none is defined.

    >>> min_defined(np.array([1.0, np.nan, 3.0])).item()
    1.0
    """
    return _extreme(np.fmin, values, axis)


def _extreme(which: np.ufunc, values: Array, axis: int) -> FloatArray:
    size = values.shape[axis]
    if size == 0:
        return np.full(np.delete(values.shape, axis), np.nan)
    if size > FEW or values.ndim == 1:
        return np.asarray(which.reduce(values, axis=axis))
    found = np.take(values, 0, axis)
    for place in range(1, size):  # of a few groups ten times as fast as along a short axis
        which(found, values[_at(place, axis, values.ndim)], out=found)
    return np.asarray(found)


def _at(place: int, axis: int, ndim: int) -> tuple[int | slice, ...]:
    return tuple(place if dimension == axis % ndim else slice(None) for dimension in range(ndim))


def sum_defined(values: Array, axis: int = -1) -> FloatArray:
    """Sum of the defined entries; NaN where none is defined.

    >>> sum_defined(np.array([[1.0, np.nan], [np.nan, np.nan]])).tolist()
    [1.0, nan]
    """
    defined = ~np.isnan(values)
    total = np.where(defined, values, 0.0).sum(axis=axis)
    return np.where(defined.any(axis=axis), total, np.nan)


def count_defined(values: Array, axis: int = -1) -> Array:
    """How many entries are defined.

    >>> int(count_defined(np.array([1.0, np.nan, 3.0])))
    2
    """
    return np.asarray((~np.isnan(values)).sum(axis=axis))


def index_of_largest(values: FloatArray) -> Array:
    """Index of the largest defined entry (the first on ties), -1 where none is defined.

    >>> index_of_largest(np.array([[1.0, np.nan, 3.0], [np.nan, np.nan, np.nan]])).tolist()
    [2, -1]
    """
    place = np.where(np.isnan(values), -np.inf, values).argmax(axis=-1)
    return np.where(count_defined(values) > 0, place, -1)

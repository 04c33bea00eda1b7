"""Sums of ranks of many samples at once, by a sort of values that carry their side in the last bit.

`rankdata` sorts places, looks for ties and puts the ranks back in order; a sum of ranks needs none of that.
Values that are drawn from a continuous law have no ties, and the last of 53 bits decides nothing about their
order, so it says whose a value is: one plain sort, and the marks lie in the order of the ranks.
"""

from __future__ import annotations

import numpy as np

from evenhand.arrays import FloatArray, IntArray


def sums_of_second(a: FloatArray, b: FloatArray) -> IntArray:
    """The sum of the ranks of b's values among both, for each row of `[draws, runs]`; equal ones: a first.

    >>> sums_of_second(np.array([[0.1, 0.4]]), np.array([[0.3, 0.9]]))
    array([6])
    """
    marks = np.zeros((1, a.shape[1] + b.shape[1]), dtype=np.int64)
    marks[:, a.shape[1] :] = 1
    return _sums_of_marked(np.concatenate([a, b], axis=1), marks)


def sums_of_risen(differences: FloatArray) -> IntArray:
    """The sum of the ranks, by size, of the differences above 0, for each row.

    >>> sums_of_risen(np.array([[-0.1, 0.4, 0.2]]))
    array([5])
    """
    return _sums_of_marked(np.abs(differences), (differences > 0).astype(np.int64))


def _sums_of_marked(values: FloatArray, marks: IntArray) -> IntArray:
    """The sum of the ranks of marked values; `values` is a fresh array, which is overwritten."""
    bits = values.view(np.int64)
    bits &= ~1
    bits |= marks
    values.sort(axis=1)
    ranks = np.arange(1, values.shape[1] + 1, dtype=np.float64)
    return np.asarray((bits & 1).astype(np.float64) @ ranks).astype(np.int64)  # sums of whole numbers: exact

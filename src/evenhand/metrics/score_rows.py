"""Reading rows of labels, scores and weights: their bins, and checks that name the first row at fault."""

from __future__ import annotations

import numpy as np

from evenhand.arrays import Array, FloatArray, IntArray, as_array, as_codes

# The number of equal-width bins of a histogram: 3840 = 2^8 * 15, so 2, 3, 4, 5, 6, 8, 10, 12, 15, 16, 20, 24,
# 30, ... calibration bins are unions of whole ones.
GRID = 3840


def bin_index(score: FloatArray, bins: int = GRID) -> IntArray:
    """The equal-width bin of each score in [0, 1]; score 1 falls in the last bin.

    A divisor of GRID is read off the fine bins, so coarse bins are unions of fine ones to the last bit.

    >>> bin_index(np.array([0.0, 0.3, 1.0]), 10).tolist()
    [0, 3, 9]
    """
    fine = GRID if GRID % bins == 0 else bins
    index = np.minimum((score * fine).astype(np.int64), fine - 1)
    return index // (fine // bins)


def check_probabilities(score: Array, first_row: int = 0) -> None:
    """Refuse scores outside [0, 1] (NaN included), naming the first row at fault and its value."""
    # one comparison catches NaN too: it is neither at least 0 nor at most 1
    refuse(~((score >= 0) & (score <= 1)), score, "is not in [0, 1]", "score", first_row)


def refuse(wrong: Array, values: Array, why: str, what: str = "score", first_row: int = 0) -> None:
    """Raise for the first entry that is `wrong`, naming its row (and column) and its value."""
    if wrong.any():
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        at = f"row {place[0] + first_row}" + (f", column {place[1]}" if len(place) > 1 else "")
        raise ValueError(f"{what} {values[place]} in {at} {why}")


def labelled_rows(y: object, score: object, weights: object | None) -> tuple[Array, FloatArray, FloatArray]:
    """Labels of 0 and 1, scores of any size and weights (1 where none are given), as arrays of one length."""
    label, value = as_codes(y, "labels"), np.asarray(as_array(score), dtype=np.float64)
    if label.shape != value.shape or label.ndim != 1:
        raise ValueError(f"labels {label.shape} and scores {value.shape} must be two lists of one length")
    refuse((label != 0) & (label != 1), label, "must be 0 or 1", "label")
    return label, value, check_weights(weights, len(label))


def probabilities(y: object, score: object, weights: object | None) -> tuple[Array, FloatArray, FloatArray]:
    """The same where the scores must be probabilities."""
    label, value, weight = labelled_rows(y, score, weights)
    check_probabilities(value)
    return label, value, weight


def check_weights(weights: object | None, n: int) -> FloatArray:
    """The weights as an array of n finite numbers, none negative; ones where none are given."""
    if weights is None:
        return np.ones(n)
    weight = np.asarray(as_array(weights), dtype=np.float64)
    if weight.shape != (n,):
        raise ValueError(f"weights {weight.shape} must be one number for each of the {n} rows")
    refuse(~((weight >= 0) & np.isfinite(weight)), weight, "must be a finite number, at least 0", "weight")
    return weight

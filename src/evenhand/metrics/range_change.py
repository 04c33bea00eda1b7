"""How wrong the difference of two gaps can be: intervals for what a gap, a ratio or a worst value changed by.

Both are maxima, of pairs of groups or of groups, D = max_p a_p - max_q b_q, and the pair that is the largest
may not be known. The observed gap of a model whose groups are truly alike is too large, which redrawn rows
repeat and do not undo: intervals by them missed a gap that arose in 14 to 38 of 100 cases.

Whichever pair p is the largest of the second model, D is at most a_p - b_q for every q, above all for q = p,
in which what both models share cancels. So D lies below the largest a_p - b_p of all p that could be the
largest, and likewise above the smallest of all q that could be that of the first model. Each such difference
has its own deviation s; with t the largest error of any of them in units of its own s (the max-t band of
simultaneous inference), the ends are those of a_p - b_p plus t s, and minus t s. Where p cannot be the first
model's largest, its observed largest takes the place of b_p; it is tried for the others as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.metrics.undefined import divide, index_of_largest, max_defined, mean_defined

REACH = 3.0  # deviations that a pair may lie behind the largest and yet be it
MOST_PAIRED = 24  # groups up to which all pairs are looked at
CHUNK = 1 << 21  # numbers of one kind held at once


class Compare(NamedTuple):
    """What a statistic is the largest of: a quantity of the groups `[..., K, G]`, and how it is compared.

    `gap`: differences of two groups. `ratio`: less their ratio. `most`, `least`: the quantity, less it.
    `distance`: its size, whichever its sign.
    """

    quantity: FloatArray
    how: str


def largest_of(parts: Sequence[Compare]) -> FloatArray:
    """All that the largest is taken of, `[..., K, P]`.

    >>> rates = np.array([[0.5, 0.2]])
    >>> largest_of([Compare(rates, "gap"), Compare(rates, "least")]).tolist()
    [[0.3, -0.3, -0.5, -0.2]]
    """
    return np.concatenate([_expanded(*part) for part in parts], axis=-1)


def _expanded(r: FloatArray, how: str) -> FloatArray:
    if how in ("most", "least"):
        return r if how == "most" else -r
    if how == "distance":
        return np.concatenate([r, -r], axis=-1)
    first, second = np.nonzero(~np.eye(r.shape[-1], dtype=bool))
    if how == "gap":
        return r[..., first] - r[..., second]
    return -np.minimum(divide(r[..., first], r[..., second]), 1.0)


def can_change(parts: Sequence[Compare]) -> bool:
    """Whether there are parts, of not too many groups, without infinite or, in ratios, signed quantities."""
    return len(parts) > 0 and all(
        quantity.shape[-1] <= MOST_PAIRED
        and not bool(np.isinf(quantity).any())
        and not (how == "ratio" and bool((quantity < 0).any()))
        for quantity, how in parts
    )


def change_deviations(
    observed: tuple[Sequence[Compare], Sequence[Compare]], drawn: tuple[Sequence[Compare], Sequence[Compare]]
) -> tuple[FloatArray, FloatArray]:
    """How far the truth lies below and above the change from the first to the second model, `[R, K]`."""
    n_classes, replicates = drawn[0][0].quantity.shape[-2], len(drawn[0][0].quantity)
    numbers = replicates * largest_of([_of(part, slice(0, 1)) for part in observed[0]]).shape[-1]
    step = max(1, CHUNK // max(1, numbers))
    found = []
    for start in range(0, n_classes, step):
        classes = slice(start, start + step)
        before, after = (largest_of([_of(part, classes) for part in model]) for model in observed)
        first, second = (largest_of([_of(part, classes) for part in model]) for model in drawn)
        found.append(_ends(before, after, first - before, second - after))
    return np.concatenate([down for down, _ in found], -1), np.concatenate([up for _, up in found], -1)


def lowered(found: tuple[FloatArray, FloatArray]) -> tuple[FloatArray, FloatArray]:
    """The same of what is less the largest: a ratio, or a lowest value."""
    return found[1], found[0]


def _of(part: Compare, classes: slice) -> Compare:
    return Compare(part.quantity[..., classes, :], part.how)


def _ends(
    before: FloatArray, after: FloatArray, first: FloatArray, second: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The same of `[K, P]` values and their `[R, K, P]` errors."""
    change = max_defined(after) - max_defined(before)
    high = _highest(before, after, first, second)
    low = -_highest(after, before, second, first)
    return np.maximum(change - low, 0.0), np.maximum(high - change, 0.0)


def _highest(before: FloatArray, after: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
    """Draws of how high the change may be."""
    able, known = _could_be_largest(after, second), _could_be_largest(before, first)
    top = index_of_largest(before)[..., None]
    largest, its_errors = _at(before, top), _at(first, top)
    some = np.flatnonzero(able.any(axis=0))  # the others are the largest of no class
    able, known, after, second = able[:, some], known[:, some], after[:, some], second[..., some]
    ends = []
    for values, errors in (
        (np.where(known, before[:, some], largest), np.where(known, first[..., some], its_errors)),
        (largest, its_errors),
    ):
        error = second - errors
        ends.append((after - values, error, np.sqrt(mean_defined(error * error, axis=0))))
    units = [_or_least(np.where(able, divide(-error, spread), np.nan)) for _, error, spread in ends]
    most = np.fmax(max_defined(np.maximum(*units)), 0.0)[..., None]
    reached = [value + most * spread for value, _, spread in ends]
    return max_defined(np.where(able, np.fmin(*reached), np.nan))


def _or_least(units: FloatArray) -> FloatArray:
    """What has no error, as of two models that are alike there, is never the largest one."""
    return np.where(np.isnan(units), -np.inf, units)


def _could_be_largest(values: FloatArray, errors: FloatArray) -> Array:
    """Which may truly be the largest, `[K, P]`: those not farther behind it than their error bears."""
    apart = errors - _at(errors, index_of_largest(values)[..., None])
    return max_defined(values)[..., None] - values <= REACH * np.sqrt(mean_defined(apart * apart, axis=0))


def _at(values: FloatArray, place: Array) -> FloatArray:
    return np.take_along_axis(values, np.broadcast_to(place, (*values.shape[:-1], 1)), axis=-1)

"""How wrong the difference of two gaps can be: intervals for what a gap, a ratio or a worst value changed by.

Both are maxima, of pairs of groups or of groups, D = max_p a_p - max_q b_q, and the pair that is the largest
may not be known. The observed gap of a model whose groups are truly alike is too large, which redrawn rows
repeat and do not undo: intervals by them missed a gap that arose in up to 62 of 100 cases.

Let q be the first model's largest pair in truth. Then D is at least a_q - b_q, in which what both models
share cancels, and at least a_p - b_q for every p. Lower confidence limits of these hold for the true q,
whichever it is, so D lies above the least of them over all q that could be it: of each q the limit by its own
change, or the best by the pairs p that could be the second model's largest (simultaneous over these),
whichever promises more. No simultaneity over q is needed, as only one of them is the true one. The upper
limit is the lower one with the models exchanged.

"Could be it" is judged pair by pair, at REACH deviations: of very many groups that are alike a true q may be
left out, which costs a little coverage of small changes (88 of 100 in the worst case built, of 20 groups).
Of more than 24 groups those are looked at that may decide (`range_few`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.metrics.error_moments import Errors
from evenhand.metrics.range_few import (
    PAIRS,
    Both,
    Compare,
    could_be_largest,
    few_groups,
    value_at,
)
from evenhand.metrics.undefined import divide, max_defined, min_defined

ONE, SEVERAL = 1.96, 2.5  # deviations of a limit: of one pair, of several; to choose by, not to answer with
BEYOND = 2.0  # a ratio above 1 is never the lowest, but its errors near 1 matter: those above this do not
LEADING = 8  # pairs of the largest values that others are compared with
PLACES = 65  # of the draws of an error, between which limits are taken as straight
CHUNK = 1 << 21  # numbers of one kind held at once

Sides = tuple[FloatArray, FloatArray]  # of the first and of the second model


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
    return -np.minimum(divide(r[..., first], r[..., second]), BEYOND)


def can_change(parts: Sequence[Compare]) -> bool:
    """Whether there are parts, of enough groups, all finite and, in ratios, not signed."""
    return len(parts) > 0 and all(
        quantity.shape[-1] >= (2 if how in PAIRS else 1)
        and not bool(np.isinf(quantity).any())
        and not (how == "ratio" and bool((quantity < 0).any()))
        for quantity, how in parts
    )


def change_deviations(observed: Both, centre: Both, drawn: Both) -> tuple[FloatArray, FloatArray]:
    """How far the truth lies below and above the change from the first to the second model, `[R, K]`.

    What is drawn errs from the `centre`, which may be smoothed.
    """
    observed, centre, drawn = few_groups(observed, centre, drawn)
    n_classes, replicates = drawn[0][0].quantity.shape[-2], len(drawn[0][0].quantity)
    numbers = replicates * largest_of([_of(part, slice(0, 1)) for part in observed[0]]).shape[-1]
    step = max(1, CHUNK // max(1, numbers))
    found = []
    for start in range(0, n_classes, step):
        classes = slice(start, start + step)
        (before, after), middle, redrawn = (
            [largest_of([_of(part, classes) for part in model]) for model in both]
            for both in (observed, centre, drawn)
        )
        found.append(_ends(before, after, redrawn[0] - middle[0], redrawn[1] - middle[1]))
    return np.concatenate([down for down, _ in found], -1), np.concatenate([up for _, up in found], -1)


def size_changes(observed: Sides, centre: Sides, drawn: Sides) -> tuple[FloatArray, FloatArray] | None:
    """How far the truth lies below and above the change of the size of each distance `[K, G]`: `[R, K, G]`.

    Of each one by itself: which side of 0 it lies on may not be known, so that its size is a largest value
    too. None where a distance is infinite.
    """
    if any(bool(np.isinf(distances).any()) for pair in (observed, centre, drawn) for distances in pair):
        return None
    down, up = change_deviations(*(_one_by_one(pair) for pair in (observed, centre, drawn)))
    return down.reshape(drawn[0].shape), up.reshape(drawn[0].shape)


def _one_by_one(pair: Sides) -> Both:
    first, second = ([Compare(each.reshape(*each.shape[:-2], -1, 1), "distance")] for each in pair)
    return first, second


def lowered(found: tuple[FloatArray, FloatArray]) -> tuple[FloatArray, FloatArray]:
    """The same of what is less the largest: a ratio, or a lowest value."""
    return found[1], found[0]


def _of(part: Compare, classes: slice) -> Compare:
    return Compare(part.quantity[..., classes, :], part.how)


def _ends(
    before: FloatArray, after: FloatArray, first: FloatArray, second: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The same of `[K, P]` values and their `[R, K, P]` errors."""
    change, errors = max_defined(after) - max_defined(before), (Errors.of(first), Errors.of(second))
    low, high = _lowest(before, after, *errors), -_lowest(after, before, *reversed(errors))
    return np.maximum(change - low, 0.0), np.maximum(high - change, 0.0)


def _lowest(before: FloatArray, after: FloatArray, first: Errors, second: Errors) -> FloatArray:
    """Draws of how low the change may be, `[R, K]`."""
    able, possible = could_be_largest(after, second), could_be_largest(before, first)
    some = np.flatnonzero(possible.any(axis=0))  # the others are the first model's largest in no class
    if not len(some):
        return np.full(first.draws.shape[:-1], np.nan)
    before, first, possible = before[:, some], first.columns(some), possible[:, some]
    later = second.columns(some)
    own = _Limits(after[:, some] - before, later.moved(first))
    others = _of_others(before, np.where(able, after, np.nan), first, second)
    at_once = _highest(others, SEVERAL)
    alone = ~np.isnan(own.at(ONE)) & ~(own.at(ONE) < at_once)  # without a value of its own: by the others
    by_own, by_others = possible & alone, possible & ~alone
    decides = _least(own.at(ONE), by_own)
    unit = _in_units(later.at(decides) - first.at(decides), value_at(own.spread, decides))[..., 0]
    found = along(unit, lambda units: min_defined(np.where(by_own, own.at(units), np.nan)))
    if not by_others.any():
        return found
    largest = np.fmax(_largest_unit(second, able, first, _least(at_once, by_others)), unit)
    reached = along(largest, lambda units: min_defined(np.where(by_others, _highest(others, units), np.nan)))
    return np.fmin(found, reached)


def _of_others(before: FloatArray, after: FloatArray, first: Errors, second: Errors) -> list[_Limits]:
    """What the second model's largest pairs are above each of the first's, the errors of both included."""
    return [_Limits(value_at(after, place) - before, first.apart(second, place)) for place in _leading(after)]


def _highest(limits: Sequence[_Limits], units: float | FloatArray) -> FloatArray:
    """The one that promises most, of each of the first model's pairs."""
    found = limits[0].at(units)
    for more in limits[1:]:
        found = np.fmax(found, more.at(units))
    return found


def _leading(values: FloatArray) -> list[Array]:
    """The places of the largest values of each class, the largest first, `[K, 1]` each."""
    order = np.argsort(np.where(np.isnan(values), np.inf, -values), axis=-1)
    return [order[:, k, None] for k in range(min(LEADING, order.shape[-1]))]


def _largest_unit(second: Errors, able: Array, first: Errors, place: Array) -> FloatArray:
    """The largest error of any pair that could be the second model's largest, less the first's at a place."""
    some = np.flatnonzero(able.any(axis=0))
    if not len(some):
        return np.full(second.draws.shape[:-1], np.nan)
    chosen = second.columns(some)
    units = _in_units(chosen.draws - first.at(place), chosen.apart(first, place))
    return max_defined(np.where(able[:, some], units, np.nan))


class _Limits(NamedTuple):
    """Values `[K, P]`, and the deviations of their errors."""

    value: FloatArray
    spread: FloatArray

    def at(self, units: float | FloatArray) -> FloatArray:
        """The limits so many deviations below."""
        return self.value - units * self.spread


def along(units: FloatArray, function: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """A function of units `[R, K]`, worked out at PLACES of them for each class and straight in between.

    The least of many straight lines bends one way only, so that it is never below what is found.

    >>> units = np.linspace(-2, 2, 500)[:, None]
    >>> np.allclose(along(units, lambda u: -3 * u[..., 0]), -3 * units)
    True
    """
    if len(units) <= PLACES:
        return function(units[..., None])
    first, last = min_defined(units, axis=0), max_defined(units, axis=0)
    step = (last - first) / (PLACES - 1)
    known = function((first + step * np.arange(PLACES)[:, None])[..., None])
    place = np.clip(np.nan_to_num(divide(units - first, np.broadcast_to(step, units.shape))), 0, PLACES - 1)
    below = np.minimum(place.astype(np.int64), PLACES - 2)
    left, right = (np.take_along_axis(known, below + more, axis=0) for more in (0, 1))
    return np.where(np.isnan(units), np.nan, left + (place - below) * (right - left))


def _least(limits: FloatArray, among: Array) -> Array:
    """The place of the lowest limit, `[K, 1]`: that which decides."""
    place: Array = np.where(among & ~np.isnan(limits), limits, np.inf).argmin(axis=-1)
    return place[:, None]


def _in_units(errors: FloatArray, spread: FloatArray) -> FloatArray:
    """No errors, as of two models that are alike there, are 0 of them."""
    return np.where(spread == 0, 0.0, divide(errors, np.broadcast_to(spread, errors.shape)))

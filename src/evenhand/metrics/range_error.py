"""How wrong a gap, a worst or a best value can be: intervals for maxima and minima over groups.

Resampling a gap and reading off percentiles fails where it matters: the largest of several noisy rates is too
large, and the largest of their resampled copies is larger still. With 8 groups whose rates are truly equal a
percentile interval never covers 0 (see docs/intervals.md).

So the *errors of the rates* are resampled, e_g = rate*_g - rate_g. A gap is the largest difference of a pair;
with s the deviation of the pair's error and t the largest error of any pair that could be the largest, in
units of its own s, the true gap lies between max(difference - t s) and max(difference + t s). Likewise for
the worst and the best group. This is the max-t band of simultaneous inference.

Which pairs could be the largest is found by moment selection (D. Andrews and G. Soares, Econometrica 2010): a
group may be the highest unless no replicate brings it up to the observed highest. When one group is clearly
the highest and one clearly the lowest, this is the ordinary interval of their difference.

With more than 24 groups pairs are too many, and the errors' own range is used, which is wider:

    observed gap - true gap <= max_H e - min_L e        true gap - observed gap <= max_L e - min_H e
"""

from __future__ import annotations

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.metrics.undefined import divide, index_of_largest, max_defined, mean_defined, min_defined

TINY = 1e-12
UNSEEN = 3.69  # cases expected where none is seen one time in forty: -ln 0.025
MOST_PAIRED = 24  # groups up to which every pair is looked at


def range_deviations(
    observed: FloatArray, errors: FloatArray, how: str, lowest: bool
) -> tuple[FloatArray, FloatArray]:
    """Draws `[R, K]` of how far the truth lies below and above the observed gap, worst or best value.

    `observed [K, G]` are the rates, `errors [R, K, G]` their resampled errors.

    >>> errors = np.array([[[0.1, -0.1]], [[-0.1, 0.0]]])
    >>> down, up = range_deviations(np.array([[0.9, 0.2]]), errors, "gap", False)
    >>> down.round(3).tolist(), up.round(3).tolist()
    ([[0.2], [0.0]], [[0.0], [0.1]])
    """
    highest, lowest_ones = candidates(observed, errors)
    if how == "gap":
        return _gap(observed, errors, highest, lowest_ones)
    groups = np.moveaxis(errors, -1, 0)
    if lowest:
        up, down = _extreme(-np.where(lowest_ones, observed, np.nan), -groups)
        return down, up
    return _extreme(np.where(highest, observed, np.nan), groups)


def _gap(
    observed: FloatArray, errors: FloatArray, highest: Array, lowest_ones: Array
) -> tuple[FloatArray, FloatArray]:
    """The largest difference: of every pair by itself, or, of very many groups, by the errors' own range."""
    if observed.shape[-1] > MOST_PAIRED:
        high, low = np.where(highest, errors, np.nan), np.where(lowest_ones, errors, np.nan)
        return max_defined(high) - min_defined(low), max_defined(low) - min_defined(high)
    first, second = np.triu_indices(observed.shape[-1], k=1)
    ahead = highest[..., first] & lowest_ones[..., second]
    behind = highest[..., second] & lowest_ones[..., first]
    difference = observed[..., first] - observed[..., second]
    turn = np.where(difference >= 0, 1.0, -1.0)  # a pair counts in the direction in which it is observed
    groups = np.ascontiguousarray(np.moveaxis(errors, -1, 0))  # pairs first: whole rows are subtracted
    moved = (groups[first] - groups[second]) * np.moveaxis(turn, -1, 0)[:, None]
    return _extreme(np.where(ahead | behind, difference * turn, np.nan), moved, ahead & behind)


def _extreme(
    values: FloatArray, errors: FloatArray, either: Array | None = None
) -> tuple[FloatArray, FloatArray]:
    """How far the largest of the true values `[K, P]` lies below and above the largest of the observed ones.

    Each value is allowed its own error (`errors [P, R, K]`): with t the largest error of a replicate in units
    of its deviation s, the truth is at least max(value - t s). Noisy values far from the largest do not widen
    the interval. Where `either`, the value may be the largest with the opposite sign, so errors of both signs
    count.
    """
    able = np.flatnonzero(~np.isnan(values).all(axis=0))
    values, errors = np.moveaxis(values, -1, 0)[able][:, None], errors[able]
    spread = np.sqrt(mean_defined(errors * errors, axis=1))[:, None]
    units = divide(errors, spread)
    units[np.broadcast_to(np.isnan(values), units.shape)] = np.nan
    sides = (units, -units)
    if either is not None and either.any():
        both = np.moveaxis(either, -1, 0)[able][:, None]
        sides = (np.where(both, np.abs(units), units), np.where(both, np.abs(units), -units))
    over, under = (np.fmax(max_defined(side, axis=0), 0.0) for side in sides)
    top = max_defined(values, axis=0)
    lower, upper = values - over * spread, values + under * spread
    return top - max_defined(lower, axis=0), max_defined(upper, axis=0) - top


def candidates(observed: FloatArray, errors: FloatArray) -> tuple[Array, Array]:
    """Which groups may truly be the highest, and which the lowest, `[K, G]` each.

    A group may be the highest if in some replicate its error against the observed highest bridges the
    distance between the two.
    """
    top, bottom = (index_of_largest(side)[..., None] for side in (observed, -observed))
    behind, above = _reach(_of(errors, top) - errors), _reach(errors - _of(errors, bottom))
    return max_defined(observed)[..., None] - observed <= behind, observed - min_defined(observed)[
        ..., None
    ] <= above


def _reach(errors: FloatArray) -> FloatArray:
    """The farthest that an error goes: the largest of the replicates, or 3.5 deviations if those are few."""
    return np.fmax(max_defined(errors, axis=0), 3.5 * np.sqrt(mean_defined(errors * errors, axis=0)))


def _of(errors: FloatArray, group: Array) -> FloatArray:
    return np.take_along_axis(errors, np.broadcast_to(group, (*errors.shape[:-1], 1)), axis=-1)


def ratio_deviations(
    observed: FloatArray, centre: FloatArray, drawn: FloatArray
) -> tuple[FloatArray, FloatArray] | None:
    """The same for the ratio lowest / highest, by way of logarithms; None where a rate cannot have any.

    Of an observed rate of 0 the logarithm is taken of the smoothed one (`centre`), so that a group without a
    case says how little is known of it: with 0 of 10 beside 1 of 10 the true ratio may well be 1.

    >>> drawn = np.array([[[0.12, 0.04]], [[0.05, 0.12]], [[0.08, 0.06]]])
    >>> down, up = ratio_deviations(np.array([[0.1, 0.0]]), np.array([[0.09, 0.03]]), drawn)
    >>> down.max().item(), up.max().item()
    (0.0, 1.0)
    """
    if bool((observed < 0).any()) or bool((centre <= 0).any()):
        return None
    stands_in = np.where(observed == 0, centre, observed)
    highest, lowest_ones = candidates(stands_in, drawn - centre)
    errors = _log_errors(drawn, centre, observed == 0)
    # how much the range of the logarithms may be too large, and too small: the ratio errs the other way
    down, up = _gap(np.log(stands_in), errors, highest, lowest_ones)
    ratio, middle = (divide(min_defined(rates), max_defined(rates)) for rates in (observed, stands_in))
    lower = middle * np.exp(-up)
    upper = np.minimum(middle * np.exp(np.minimum(down, 50.0)), 1.0)
    return np.maximum(ratio - lower, 0.0), np.maximum(upper - ratio, 0.0)


def _log_errors(drawn: FloatArray, centre: FloatArray, none_seen: Array) -> FloatArray:
    """Errors of the logarithms of rates, every second one turned round: of few cases they are lopsided.

    A replicate without a case has no logarithm. In a group with cases it stands for a rate that would show
    one of them one time in forty; in one without, for what would show none one time in forty.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        cases = centre**2 / mean_defined((drawn - centre) ** 2, axis=0)  # that a replicate has in the mean
        empty = np.where(none_seen, np.minimum(np.log(cases / UNSEEN), 0.0), -UNSEEN)
        errors = np.where(drawn <= 0, empty, np.log(np.maximum(drawn, TINY)) - np.log(centre))
    errors[1::2] *= -1
    return errors

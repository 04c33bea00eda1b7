"""Of very many groups, those that may decide how far a gap, a ratio or a worst value changed.

All pairs of 24 groups are 552, of 200 groups 39,800, each with an error in every replicate. Intervals of a
change (`range_change`) end where the least of many limits is, and where the largest values are: the groups
with the highest and lowest values of either model, and those that could be these and changed most, one way
and the other. The rest is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.metrics.error_moments import Errors
from evenhand.metrics.undefined import index_of_largest, max_defined

PAIRS = ("gap", "ratio")  # what compares two groups
MOST_PAIRED, MOST_ALONE = 24, 512  # groups up to which all are looked at: as pairs, one by one
REACH = 2.0  # deviations that a value may lie behind the largest and yet be it


class Compare(NamedTuple):
    """What a statistic is the largest of: a quantity of the groups `[..., K, G]`, and how it is compared.

    `gap`: differences of two groups. `ratio`: less their ratios. `most`, `least`: the quantity, less it.
    `distance`: its size, whichever its sign.
    """

    quantity: FloatArray
    how: str

    def at(self, groups: Array) -> Compare:
        """The same of some groups, `[K, S]`: other ones in every class."""
        return Compare(value_at(self.quantity, groups), self.how)


Both = tuple[Sequence[Compare], Sequence[Compare]]  # of the first and of the second model


def few_groups(observed: Both, centre: Both, drawn: Both) -> tuple[Both, Both, Both]:
    """The same of at most as many groups as are looked at."""
    chosen = [_chosen(*parts) for parts in zip(*observed, *centre, *drawn, strict=True)]

    def kept(both: Both) -> Both:
        first, second = (
            [part if groups is None else part.at(groups) for part, groups in zip(model, chosen, strict=True)]
            for model in both
        )
        return first, second

    return kept(observed), kept(centre), kept(drawn)


def _chosen(before: Compare, after: Compare, *centre_and_drawn: Compare) -> Array | None:
    """Places of the groups of one part that may decide, `[K, S]`; None: all."""
    most = MOST_PAIRED if before.how in PAIRS else MOST_ALONE
    if before.quantity.shape[-1] <= most:
        return None
    b, a = before.quantity, after.quantity
    middle_b, middle_a, drawn_b, drawn_a = (part.quantity for part in centre_and_drawn)
    e, f = Errors.of(drawn_b - middle_b), Errors.of(drawn_a - middle_a)
    reach = REACH * f.moved(e)
    fell, rose = a - b - reach, b - a - reach  # the lower, the farther
    wanted = [
        -a, a, -b, b,
        np.where(could_be_largest(b, e), fell, np.nan), np.where(could_be_largest(-b, e), rose, np.nan),
        np.where(could_be_largest(a, f), rose, np.nan), np.where(could_be_largest(-a, f), fell, np.nan),
    ]  # fmt: skip
    first_of = np.min([_ranks(each) for each in wanted], axis=0)
    return np.asarray(np.argsort(first_of, axis=-1, kind="stable")[..., :most])


def _ranks(values: FloatArray) -> FloatArray:
    """From 0, the lowest, along the last axis; infinite where undefined."""
    return np.where(np.isnan(values), np.inf, np.argsort(np.argsort(values, axis=-1), axis=-1))


def could_be_largest(values: FloatArray, errors: Errors) -> Array:
    """Which may truly be the largest, `[K, P]`: those not farther behind it than their error bears.

    How far one lies behind does not depend on the sign that all errors have.
    """
    apart = errors.apart(errors, index_of_largest(values)[..., None])
    return max_defined(values)[..., None] - values <= REACH * apart


def value_at(values: Array, place: Array) -> Array:
    """Values `[..., K, P]` at places `[K, S]`."""
    return np.take_along_axis(values, np.broadcast_to(place, (*values.shape[:-1], place.shape[-1])), axis=-1)

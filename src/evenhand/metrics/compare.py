"""Rates -> one number: the comparisons a metric is made of, with who decided it and what bounds it.

A `Statistic` maps a view to one value a class, `[..., K]`. Comparisons (gap, ratio, worst, ...) of a rate are
the leaves; sums, means, maxima and `1 - x` of them are the branches. Each knows its value, its bounds when
group labels are missing, and the groups that decided it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.metrics.range_change import Sides, can_change, change_deviations, lowered, size_changes
from evenhand.metrics.range_error import range_deviations, ratio_deviations
from evenhand.metrics.range_few import Compare
from evenhand.metrics.rates import Better
from evenhand.metrics.undefined import (
    count_defined,
    divide,
    index_of_largest,
    max_defined,
    mean_defined,
    min_defined,
)
from evenhand.metrics.view import Extremes, View

Interval = tuple[FloatArray, FloatArray]
Pair = tuple[View, View]  # of the first and of the second model
LARGE = 50.0  # an error of a logarithm beyond which a rate is as good as 0


class Statistic(ABC):
    """One number a class, from the rates of the groups."""

    @abstractmethod
    def value(self, view: View) -> FloatArray:
        """The value of each class, `[..., K]`."""

    def bounds(self, extremes: Extremes) -> Interval | None:
        """Lowest and highest value over what the unknown rows could be; None where no bound is known."""
        return None

    def deciders(self, view: View) -> Array | None:
        """Indices `[..., K, m]` of the groups that decided it (highest first), -1 where there is none."""
        return None

    def deviations(self, centre: View, replicates: View, select: View) -> Interval | None:
        """How far the truth may lie below and above the estimate, one draw a replicate, `[R, K]` each.

        None: the value itself is smooth enough to be resampled. See `range_deviations` for why a gap is not.
        """
        return None

    def parts_of(self, view: View) -> list[Compare]:
        """What it is the largest of, or, if it `is_least`, less the largest of; empty if of nothing."""
        return []

    def is_least(self) -> bool:
        """Whether it is less the largest of its parts: a ratio, or a lowest rate."""
        return False

    def change(self, views: Pair, centre: Pair, drawn: Pair) -> Interval | None:
        """How far the truth may lie below and above the change from the first to the second model, `[R, K]`.

        What is drawn errs from the `centre`. None: the change itself is smooth enough to be resampled. See
        `range_change` for why a gap's is not.
        """
        observed, middle, redrawn = (
            (self.parts_of(first), self.parts_of(second)) for first, second in (views, centre, drawn)
        )
        if not all(can_change(parts) for parts in (*observed, *middle)):
            return None
        found = change_deviations(observed, middle, redrawn)
        return lowered(found) if self.is_least() else found

    def rates(self) -> tuple[str, ...]:
        """Keys of the rates it compares."""
        return ()


def _gap(r: FloatArray) -> FloatArray:
    return _if_several(r, max_defined(r) - min_defined(r))


def _ratio(r: FloatArray) -> FloatArray:
    return _if_several(r, divide(min_defined(r), max_defined(r)))


def _spread(r: FloatArray) -> FloatArray:
    return _if_several(r, _norm(_from_mean(r)))


def _from_mean(r: FloatArray) -> FloatArray:
    return r - mean_defined(r)[..., None]


def _norm(distances: FloatArray) -> FloatArray:
    return np.sqrt(mean_defined(distances * distances))


def _spread_change(observed: Sides, centre: Sides, drawn: Sides) -> Interval | None:
    """Of a root mean square: what it would be, were each distance as much smaller, and larger, as it may be.

    Taken from either model, so that exchanging them exchanges the sides.
    """
    found = size_changes(observed, centre, drawn)
    if found is None:
        return None
    (b, a), (down, up) = (np.abs(each) for each in observed), found
    return _norm_change(a, b, down), _norm_change(b, a, up)


def _norm_change(large: FloatArray, small: FloatArray, step: FloatArray) -> FloatArray:
    """How far the root mean square falls from the one, or rises from the other, by steps of all distances."""
    falls = _norm(large) - _norm(np.maximum(large - step, 0.0))
    return np.maximum(falls, _norm(small + step) - _norm(small))


def _if_several(r: FloatArray, value: FloatArray) -> FloatArray:
    """A comparison needs two groups to compare."""
    return np.where(count_defined(r) >= 2, value, np.nan)


@dataclass(frozen=True)
class Compared(Statistic):
    """A rate compared between groups: `gap`, `ratio`, `worst`, `best`, `spread` or `to_overall`.

    >>> from evenhand.metrics.counts import Counts
    >>> counts = Counts.from_predictions([1, 1, 1, 1], [1, 0, 1, 1], [0, 0, 1, 1])
    >>> Compared("tpr", "gap").value(View(counts.margins()))[1].item()
    0.5
    """

    rate: str
    how: str
    better: Better = "higher"

    def rates(self) -> tuple[str, ...]:
        return (self.rate,)

    def value(self, view: View) -> FloatArray:
        r = view.rate(self.rate)
        if self.how == "to_overall":
            return _if_several(r, max_defined(np.abs(r - view.overall_rate(self.rate))))
        return self._function()(r)

    def _function(self) -> Callable[[FloatArray], FloatArray]:
        if self.how in ("worst", "best"):
            return min_defined if self._takes_lowest() else max_defined
        return {"gap": _gap, "ratio": _ratio, "spread": _spread}[self.how]

    def _takes_lowest(self) -> bool:
        """`worst` is the lowest rate, unless less is better."""
        return (self.better != "lower") == (self.how == "worst")

    def bounds(self, extremes: Extremes) -> Interval | None:
        found = extremes.rate(self.rate)
        signed_ratio = self.how == "ratio" and self.rate == "mcc"
        if found is None or signed_ratio or self.how in ("spread", "to_overall"):
            return None
        lowest, highest = found
        # a group without a rate now could stay without one, so it can only widen the range, never narrow it
        sure = ~np.isnan(extremes.view.rate(self.rate))
        sure_lowest, sure_highest = np.where(sure, lowest, np.nan), np.where(sure, highest, np.nan)
        if self.how in ("worst", "best"):
            pick = min_defined if self._takes_lowest() else max_defined
            lower, upper = (lowest, sure_highest) if self._takes_lowest() else (sure_lowest, highest)
            low, high = pick(lower), pick(upper)  # with no sure group, any one could be the only one
            return np.where(np.isnan(low), min_defined(lowest), low), np.where(
                np.isnan(high), max_defined(highest), high
            )
        least, most = (
            max_defined(sure_lowest) - min_defined(sure_highest),
            _widest(highest, lowest, np.subtract),
        )
        if self.how == "gap":
            return np.where(np.isnan(most), np.nan, np.fmax(least, 0.0)), most
        best = np.minimum(divide(min_defined(sure_highest), max_defined(sure_lowest)), 1.0)
        return -_widest(lowest, highest, lambda a, b: -divide(a, b)), np.where(np.isnan(best), 1.0, best)

    def change(self, views: Pair, centre: Pair, drawn: Pair) -> Interval | None:
        if self.how != "spread":
            return super().change(views, centre, drawn)
        first, second, third = (
            (_from_mean(a.rate(self.rate)), _from_mean(b.rate(self.rate))) for a, b in (views, centre, drawn)
        )
        found = _spread_change(first, second, third)
        several = views[0].rate(self.rate)
        return None if found is None else (_if_several(several, found[0]), _if_several(several, found[1]))

    def parts_of(self, view: View) -> list[Compare]:
        r = view.rate(self.rate)
        if self.how == "to_overall":
            return [Compare(r - view.overall_rate(self.rate), "distance")]
        if self.how in ("worst", "best"):
            return [Compare(r, "least" if self._takes_lowest() else "most")]
        return [Compare(r, self.how)] if self.how in ("gap", "ratio") else []

    def is_least(self) -> bool:
        return self.how == "ratio" or (self.how in ("worst", "best") and self._takes_lowest())

    def deviations(self, centre: View, replicates: View, select: View) -> Interval | None:
        kept = replicates.kept_deviations  # many metrics are made of the same few comparisons
        if (self.rate, self.how) not in kept:
            kept[self.rate, self.how] = self._deviations(centre, replicates, select)
        return kept[self.rate, self.how]

    def _deviations(self, centre: View, replicates: View, select: View) -> Interval | None:
        if self.how == "spread":  # a size: off by no more than the spread of the errors
            error = _spread(replicates.rate(self.rate) - centre.rate(self.rate))
            return error, error
        if self.how == "to_overall":
            return self._distance_deviations(centre, replicates)
        observed, middle, drawn = (view.rate(self.rate) for view in (select, centre, replicates))
        if self.how == "ratio":
            return ratio_deviations(observed, middle, drawn)
        return range_deviations(observed, drawn - middle, self.how, self._takes_lowest())

    def _distance_deviations(self, centre: View, replicates: View) -> Interval:
        """A largest distance is off by no more than the largest error of a distance."""
        drawn, middle = (view.rate(self.rate) - view.overall_rate(self.rate) for view in (replicates, centre))
        error = max_defined(np.abs(drawn - middle))
        return error, error

    def deciders(self, view: View) -> Array | None:
        r = view.rate(self.rate)
        if self.how == "spread":
            return None
        if self.how == "to_overall":
            return index_of_largest(np.abs(r - view.overall_rate(self.rate)))[..., None]
        if self.how in ("worst", "best"):
            return index_of_largest(-r if self._takes_lowest() else r)[..., None]
        return np.stack([index_of_largest(r), index_of_largest(-r)], axis=-1)


def _widest(first: FloatArray, second: FloatArray, apply: Callable[[Array, Array], Array]) -> FloatArray:
    """Largest `apply(first_i, second_j)` over pairs of different groups."""
    pairs = apply(first[..., :, None], second[..., None, :])
    same = np.eye(pairs.shape[-1], dtype=bool)
    pairs = np.where(same, np.nan, pairs)
    return max_defined(pairs.reshape(*pairs.shape[:-2], -1))


@dataclass(frozen=True)
class Combined(Statistic):
    """Several statistics as one: their sum, mean or maximum, which rises with each of them."""

    parts: tuple[Statistic, ...]
    how: str

    def rates(self) -> tuple[str, ...]:
        return tuple(key for part in self.parts for key in part.rates())

    def value(self, view: View) -> FloatArray:
        return self._join([part.value(view) for part in self.parts])

    def _join(self, values: list[FloatArray]) -> FloatArray:
        stacked = np.stack(values, axis=-1)  # NaN in any part leaves the whole undefined
        return np.asarray(getattr(np, self.how)(stacked, axis=-1))

    def bounds(self, extremes: Extremes) -> Interval | None:
        found = [part.bounds(extremes) for part in self.parts]
        known = [bound for bound in found if bound is not None]
        if len(known) < len(self.parts):
            return None
        return self._join([low for low, _ in known]), self._join([high for _, high in known])

    def deviations(self, centre: View, replicates: View, select: View) -> Interval | None:
        found = [part.deviations(centre, replicates, select) for part in self.parts]
        known = [pair for pair in found if pair is not None]
        if len(known) < len(self.parts):
            return None
        join = self._join if self.how in ("sum", "mean") else Combined(self.parts, "max")._join
        return join([down for down, _ in known]), join([up for _, up in known])

    def parts_of(self, view: View) -> list[Compare]:
        least = {part.is_least() for part in self.parts}
        if least != {self.how == "min"} or self.how not in ("min", "max"):
            return []
        return [one for part in self.parts for one in part.parts_of(view)]

    def is_least(self) -> bool:
        return self.how == "min"

    def change(self, views: Pair, centre: Pair, drawn: Pair) -> Interval | None:
        if self.how not in ("sum", "mean"):
            return super().change(views, centre, drawn)
        found = [part.change(views, centre, drawn) for part in self.parts]
        known = [pair for pair in found if pair is not None]
        if len(known) < len(self.parts):
            return None
        return self._join([down for down, _ in known]), self._join([up for _, up in known])

    def deciders(self, view: View) -> Array | None:
        found = [part.deciders(view) for part in self.parts]
        known = [groups for groups in found if groups is not None]
        if not known:
            return None
        values = np.stack([part.value(view) for part in self.parts], axis=-1)
        largest = index_of_largest(-values if self.how == "min" else values)
        return np.take_along_axis(np.stack(known, axis=-1), largest[..., None, None], axis=-1)[..., 0]


@dataclass(frozen=True)
class OneMinus(Statistic):
    """`1 - x`: turns a gap into a score whose ideal is 1, a ratio into a distance whose ideal is 0."""

    part: Statistic

    def rates(self) -> tuple[str, ...]:
        return self.part.rates()

    def value(self, view: View) -> FloatArray:
        return 1.0 - self.part.value(view)

    def bounds(self, extremes: Extremes) -> Interval | None:
        found = self.part.bounds(extremes)
        return None if found is None else (1.0 - found[1], 1.0 - found[0])

    def deviations(self, centre: View, replicates: View, select: View) -> Interval | None:
        found = self.part.deviations(centre, replicates, select)
        return None if found is None else (found[1], found[0])

    def change(self, views: Pair, centre: Pair, drawn: Pair) -> Interval | None:
        found = self.part.change(views, centre, drawn)
        return None if found is None else lowered(found)

    def deciders(self, view: View) -> Array | None:
        return self.part.deciders(view)


@dataclass(frozen=True)
class Computed(Statistic):
    """Any other function of the view.

    `compares` names the rates that explain where it is undefined, `who` the groups that decided it; when the
    value is the range of some quantity over the groups, `ranged` returns that quantity `[..., K, G]`; with
    `lowest`, the value is the smallest of them.
    """

    function: Callable[[View], FloatArray]
    compares: tuple[str, ...] = ()
    who: Callable[[View], Array] | None = None
    ranged: Callable[[View], FloatArray] | None = None
    lowest: bool = False

    def deviations(self, centre: View, replicates: View, select: View) -> Interval | None:
        if self.ranged is None:
            return None
        observed, middle, drawn = (self.ranged(view) for view in (select, centre, replicates))
        if bool(np.isinf(observed).any() or np.isinf(middle).any()):
            return None  # unsmoothed logarithms of a rate of 0
        with np.errstate(invalid="ignore"):  # an unsmoothed rate of 0 may be drawn
            errors = np.maximum(drawn - middle, -LARGE)
        return range_deviations(observed, errors, "worst" if self.lowest else "gap", self.lowest)

    def parts_of(self, view: View) -> list[Compare]:
        return [] if self.ranged is None else [Compare(self.ranged(view), "least" if self.lowest else "gap")]

    def is_least(self) -> bool:
        return self.lowest

    def rates(self) -> tuple[str, ...]:
        return self.compares

    def value(self, view: View) -> FloatArray:
        return self.function(view)

    def deciders(self, view: View) -> Array | None:
        return None if self.who is None else self.who(view)


def gap(rate: str) -> Compared:
    """Largest minus smallest rate."""
    return Compared(rate, "gap")


def ratio(rate: str) -> Compared:
    """Smallest over largest rate."""
    return Compared(rate, "ratio")

"""Statistics that are sizes: weighted sums of distances, whichever their sign."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from evenhand.arrays import Array, FloatArray
from evenhand.metrics.compare import Interval, Pair, Statistic
from evenhand.metrics.range_change import size_changes
from evenhand.metrics.view import View


@dataclass(frozen=True)
class Size(Statistic):
    """The size of signed distances `[..., K, G]`: a weighted sum of their absolute values, for example.

    By the triangle inequality it is off by no more than the size of the distances' errors. Resampling the
    size itself fails where it is near 0, because every replicate exceeds that. `size(distances, view)` may
    take weights from the view; `compares` and `who` are those of `Computed`.
    """

    distances: Callable[[View], FloatArray]
    size: Callable[[FloatArray, View], FloatArray]
    compares: tuple[str, ...] = ()
    who: Callable[[View], Array] | None = None

    def rates(self) -> tuple[str, ...]:
        return self.compares

    def value(self, view: View) -> FloatArray:
        return self.size(self.distances(view), view)

    def deviations(self, centre: View, replicates: View, select: View) -> Interval | None:
        error = self.size(self.distances(replicates) - self.distances(centre), select)
        return error, error

    def change(self, views: Pair, centre: Pair, drawn: Pair) -> Interval | None:
        first, second, third = ((self.distances(a), self.distances(b)) for a, b in (views, centre, drawn))
        found = size_changes(first, second, third)
        return None if found is None else (self.size(found[0], views[0]), self.size(found[1], views[0]))

    def deciders(self, view: View) -> Array | None:
        return None if self.who is None else self.who(view)

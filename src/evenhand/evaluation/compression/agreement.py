"""Do CEV and SDE order methods as exemplars do, as each other do, and as they do themselves on another seed?

Every number is a mean over places (task, network and level: within one, the level cannot make methods look
alike), with a percentile bootstrap interval in which methods and seeds are both drawn, the same ones at every
place that has them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from evenhand.arrays import FloatArray, IntArray
from evenhand.evaluation.ci_mnist.judging import NAN, Asked
from evenhand.evaluation.compression.evidence import Evidence, Place
from evenhand.evaluation.compression.measures import Against
from evenhand.metrics.cie import modal_labels

DRAWS, SEED = 1000, 0
FEWEST_METHODS, FEWEST_SEEDS = 4, 3  # below these a bootstrap promises too much
Counted = dict[tuple[int, tuple[int, ...]], int]  # exemplars of a population (by its id) and drawn seeds
Statistic = Callable[[Place, IntArray, IntArray], float]  # (place, methods, seeds) by their numbers


def resampled(words: str, rule: str, e: Evidence, statistic: Statistic, unit: str = "share") -> Asked:
    """A statistic over places, with its bootstrap interval over methods and seeds."""
    places = [place for place in e.places if len(place.against) > 1 and place.seeds]

    def mean(drawn: Callable[[Place], tuple[IntArray, IntArray]]) -> float:
        found = [statistic(place, *drawn(place)) for place in places]
        known = [value for value in found if np.isfinite(value)]
        return float(np.mean(known)) if known else NAN

    def measure(level: float) -> tuple[float, float, float, int]:
        effect = mean(lambda place: (np.arange(len(place.against)), np.arange(len(place.seeds))))
        count = sum(len(place.against) * len(place.seeds) for place in places)
        if not places or min(len(place.against) for place in places) < FEWEST_METHODS:
            return effect, NAN, NAN, count
        if min(len(place.seeds) for place in places) < FEWEST_SEEDS:
            return effect, NAN, NAN, count
        low, high = _ends(np.array([mean(_draw(places, number)) for number in range(DRAWS)]), level)
        return effect, low, high, count

    return Asked(words, measure, rule, unit)


def _draw(places: Sequence[Place], number: int) -> Callable[[Place], tuple[IntArray, IntArray]]:
    """One draw: the same uniform numbers choose methods and seeds at every place."""
    rng = np.random.default_rng((SEED, number))
    most = max(len(place.against) for place in places), max(len(place.seeds) for place in places)
    methods, seeds = (rng.random(n) for n in most)

    def drawn(place: Place) -> tuple[IntArray, IntArray]:
        m, s = len(place.against), len(place.seeds)
        return (methods[:m] * m).astype(np.int64), (seeds[:s] * s).astype(np.int64)

    return drawn


def _ends(drawn: FloatArray, level: float) -> tuple[float, float]:
    known = drawn[np.isfinite(drawn)]
    if 2 * len(known) < len(drawn):
        return NAN, NAN
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return low, high


def rank_correlation(a: FloatArray, b: FloatArray) -> float:
    """Spearman's: Pearson's of the ranks, ties averaged; NaN where one side is constant.

    >>> round(rank_correlation(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 3.0, 2.0, 4.0])), 3)
    0.8
    """
    known = np.isfinite(a) & np.isfinite(b)
    if known.sum() < 3:
        return NAN
    x, y = (_ranks(values[known]) for values in (a, b))
    x, y = x - x.mean(), y - y.mean()
    size = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / size if size > 0 else NAN


def _ranks(values: FloatArray) -> FloatArray:
    """Ranks from 1/2 on, ties averaged; of few values, many times: no sorting, no package."""
    below, equal = values[:, None] > values, values[:, None] == values
    return np.asarray(below.sum(axis=1) + equal.sum(axis=1) / 2, dtype=np.float64)


class Correlated:
    """The rank correlation over methods of a mean number with the count of exemplars, at a place."""

    def __init__(self, key: str, counts: Counted | None = None) -> None:
        self.key = key
        self._counts: Counted = {} if counts is None else counts  # which several numbers may share

    def __call__(self, place: Place, methods: IntArray, seeds: IntArray) -> float:
        """Of these methods and runs; a seed that is drawn twice votes twice."""
        means = place.values(self.key)[methods][:, seeds].mean(axis=1)
        chosen = tuple(sorted(place.seeds[number] for number in seeds.tolist()))
        counts = [self._count(place.against[number], chosen) for number in methods.tolist()]
        return rank_correlation(means, np.array(counts, dtype=np.float64))

    def _count(self, one: Against, seeds: tuple[int, ...]) -> int:
        if (id(one), seeds) not in self._counts:
            n = len(one.world.classes)
            base, other = (each.of_seeds(seeds) for each in (one.world.base, one.population))
            changed = modal_labels(base, n) != modal_labels(other, n)
            self._counts[id(one), seeds] = int(changed.sum())
        return self._counts[id(one), seeds]


def same_order(key: str) -> Statistic:
    """How often two seeds order two methods the same way by a number: 0.5 is chance, 1 never otherwise."""

    def statistic(place: Place, methods: IntArray, seeds: IntArray) -> float:
        values = place.values(key)[methods][:, seeds]
        sign = np.sign(values[:, None] - values[None])  # [M, M, S]
        pair = np.triu(methods[:, None] != methods[None], 1)  # no method with itself
        runs = np.triu(seeds[:, None] != seeds[None], 1)
        same = (sign[..., :, None] * sign[..., None, :] + 1) / 2  # a tie counts half
        return _mean(same[pair][:, runs])

    return statistic


def otherwise(one: str, other: str) -> Statistic:
    """The share of pairs of methods that two numbers (means over seeds) order in opposite ways."""

    def statistic(place: Place, methods: IntArray, seeds: IntArray) -> float:
        first, second = (place.values(key)[methods][:, seeds].mean(axis=1) for key in (one, other))
        signs = [np.sign(values[:, None] - values[None]) for values in (first, second)]
        pair = np.triu(methods[:, None] != methods[None], 1)
        return _mean((1 - signs[0][pair] * signs[1][pair]) / 2)

    return statistic


def _mean(values: FloatArray) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if known.size else NAN

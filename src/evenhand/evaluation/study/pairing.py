"""Two sets of runs against each other, seed by seed where both have the seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.evaluation.tradeoff_values import t_reach

NAN = float("nan")


@dataclass(frozen=True)
class Difference:
    """Other minus base: mean, Student's interval over seeds, how many runs (or pairs) it rests on."""

    mean: float
    low: float
    high: float
    n: int
    paired: bool


def shared_runs(
    base_seeds: Sequence[int], base: FloatArray, seeds: Sequence[int], other: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The values of the seeds that both have and at which both are defined, in the order of the base.

    >>> shared_runs([0, 1, 2], np.array([0.1, 0.2, 0.3]), [2, 1, 7], np.array([3.0, np.nan, 7.0]))
    (array([0.3]), array([3.]))
    """
    places = {seed: place for place, seed in enumerate(seeds)}
    pairs = [(a, other[places[seed]]) for seed, a in zip(base_seeds, base, strict=True) if seed in places]
    both = np.array(pairs, dtype=np.float64).reshape(-1, 2)
    both = both[np.isfinite(both).all(axis=1)]
    return both[:, 0], both[:, 1]


def difference(
    base_seeds: Sequence[int], base: FloatArray, seeds: Sequence[int], other: FloatArray, confidence: float
) -> Difference:
    """How far the others are from the base: paired where at least two seeds are shared.

    >>> found = difference([0, 1], np.array([0.1, 0.2]), [0, 1], np.array([0.3, 0.5]), 0.95)
    >>> round(found.mean, 6), found.paired, round(found.high - found.low, 4)  # 2 x 12.7062 x 0.05
    (0.25, True, 1.2706)
    """
    a, b = shared_runs(base_seeds, base, seeds, other)
    paired = len(a) >= 2
    if paired:
        reach = t_reach(b - a, confidence)
    else:
        a, b = base[np.isfinite(base)], other[np.isfinite(other)]
        reach = float(np.hypot(t_reach(a, confidence), t_reach(b, confidence)))
    if not len(a) or not len(b):
        return Difference(NAN, NAN, NAN, 0, paired)
    mean = float(b.mean() - a.mean())
    return Difference(mean, mean - reach, mean + reach, min(len(a), len(b)), paired)

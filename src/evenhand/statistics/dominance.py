"""How often is a run of one lower than a run of the other? An effect that knows no scale."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.statistics.outcome import NAN
from evenhand.statistics.samples import pairs, sample


@dataclass(frozen=True)
class Superiority:
    """Chance that the other is the lower one (ties count half), with its interval.

    `delta` is Cliff's: 2 probability - 1, from -1 (the other is always higher) to 1 (always lower), so that
    it has the sign of Cohen's d.
    """

    probability: float
    low: float = NAN
    high: float = NAN
    n: tuple[int, int] = (0, 0)
    paired: bool = False

    @property
    def delta(self) -> float:
        """Cliff's delta (1993)."""
        return 2 * self.probability - 1

    @property
    def delta_interval(self) -> tuple[float, float]:
        """The interval of Cliff's delta."""
        return 2 * self.low - 1, 2 * self.high - 1


def superiority(base: object, other: object, paired: bool = False, confidence: float = 0.95) -> Superiority:
    """Probability that a run of the other is lower than one of the base: U / (n_base n_other).

    Of two samples, over all pairs of a base run and another one; the interval is Newcombe's (2006, method 5),
    which keeps a width where the samples do not overlap at all. Paired, over the seeds, with Wilson's
    interval.

    >>> found = superiority([4, 5, 6, 7], [1, 2, 3, 5])
    >>> found.probability, found.delta, round(found.low, 4), round(found.high, 4)
    (0.90625, 0.8125, 0.4822, 0.9887)
    >>> superiority([4, 5, 6, 7], [1, 2, 7, 5], paired=True).probability
    0.75
    """
    from scipy.special import ndtri

    a, b = pairs(base, other) if paired else (sample(base, 0), sample(other, 0))
    n = (len(a), len(b))
    if not min(n):
        return Superiority(NAN, n=n, paired=paired)
    z = float(ndtri((1 + confidence) / 2))
    found = float(_lower(a, b).mean()) if paired else float(_lower(a[:, None], b).mean())
    low, high = _wilson(found, n[0], z) if paired else _newcombe(found, n, z)
    return Superiority(found, low, high, n, paired)


def _lower(base: FloatArray, other: FloatArray) -> FloatArray:
    return np.where(other < base, 1.0, 0.0) + np.where(other == base, 0.5, 0.0)


def _wilson(share: float, n: int, z: float) -> tuple[float, float]:
    centre, spread = share + z**2 / (2 * n), z * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    scale = 1 + z**2 / n
    return max(0.0, float((centre - spread) / scale)), min(1.0, float((centre + spread) / scale))


def _newcombe(found: float, n: tuple[int, int], z: float) -> tuple[float, float]:
    """The probabilities from which the found one is z of their own standard errors away.

    V(t) = t (1 - t) (1 + ((n_base + n_other) / 2 - 1) ((1 - t) / (2 - t) + t / (1 + t))) / (n_base n_other).
    """
    from scipy.optimize import brentq

    def excess(t: float) -> float:
        more = (sum(n) / 2 - 1) * ((1 - t) / (2 - t) + t / (1 + t))
        return (found - t) ** 2 - z**2 * t * (1 - t) * (1 + more) / (n[0] * n[1])

    # 0 and 1 have no error of their own and would pass for the answer where they were found
    low = 0.0 if found == 0 else float(brentq(excess, 0.0, min(found, 1 - 1e-9)))
    high = 1.0 if found == 1 else float(brentq(excess, max(found, 1e-9), 1.0))
    return low, high

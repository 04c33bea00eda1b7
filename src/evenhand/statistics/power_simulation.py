"""Power by simulation: how often would so many runs, spread as the observed ones are, show a difference?

Runs are imagined from what was left over when each side's mean was taken off its observed runs: residuals
drawn with replacement, with either sign (the skew of a handful of runs is chance, and ranks would take it for
a difference), each moved a little by a normal kernel (a smoothed bootstrap: five residuals alone would make
samples without any spread), with the unbiased variance of the runs. The difference is added to one side and
the test is made. Nothing has to be normal for that; where runs are, the result is the closed form's
(`power_to_see`; ranks need pi / 3 of its runs).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.statistics.asked_power import check_power_test
from evenhand.statistics.outcome import ALPHA
from evenhand.statistics.rank_limits import NEVER, limit_of_signed_ranks, limit_of_u
from evenhand.statistics.rank_sums import sums_of_risen, sums_of_second
from evenhand.statistics.samples import constant, pairs, sample

PAIRED = {"mann-whitney": "wilcoxon", "welch": "paired t"}  # what each is where runs come in pairs
DRAWS = 2000
ENOUGH, MANY = 400, 64  # draws that do where runs are many: the result is then a large number anyway
BLOCK = 1_000_000  # numbers of a side that are held at once
KERNEL = 1.06  # Silverman's width of a normal kernel is 1.06 n^(-1/5) deviations


@dataclass(frozen=True)
class SimulatedPower:
    """A share of simulated studies that found the difference, with Wilson's interval of the simulation."""

    runs: int
    power: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Imagined:
    """What runs are imagined from: the residuals of both sides, or of the seed-by-seed differences.

    >>> spread = Imagined.of([0.30, 0.32, 0.31, 0.33, 0.35], [0.21, 0.20, 0.24, 0.22, 0.23])
    >>> found = spread.power(0.02, runs=8)
    >>> found.low < found.power < found.high, spread.power(0.0, runs=8).power < 0.08
    (True, True)
    """

    sides: tuple[FloatArray, ...]
    test: str = "mann-whitney"
    alpha: float = ALPHA
    draws: int = DRAWS
    seed: int = 0
    fewest: int = ENOUGH

    @classmethod
    def of(
        cls,
        base: object,
        other: object,
        test: str = "mann-whitney",
        paired: bool = False,
        alpha: float = ALPHA,
        draws: int = DRAWS,
        seed: int = 0,
        fewest: int = ENOUGH,
    ) -> Imagined:
        """From the observed runs of the base and of the other; `paired`: the same place is the same seed.

        `draws` studies are simulated, or fewer where runs are many, but not less than `fewest`.
        """
        check_power_test(test)
        if paired:
            a, b = pairs(base, other, fewest=2)
            return cls((_residuals(b - a),), test, alpha, draws, seed, fewest)
        sides = _residuals(sample(base)), _residuals(sample(other))
        return cls(sides, test, alpha, draws, seed, fewest)

    @property
    def paired(self) -> bool:
        """Whether runs come in pairs."""
        return len(self.sides) == 1

    @property
    def still(self) -> bool:
        """Whether nothing varies."""
        return all(constant(side) for side in self.sides)

    @property
    def std(self) -> tuple[float, float]:
        """The deviation of each side (of the differences, twice, where runs are paired)."""
        found = [float(np.sqrt(np.mean(side**2))) for side in self.sides]
        return found[0], found[-1]

    def possible(self, runs: int) -> bool:
        """Whether any outcome of so many runs reaches the level."""
        return runs >= 2 and (self.test == "welch" or self._limit(runs) > NEVER)

    def power(self, difference: float, runs: int) -> SimulatedPower:
        """The share of simulated studies with so many runs (of each side) whose p is at most alpha."""
        if not self.possible(runs):
            return SimulatedPower(runs, 0.0, 0.0, 0.0)
        shares = [(self.found(noise, difference), len(noise[0])) for noise in self._blocks(runs)]
        draws = sum(n for _, n in shares)
        share = sum(share * n for share, n in shares) / draws
        return SimulatedPower(runs, share, *wilson(share, draws))

    def noise(self, runs: int) -> tuple[FloatArray, ...]:
        """The runs of every simulated study without the difference, `[draws, runs]` a side; seeded."""
        blocks = list(self._blocks(runs))
        return tuple(np.concatenate(side) for side in zip(*blocks, strict=True))

    def _blocks(self, runs: int) -> Iterator[tuple[FloatArray, ...]]:
        """The same in parts, so that many draws of many runs fit into memory."""
        rng = np.random.default_rng([self.seed, runs])
        left = min(self.draws, max(self.fewest, self.draws * MANY // runs))
        while left:
            here = min(left, max(1, BLOCK // runs))
            left -= here
            yield tuple(_smoothed(side, (here, runs), rng) for side in self.sides)

    def found(self, noise: tuple[FloatArray, ...], difference: float) -> float:
        """The share of these studies that find the difference."""
        if self.paired:
            moved = noise[0] + difference
            return float(np.mean(self._signed(moved) if self.test == "mann-whitney" else self._t(moved)))
        a, b = noise[0], noise[1] + difference
        return float(np.mean(self._u(a, b) if self.test == "mann-whitney" else self._t(b, a)))

    def _limit(self, runs: int) -> int:
        return limit_of_signed_ranks(runs, self.alpha) if self.paired else limit_of_u(runs, runs, self.alpha)

    def _u(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Whether Mann-Whitney's U is near enough to one of its ends."""
        runs = a.shape[1]
        u = sums_of_second(a, b) - runs * (runs + 1) // 2
        return np.asarray(np.minimum(u, runs * runs - u) <= self._limit(runs))

    def _signed(self, moved: FloatArray) -> FloatArray:
        """Whether Wilcoxon's sum of the ranks of the pairs that rose is near enough to one of its ends."""
        runs = moved.shape[1]
        up = sums_of_risen(moved)
        return np.asarray(np.minimum(up, runs * (runs + 1) // 2 - up) <= self._limit(runs))

    def _t(self, *sides: FloatArray) -> FloatArray:
        """Student's t of one set of differences, or Welch's of two sides."""
        from scipy.special import stdtr

        runs = sides[0].shape[1]
        errors = [side.var(axis=1, ddof=1) / runs for side in sides]
        means = [side.mean(axis=1) for side in sides]
        total = np.sum(errors, axis=0)
        freedom = (runs - 1) * total**2 / np.maximum(np.sum(np.square(errors), axis=0), 1e-300)
        far = np.abs(means[0] - (means[1] if len(means) > 1 else 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            p = 2 * stdtr(freedom, -far / np.sqrt(total))
        return np.asarray(np.where(total > 0, p <= self.alpha, far > 0))


def wilson(share: float, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's interval of a share (1927).

    >>> [round(end, 4) for end in wilson(0.8, 2000)]
    [0.7819, 0.8169]
    """
    from scipy.special import ndtri

    z = float(ndtri((1 + confidence) / 2))
    centre, spread = share + z * z / (2 * n), z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(0.0, (centre - spread) / (1 + z * z / n)), min(1.0, (centre + spread) / (1 + z * z / n))


def _residuals(values: FloatArray) -> FloatArray:
    """What each run is off the mean, so scaled that their mean square is the unbiased variance."""
    if constant(values):  # exactly: the mean of equal numbers may be off by a rounding
        return np.zeros_like(values)
    return np.asarray((values - values.mean()) * math.sqrt(len(values) / (len(values) - 1)))


def _smoothed(residuals: FloatArray, shape: tuple[int, int], rng: np.random.Generator) -> FloatArray:
    """Residuals drawn with replacement and either sign, moved by a normal kernel; their variance stays."""
    width = KERNEL * len(residuals) ** -0.2
    deviation = math.sqrt(float(np.mean(residuals**2)))
    drawn = residuals[rng.integers(0, len(residuals), shape)] * (2.0 * rng.integers(0, 2, shape) - 1)
    moved = drawn + width * deviation * rng.standard_normal(shape)
    return np.asarray(moved / math.sqrt(1 + width * width))

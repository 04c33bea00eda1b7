"""A difference over seeds and what is said of it.

Differences are taken seed by seed. Their interval is Student's of 95 %, each for itself. Where methods are
tested, p is that of the paired permutation test (exact, two-sided), raised by Holm over all that are tested
together; a method is said to win back only if both agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evenhand.evaluation.ci_mnist_marks.numbers import BySeed
from evenhand.report.numbers import ROUNDING
from evenhand.statistics.corrections import holm
from evenhand.statistics.effects import effect
from evenhand.statistics.outcome import ALPHA
from evenhand.statistics.permutation import permutation_paired

NAN = float("nan")
ABOVE, BELOW, UNCLEAR = "above 0", "below 0", "cannot tell"


@dataclass(frozen=True)
class Difference:
    """A mean difference with its interval, its pairs of runs, and p before and after Holm's correction."""

    mean: float
    low: float
    high: float
    n: int
    p: float = NAN
    corrected: float = NAN

    @property
    def side(self) -> str:
        """Where the interval lies.

        >>> Difference(0.2, 0.1, 0.3, 10).side, Difference(0.2, -0.1, 0.5, 10).side
        ('above 0', 'cannot tell')
        """
        return ABOVE if self.low > ROUNDING else BELOW if self.high < -ROUNDING else UNCLEAR

    @property
    def shown(self) -> str:
        """Where it lies by interval and corrected p together."""
        return self.side if self.corrected <= ALPHA else UNCLEAR


def difference(one: BySeed, other: BySeed) -> Difference:
    """One less the other, over the seeds that both have.

    >>> found = difference({1: 0.9, 2: 0.8, 3: 0.9}, {1: 0.1, 2: 0.1, 4: 0.0})
    >>> round(found.mean, 6), round(found.high, 4), found.n
    (0.75, 1.3853, 2)
    """
    seeds = sorted(one.keys() & other.keys())
    a, b = [other[seed] for seed in seeds], [one[seed] for seed in seeds]
    found = effect(a, b, paired=True)
    p = permutation_paired(a, b).p if len(seeds) > 1 else NAN
    return Difference(found.difference, found.low, found.high, len(seeds), p)


def by_holm(differences: Sequence[Difference]) -> list[Difference]:
    """The same with Holm's p over all of them.

    >>> two = by_holm([Difference(0.4, 0.1, 0.7, 9, p=0.02), Difference(0.1, -0.1, 0.3, 9, p=0.3)])
    >>> [(found.corrected, found.shown) for found in two]
    [(0.04, 'above 0'), (0.3, 'cannot tell')]
    """
    raised = holm(np.array([found.p for found in differences], dtype=np.float64))
    return [replace(found, corrected=float(p)) for found, p in zip(differences, raised, strict=True)]

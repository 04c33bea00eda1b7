"""The error of a difference of two means over trainings: other rows and other trainings, together.

Errors over rows are normal and well known; the variance of a few trainings is hardly known, so that Student's
quantile takes the normal one's place, with the degrees of freedom of F. Satterthwaite (Biometrics Bulletin
1946) for a sum of variances. Of a model with one training nothing is known, and nothing is added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from evenhand.arrays import FloatArray

KNOWN = 1e9  # degrees of freedom of what is as good as known


@dataclass(frozen=True)
class RunError:
    """The variance of a difference of means over runs, and its degrees of freedom.

    >>> found = RunError.of([np.array([0.1, 0.3]), np.array([0.5, 0.7])])
    >>> round(found.variance, 3), round(found.freedom, 3)
    (0.02, 2.0)
    """

    variance: float = 0.0
    freedom: float = KNOWN

    @classmethod
    def of(cls, models: Sequence[FloatArray]) -> RunError:
        """Of the values of each model's runs."""
        parts = [(runs.var(ddof=1) / len(runs), len(runs) - 1) for runs in models if len(runs) > 1]
        return cls(*_summed(parts))

    def reach(self, rows: float, confidence: float) -> float:
        """How far the interval reaches, of which the rows alone would make so much."""
        from scipy.special import stdtrit

        variance, freedom = self._with_rows(rows, confidence)
        return float(np.sqrt(variance) * stdtrit(freedom, (1 + confidence) / 2))

    def p(self, moved: float, rows: float, confidence: float) -> float:
        """Two-sided p of a difference of 0."""
        from scipy.special import stdtr

        variance, freedom = self._with_rows(rows, confidence)
        if variance == 0:
            return float(moved == 0)
        return float(2 * stdtr(freedom, -abs(moved) / np.sqrt(variance)))

    def _with_rows(self, rows: float, confidence: float) -> tuple[float, float]:
        z = NormalDist().inv_cdf((1 + confidence) / 2)
        return _summed([(self.variance, self.freedom), ((rows / z) ** 2, KNOWN)])


def _summed(parts: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The sum of variances, and its degrees of freedom."""
    variance = float(sum(each for each, _ in parts))
    unsure = sum(each**2 / freedom for each, freedom in parts)
    return variance, float(min(variance**2 / unsure, KNOWN)) if unsure > 0 else KNOWN

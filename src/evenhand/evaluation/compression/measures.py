"""What a population of compressed models measures against the base runs of its own seeds.

CEV and SDE of each run against the base run of its seed (S2), raw and divided by those of a random predictor
(closed form, with a floor); classes whose base error rate is 0 are skipped and counted. CIE: the rows whose
modal label differs between the populations; a tie goes to the lowest class id (Hooker et al. 2019).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from evenhand.arrays import FloatArray, IntArray
from evenhand.evaluation.compression.populations import Compressed, Population
from evenhand.metrics.cie import Exemplars, cie
from evenhand.metrics.counts import Counts
from evenhand.metrics.pairs import all_rows, error_rates, pair_measures, relative_changes
from evenhand.statistics.effects import mean_interval

CEV, SDE, ACCURACY = "cev", "sde", "accuracy"
KEYS = (ACCURACY, CEV, SDE, "cev_norm", "sde_norm")


@dataclass(frozen=True, eq=False)
class Against:
    """One population against the base: numbers by seed, relative changes by class, and exemplars."""

    world: Compressed = field(repr=False)
    population: Population

    @cached_property
    def seeds(self) -> tuple[int, ...]:
        """The seeds that both have."""
        return self.world.shared(self.population)

    @cached_property
    def rates(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """FPR and FNR of the base, then of the population, `[S, K]` each."""
        found = [self._rates(one) for one in (self.world.base, self.population)]
        return (*found[0], *found[1])

    def _rates(self, one: Population) -> tuple[FloatArray, FloatArray]:
        y, n = self.world.y, len(self.world.classes)
        counts = Counts.from_predictions(y, one.of_seeds(self.seeds), np.zeros(len(y), dtype=np.int64), n, 1)
        fpr, fnr = error_rates(all_rows(counts))
        return fpr[..., 0, :], fnr[..., 0, :]

    @cached_property
    def by_seed(self) -> dict[str, FloatArray]:
        """Accuracy, CEV, SDE, their normalised forms and the classes skipped, `[S]` each."""
        found = pair_measures(*self.rates, n_classes=len(self.world.classes))
        right = (self.population.of_seeds(self.seeds) == self.world.y).mean(axis=1)
        return {key: np.asarray(found[key], dtype=np.float64) for key in (*KEYS[1:], "skipped")} | {
            ACCURACY: right
        }

    @cached_property
    def changes(self) -> tuple[FloatArray, FloatArray]:
        """Changes dFPR and dFNR of each seed and class, `[S, K]`; NaN where the base has no such error."""
        return relative_changes(*self.rates)

    @cached_property
    def pooled_changes(self) -> tuple[FloatArray, FloatArray]:
        """Changes dFPR and dFNR of each class `[K]`, errors of all seeds added up: 0 is then rare."""
        return relative_changes(*(rate.mean(axis=0) for rate in self.rates))

    @cached_property
    def exemplars(self) -> Exemplars:
        """The rows whose modal label the compression changed."""
        base, other = (one.of_seeds(self.seeds) for one in (self.world.base, self.population))
        return cie(base, other, len(self.world.classes))

    @property
    def rows_of_exemplars(self) -> IntArray:
        """Their places in the data."""
        return self.world.rows[self.exemplars.indices]


def against_base(world: Compressed) -> list[Against]:
    """Every compressed population that shares seeds with the base."""
    return [Against(world, one) for one in world.others if world.shared(one)]


def summary(values: object, within: tuple[float, float] = (-np.inf, np.inf)) -> dict[str, Any]:
    """Number of runs, mean, deviation (ddof 1), range and 95 % interval over seeds.

    The interval ends where values must, `within`.

    >>> {key: round(value, 4) for key, value in summary([1.0, 2.0, 3.0]).items()}
    {'n': 3, 'mean': 2.0, 'std': 1.0, 'min': 1.0, 'max': 3.0, 'low': -0.4841, 'high': 4.4841}
    """
    known = np.asarray(values, dtype=np.float64)
    known = known[np.isfinite(known)]
    if not len(known):
        return {"n": 0, **dict.fromkeys(("mean", "std", "min", "max", "low", "high"), float("nan"))}
    low, high = mean_interval(known, within=within)
    spread = float(known.std(ddof=1)) if len(known) > 1 else float("nan")
    return {"n": len(known), "mean": float(known.mean()), "std": spread, "min": float(known.min()),
            "max": float(known.max()), "low": low, "high": high}  # fmt: skip

"""Correlations of all splits, pooled, with draws of a bootstrap over splits and settings.

The rule: rho is taken among the models of one split and averaged over the splits of a task. Over shifts the
severities of a kind count equally, then the kinds; over tasks, each task counts equally. A draw takes as many
seeds, and as many settings, as there are, with replacement, the same for all tasks: models of one split share
their test rows, and models of one setting their method (Owen 2007, the pigeonhole bootstrap, whose intervals
are rather too wide than too narrow).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.evaluation.er_predicts_shift.layout import CONFIDENCE, CONTROLS, OUTCOMES, PREDICTORS, TIMES
from evenhand.evaluation.er_predicts_shift.models import Models, Shift, Split
from evenhand.evaluation.er_predicts_shift.ranks import partial, rank_correlations

BLOCK = 250  # draws whose matrices are held at once
PLAIN, PARTIAL = "plain", "partial"
Key = tuple[str, str, str, Shift]  # plain or partial, predictor, outcome, shift
Found = dict[Key, FloatArray]


@dataclass(frozen=True)
class Estimate:
    """A pooled correlation (or a difference of two) with its interval; the first draw is the data itself."""

    value: float
    low: float
    high: float
    draws: FloatArray = field(repr=False, compare=False)


@dataclass(frozen=True)
class Pool:
    """Correlations `[1 + times]` of every task: kind of correlation, predictor, outcome, shift."""

    by_task: dict[str, Found] = field(repr=False)

    @property
    def shifts(self) -> list[Shift]:
        """All shifts that some task was measured under."""
        return list(dict.fromkeys(key[3] for found in self.by_task.values() for key in found))

    def one(self, task: str, kind: str, predictor: str, outcome: str, shift: Shift) -> Estimate | None:
        """One task under one shift."""
        draws = self.by_task[task].get((kind, predictor, outcome, shift))
        return None if draws is None else estimate(draws)

    def task(self, task: str, kind: str, predictor: str, outcome: str) -> Estimate:
        """One task: the mean over severities, then over kinds of shift."""
        return estimate(self._task(task, kind, predictor, outcome))

    def shift(self, shift: Shift, kind: str, predictor: str, outcome: str) -> Estimate:
        """One shift: the mean over the tasks that have it."""
        found = [each.get((kind, predictor, outcome, shift)) for each in self.by_task.values()]
        return estimate(_mean([draws for draws in found if draws is not None]))

    def all(self, kind: str, predictor: str, outcome: str) -> Estimate:
        """The pooled correlation."""
        return estimate(_mean([self._task(task, kind, predictor, outcome) for task in self.by_task]))

    def _task(self, task: str, kind: str, predictor: str, outcome: str) -> FloatArray:
        kinds: dict[str, list[FloatArray]] = {}
        for (which, x, y, shift), draws in self.by_task[task].items():
            if (which, x, y) == (kind, predictor, outcome):
                kinds.setdefault(shift[0], []).append(draws)
        return _mean([_mean(draws) for draws in kinds.values()])


def pool(models: Models, times: int = TIMES, seed: int = 0) -> Pool:
    """Every correlation of every task, for the data and `times` draws."""
    rng, seeds = np.random.default_rng(seed), sorted({split.seed for split in models.splits})
    settings, splits = _draws(rng, len(models.settings), times), _draws(rng, len(seeds), times)
    found = {}
    for task in models.tasks:
        of = [split for split in models.splits if split.task == task]
        each = [_correlations(split, settings[:, split.settings]) for split in of]
        weights = np.stack([splits[:, seeds.index(split.seed)] for split in of])
        found[task] = {
            key: _weighted([(one[key], w) for one, w in zip(each, weights, strict=True) if key in one])
            for key in dict.fromkeys(key for one in each for key in one)
        }
    return Pool(found)


def estimate(draws: FloatArray) -> Estimate:
    """The value of the data and the percentile interval of the draws, NaN where half of them have none.

    >>> found = estimate(np.array([0.5, *np.linspace(0.0, 1.0, 101)]))
    >>> found.value, round(found.low, 3), round(found.high, 3)
    (0.5, 0.025, 0.975)
    """
    rest = draws[1:][np.isfinite(draws[1:])]
    if len(rest) < max(2, (len(draws) - 1) / 2) or not np.isfinite(draws[0]):
        return Estimate(float(draws[0]), float("nan"), float("nan"), draws)
    low, high = np.quantile(rest, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Estimate(float(draws[0]), float(low), float(high), draws)


def _draws(rng: np.random.Generator, n: int, times: int) -> FloatArray:
    """How often each of n is taken: once in the data, in each draw by chance, `[1 + times, n]`."""
    drawn = rng.multinomial(n, np.full(n, 1 / n), times)
    return np.concatenate([np.ones((1, n)), drawn]).astype(np.float64)


def _correlations(split: Split, weights: FloatArray) -> Found:
    """All correlations of one split for each draw of settings."""
    predictors, n = list(PREDICTORS), len(PREDICTORS)
    values = np.vstack([split.known, *(split.shifted[outcome] for outcome in OUTCOMES)])
    outcomes = [(outcome, shift) for outcome in OUTCOMES for shift in split.shifts]
    places, controls = np.arange(n, len(values)), [predictors.index(key) for key in CONTROLS]
    parts: dict[tuple[str, str], list[FloatArray]] = {}
    for start in range(0, len(weights), BLOCK):
        matrix = rank_correlations(values, weights[start : start + BLOCK])
        for x, key in enumerate(predictors):
            parts.setdefault((PLAIN, key), []).append(matrix[:, x, n:])
            if key not in CONTROLS:
                parts.setdefault((PARTIAL, key), []).append(partial(matrix, x, places, controls))
    whole = {which: np.concatenate(blocks) for which, blocks in parts.items()}
    return {
        (kind, key, *outcome): draws[:, place]
        for (kind, key), draws in whole.items()
        for place, outcome in enumerate(outcomes)
    }


def _weighted(found: Sequence[tuple[FloatArray, FloatArray]]) -> FloatArray:
    """The mean over splits, each as often as it was drawn; splits without a value do not count."""
    values, weights = (np.stack(part) for part in zip(*found, strict=True))
    weights = np.where(np.isfinite(values), weights, 0.0)
    total = weights.sum(axis=0)
    mean = np.where(np.isfinite(values), values, 0.0) * weights
    return np.where(total > 0, mean.sum(axis=0) / np.where(total > 0, total, 1.0), np.nan)


def _mean(found: Sequence[FloatArray]) -> FloatArray:
    return _weighted([(draws, np.ones_like(draws)) for draws in found])

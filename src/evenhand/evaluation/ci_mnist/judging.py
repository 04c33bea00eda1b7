"""Is a part of a claim shown? A difference or a ratio with its interval, and the rule it is held against.

A difference is taken seed by seed at the same width. What is asked for is its mean over the two widths of the
study, each of which has its own mean and its own deviation over seeds: the interval is Student's with Welch's
degrees of freedom (two to four, for three seeds at two widths), and says nothing of other widths. A claim of
k parts is read from intervals that hold together: each of level 1 - 0.05 / k (Bonferroni).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evenhand.arrays import FloatArray, IntArray
from evenhand.evaluation.ci_mnist.numbers import Series

HOLDS, DOES_NOT, CANNOT_TELL = "holds", "does not", "cannot tell"
NAN = float("nan")
ALPHA = 0.05
CLOSE = 0.02  # two points: less than that is called little, close or similar
DRAWS, SEED = 4000, 0

# a rule: (what it asks of the effect, how it reads the interval)
Rule = Callable[[float, float], str]


@dataclass(frozen=True)
class Part:
    """One checkable sentence of a claim with what the runs say to it."""

    words: str
    effect: float
    low: float
    high: float
    replicates: int
    rule: str
    verdict: str
    unit: str = "difference"
    by: Mapping[str, float] = field(default_factory=dict)  # the effect at each width

    def to_dict(self) -> dict[str, Any]:
        """As a report reads it."""
        return dict(vars(self))


@dataclass(frozen=True)
class Asked:
    """A part before it is judged: how its effect and interval come about, given a level."""

    words: str
    measure: Callable[[float], tuple[float, float, float, int]]
    rule: str
    unit: str = "difference"
    by: Mapping[str, float] = field(default_factory=dict)


def judged(asked: Sequence[Asked]) -> list[Part]:
    """The parts of one claim, read from intervals that hold together."""
    level = 1 - ALPHA / max(1, len(asked))
    return [_judged(one, level) for one in asked]


def _judged(one: Asked, level: float) -> Part:
    effect, low, high, count = one.measure(level)
    known = all(math.isfinite(value) for value in (effect, low, high))
    word = RULES[one.rule](low, high) if known else CANNOT_TELL
    return Part(one.words, effect, low, high, count, one.rule, word, one.unit, one.by)


def together(parts: Sequence[Part]) -> str:
    """A claim holds if all its parts do, and does not if one does not; otherwise nobody can tell.

    >>> part = Part("", 0.1, 0.0, 0.2, 6, "is above 0", CANNOT_TELL)
    >>> together([part])
    'cannot tell'
    """
    words = {part.verdict for part in parts}
    if DOES_NOT in words:
        return DOES_NOT
    return HOLDS if words == {HOLDS} else CANNOT_TELL


def _side(bound: float) -> Rule:
    return lambda low, high: HOLDS if low > bound else DOES_NOT if high < bound else CANNOT_TELL


def _below(bound: float) -> Rule:
    return lambda low, high: HOLDS if high < bound else DOES_NOT if low > bound else CANNOT_TELL


def _within(low: float, high: float) -> str:
    if low > -CLOSE and high < CLOSE:
        return HOLDS
    return DOES_NOT if low > CLOSE or high < -CLOSE else CANNOT_TELL


ABOVE, BELOW, LITTLE = "is above 0", "is below 0", f"is within ±{CLOSE:g}"
NOT_BETTER = f"is below +{CLOSE:g}"
LARGER, MOST, GONE = "is above 1", "is above 0.5", "is below 0.05"
NO_CHANCE = "is at most 0.05"  # of a p-value: a larger one shows nothing
RULES: Mapping[str, Rule] = {
    ABOVE: _side(0.0), BELOW: _below(0.0), LITTLE: _within, NOT_BETTER: _below(CLOSE), LARGER: _side(1.0),
    MOST: _side(0.5), GONE: _below(0.05),
    NO_CHANCE: lambda low, high: HOLDS if high <= ALPHA else CANNOT_TELL,
}  # fmt: skip


def contrast(words: str, rule: str, one: Series, other: Series | None = None) -> Asked:
    """One series minus the other (or itself), seed by seed, with the interval of its mean over widths.

    >>> part = judged([contrast("a is above b", ABOVE, {("w", 1): 0.9, ("w", 2): 0.8}, {("w", 1): 0.1,
    ...     ("w", 2): 0.1})])[0]
    >>> round(part.effect, 6), round(part.high, 4), part.replicates, part.verdict
    (0.75, 1.3853, 2, 'holds')
    """
    shared = [key for key in one if other is None or key in other]
    by: dict[str, list[float]] = {}
    for key in shared:
        by.setdefault(key[0], []).append(one[key] - (0.0 if other is None else other[key]))
    values = [np.array(found) for found in by.values()]

    def measure(level: float) -> tuple[float, float, float, int]:
        mean, reach = mean_over_widths(values, level)
        return mean, mean - reach, mean + reach, len(shared)

    return Asked(words, measure, rule, by={width: float(np.mean(found)) for width, found in by.items()})


def mean_over_widths(values: Sequence[FloatArray], level: float) -> tuple[float, float]:
    """The mean of the widths' means, and half the width of its interval; NaN where a width has one run.

    >>> mean, reach = mean_over_widths([np.array([1.0, 2.0, 3.0])], 0.95)
    >>> mean, round(reach, 4)  # Student's with 2 degrees of freedom: 4.3027 / sqrt(3)
    (2.0, 2.4841)
    """
    from scipy.special import stdtrit

    if not values:
        return NAN, NAN
    mean = float(np.mean([found.mean() for found in values]))
    if min(len(found) for found in values) < 2:
        return mean, NAN
    errors = np.array([found.var(ddof=1) / len(found) for found in values]) / len(values) ** 2
    if not errors.any():
        return mean, 0.0
    freedom = errors.sum() ** 2 / sum(e**2 / (len(v) - 1) for e, v in zip(errors, values, strict=True))
    return mean, float(stdtrit(freedom, (1 + level) / 2) * np.sqrt(errors.sum()))


def resampled(
    words: str, rule: str, n: int, statistic: Callable[[IntArray], float], runs: int, unit: str
) -> Asked:
    """A statistic of n cases (tasks, models), given by their places, with its percentile bootstrap interval.

    Draws in which the statistic is undefined are left out; if more than half are, there is no interval.
    """

    def measure(level: float) -> tuple[float, float, float, int]:
        if n < 3:
            return (statistic(np.arange(n)) if n else NAN), NAN, NAN, runs
        generator = np.random.default_rng(SEED)
        drawn = [statistic(places) for places in generator.integers(0, n, size=(DRAWS, n))]
        low, high = _ends(np.array(drawn, dtype=np.float64), level)
        return statistic(np.arange(n)), low, high, runs

    return Asked(words, measure, rule, unit)


def _ends(drawn: FloatArray, level: float) -> tuple[float, float]:
    known = drawn[np.isfinite(drawn)]
    if 2 * len(known) < len(drawn):
        return NAN, NAN
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return low, high

"""How large is a change? The difference of means with its interval, and Cohen's d with its own (S0)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.statistics.outcome import NAN
from evenhand.statistics.samples import constant, finite, numbers, pairs, sample

SHARE = (0.0, 1.0)  # where rates and accuracies lie
BANDS = ((2.0, "huge"), (1.2, "very large"), (0.8, "large"), (0.5, "medium"), (0.2, "small"))


@dataclass(frozen=True)
class Effect:
    """Difference of means (other - base) and Cohen's d (positive where the other is lower), with intervals.

    `n` are the defined values of the base and of the other; of pairs, both are the number of pairs.
    """

    difference: float
    low: float = NAN
    high: float = NAN
    d: float = NAN
    d_low: float = NAN
    d_high: float = NAN
    band: str = "undefined"
    n: tuple[int, int] = (0, 0)
    paired: bool = False
    confidence: float = 0.95


@dataclass(frozen=True)
class Moments:
    """What two samples say about a difference: its standard error, degrees of freedom, and the unit of d."""

    error: float
    freedom: float  # of the standard error: Welch's, or the number of pairs less 1
    unit: float  # sqrt((s_base^2 + s_other^2) / 2)
    unit_freedom: float


def cohens_d(base: object, other: object) -> float:
    """Effect size (mean base - mean other) / sqrt((s_base^2 + s_other^2) / 2), s with ddof 1.

    Positive where the other is lower, i.e. where a bias shrank. NaN where both samples are constant.

    >>> round(cohens_d([2.0, 4.0], [1.0, 3.0]), 6)
    0.707107
    """
    a, b = sample(base), sample(other)
    if (constant(a) and constant(b)) or not finite(a, b):
        return NAN
    return float((a.mean() - b.mean()) / np.sqrt((_variance(a) + _variance(b)) / 2))


def effect_band(d: float) -> str:
    """Name of an effect size |d|: none, small, medium, large, very large, huge (Sawilowsky 2009).

    >>> [effect_band(d) for d in (0.1, -0.2, 0.8, 2.5)]
    ['none', 'small', 'large', 'huge']
    >>> effect_band(float("nan"))
    'undefined'
    """
    if np.isnan(d):
        return "undefined"
    return next((name for limit, name in BANDS if abs(d) >= limit), "none")


def effect(
    base: object, other: object, paired: bool = False, confidence: float = 0.95, corrected: bool = False
) -> Effect:
    """Difference of means and Cohen's d, both with intervals; NaN where they are undefined.

    The difference: Student's interval of the paired differences, or Welch's (1947) of two samples. d is S0's,
    in units of s = sqrt((s_base^2 + s_other^2) / 2), paired or not, so that both read alike. Its interval
    holds every noncentrality under which t = d s / error would not be a surprise (noncentral t; exact for
    equal spreads and sizes up to the degrees of freedom of s, which are estimated as Satterthwaite's).
    `corrected` multiplies d by Hedges' factor (1981), which takes out the bias of small samples. The band is
    that of d as returned. Two constant samples are one run each: their difference has no interval.

    >>> found = effect([0.30, 0.32, 0.31, 0.33], [0.20, 0.23, 0.21, 0.24], paired=True)
    >>> [round(value, 4) for value in (found.difference, found.low, found.high)]
    [-0.095, -0.1042, -0.0858]
    >>> found.band, found.n
    ('huge', (4, 4))
    """
    a, b = pairs(base, other) if paired else (sample(base, 0), sample(other, 0))
    n = (len(a), len(b))
    if not min(n) or not finite(a, b):
        return Effect(NAN, n=n, paired=paired, confidence=confidence)
    difference = float(b.mean() - a.mean())
    if min(n) < 2 or (constant(a) and constant(b)):
        return Effect(difference, n=n, paired=paired, confidence=confidence)
    seen = moments(a, b, paired)
    reach = _student(seen.freedom, confidence) * seen.error
    factor = hedges_factor(seen.unit_freedom) if corrected else 1.0
    d_low, d_high = _interval_of_d(-difference, seen, confidence)
    d = cohens_d(a, b) * factor
    return Effect(
        difference, difference - reach, difference + reach, d, d_low * factor, d_high * factor,
        effect_band(d), n, paired, confidence,
    )  # fmt: skip


def moments(base: FloatArray, other: FloatArray, paired: bool) -> Moments:
    """Errors and degrees of freedom of a difference of means, for pairs or for two samples.

    >>> found = moments(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0]), paired=False)
    >>> round(found.error, 6), round(found.freedom, 6), round(found.unit, 6)
    (1.290994, 2.941176, 1.581139)
    """
    n_a, n_b = len(base), len(other)
    v_a, v_b = _variance(base), _variance(other)
    total, unit = v_a + v_b, float(np.sqrt((v_a + v_b) / 2))
    if not paired:
        squares = v_a**2 / (n_a - 1) + v_b**2 / (n_b - 1)
        error = v_a / n_a + v_b / n_b
        welch = error**2 / ((v_a / n_a) ** 2 / (n_a - 1) + (v_b / n_b) ** 2 / (n_b - 1))
        return Moments(float(np.sqrt(error)), welch, unit, total**2 / squares)
    shared = float(np.cov(base, other)[0, 1])
    freedom = total**2 * (n_a - 1) / (v_a**2 + v_b**2 + 2 * shared**2)
    return Moments(float(np.sqrt(_variance(other - base) / n_a)), n_a - 1, unit, freedom)


def hedges_factor(freedom: float) -> float:
    """What Cohen's d of a small sample must be multiplied by to be right on average (Hedges 1981).

    J = gamma(v / 2) / (sqrt(v / 2) gamma((v - 1) / 2)) for v degrees of freedom; NaN for 1 and fewer.

    >>> round(hedges_factor(8), 6), round(hedges_factor(30), 6)
    (0.902703, 0.974754)
    """
    from scipy.special import gammaln

    if not freedom > 1:
        return NAN
    return float(np.exp(gammaln(freedom / 2) - gammaln((freedom - 1) / 2)) / np.sqrt(freedom / 2))


def mean_interval(
    values: object, confidence: float = 0.95, within: tuple[float, float] = (-np.inf, np.inf)
) -> tuple[float, float]:
    """Student's interval of the mean over runs: where the mean over all seeds lies; NaN for one value.

    It ends where such values must, `within`: 0 and 1 for shares, which Student's own interval may leave.

    >>> [round(value, 4) for value in mean_interval([1.0, 2.0, 3.0])]  # 2 -+ 4.3027 / sqrt(3)
    [-0.4841, 4.4841]
    >>> mean_interval([0.3, 0.6], within=(0.0, 1.0))
    (0.0, 1.0)
    """
    known = numbers(values)
    known = known[~np.isnan(known)]
    if len(known) < 2 or not finite(known):
        return NAN, NAN
    mean, reach = (
        float(known.mean()),
        _student(len(known) - 1, confidence) * np.sqrt(_variance(known) / len(known)),
    )
    least, most = within
    return max(mean - float(reach), least), min(mean + float(reach), most)


def p_of_mean(values: object) -> float:
    """Two-sided p of Student's test that the mean over runs is 0; NaN for fewer than two, or equal ones.

    >>> round(p_of_mean([1.0, 2.0, 3.0]), 4)
    0.0742
    """
    from scipy.special import stdtr

    known = numbers(values)
    known = known[~np.isnan(known)]
    if len(known) < 2 or not finite(known) or _variance(known) == 0:
        return NAN
    t = abs(known.mean()) / np.sqrt(_variance(known) / len(known))
    return float(2 * stdtr(len(known) - 1, -t))


def _student(freedom: float, confidence: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + confidence) / 2))


def _interval_of_d(fall: float, seen: Moments, confidence: float) -> tuple[float, float]:
    from scipy.special import nctdtrinc

    if seen.error <= 1e-12 * seen.unit:  # every pair differs by the same: nothing is left to chance
        return NAN, NAN
    t, tail = fall / seen.error, (1 - confidence) / 2
    low, high = nctdtrinc(seen.unit_freedom, np.array([1 - tail, tail]), t) * seen.error / seen.unit
    return float(low), float(high)


def _variance(values: FloatArray) -> float:
    """The sample variance, exactly 0 for constant values whatever the rounding of their mean."""
    return 0.0 if constant(values) else float(np.var(values, ddof=1))

"""Did a number change between two sets of runs? Tests, effect sizes and corrections for many tests (S0).

Each test takes the values of the base runs and of the other runs and says with a label which way the other
moved: "-" significantly down, "+" significantly up, "NS" not significantly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from evenhand.arrays import Array, FloatArray, as_array
from evenhand.metrics.undefined import divide
from evenhand.statistics.variance import significant

Alternative = Literal["two-sided", "less", "greater", "posthoc"]
BANDS = ((2.0, "huge"), (1.2, "very large"), (0.8, "large"), (0.5, "medium"), (0.2, "small"))
ALPHA = 0.05


@dataclass(frozen=True)
class Test:
    """Statistic and p-value, the side that was tested, the label ("-", "+", "NS"), and why if undefined."""

    statistic: float
    p: float
    alternative: str
    label: str
    reason: str | None = None

    __test__ = False  # not a test case, whatever a test runner makes of the name


def mann_whitney(
    base: object, other: object, alternative: Alternative = "two-sided", alpha: float = ALPHA
) -> Test:
    """Mann-Whitney U of the base runs against the others: normal approximation, tie and continuity corrected.

    "posthoc" is S0's rule: one-sided, the side chosen after seeing the means ("less" if the base mean is the
    lower), in effect a two-sided test at twice the level. When both samples are constant the runs carry no
    evidence of more than one run each, and the label is "NS" whatever p.

    >>> found = mann_whitney([0.5, 0.6, 0.7, 0.8], [0.1, 0.2, 0.3, 0.4], "posthoc")
    >>> found.alternative, found.label, round(found.p, 4)
    ('greater', '-', 0.0152)
    """
    from scipy.stats import mannwhitneyu

    a, b = _sample(base), _sample(other)
    rise = float(np.mean(_rounded(b)) - np.mean(_rounded(a)))
    side = ("less" if rise > 0 else "greater") if alternative == "posthoc" else alternative
    found = mannwhitneyu(a, b, alternative=side, method="asymptotic")
    p = float(found.pvalue)
    constant = "both samples are constant" if _constant(a) and _constant(b) else None
    label = "NS" if constant else _label(p, _direction_of_side(side, rise), alpha)
    return Test(float(found.statistic), p, side, label, constant)


def levene_relative(base: object, other: object, alpha: float = ALPHA) -> Test:
    """Do the relative spreads differ? Levene around the median (Brown & Forsythe 1974) of values / own mean.

    The label compares the sample variances of the normalised values. NaN and "NS" where a mean is 0, where
    both samples are constant, and where all values are equally far from their medians (as any two are).

    >>> levene_relative([1.0, 1.0, 1.0, 1.01], [1.0, 2.0, 3.0, 4.0]).label
    '+'
    """
    from scipy.stats import levene

    a, b = _sample(base), _sample(other)
    if a.mean() == 0 or b.mean() == 0:
        return Test(np.nan, np.nan, "two-sided", "NS", "a sample has mean 0")
    if _constant(a) and _constant(b):
        return Test(np.nan, np.nan, "two-sided", "NS", "both samples are constant")
    a, b = a / a.mean(), b / b.mean()
    if _equally_far(a) and _equally_far(b):
        return Test(np.nan, np.nan, "two-sided", "NS", "all values are equally far from their medians")
    found = levene(a, b, center="median")
    p, rise = float(found.pvalue), relative_variance(_rounded(b)) - relative_variance(_rounded(a))
    return Test(float(found.statistic), p, "two-sided", _label(p, rise, alpha))


def relative_variance(values: object) -> float:
    """Sample variance (ddof 1) of the values divided by their mean; exactly 0 for constant values.

    NaN where the mean is 0.

    >>> round(relative_variance([1.0, 3.0]), 6)
    0.5
    """
    sample = _sample(values)
    if _constant(sample):
        return 0.0
    return float(np.var(divide(sample, sample.mean()), ddof=1))


def cohens_d(base: object, other: object) -> float:
    """Effect size (mean base - mean other) / sqrt((s_base^2 + s_other^2) / 2), s with ddof 1.

    Positive where the other is lower, i.e. where a bias shrank. NaN where both samples are constant.

    >>> round(cohens_d([2.0, 4.0], [1.0, 3.0]), 6)
    0.707107
    """
    a, b = _sample(base), _sample(other)
    if _constant(a) and _constant(b):
        return float("nan")
    variances = [0.0 if _constant(sample) else float(np.var(sample, ddof=1)) for sample in (a, b)]
    return float((a.mean() - b.mean()) / np.sqrt(sum(variances) / 2))


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


def holm(p_values: object) -> FloatArray:
    """P-values adjusted so that the chance of any false finding stays under the level (Holm 1979).

    Undefined p-values stay NaN and are not counted as tests.

    >>> holm([0.01, 0.04, 0.03]).round(6).tolist()
    [0.03, 0.06, 0.06]
    """
    p, order = _sorted_defined(p_values)
    m = len(order)
    steps = np.maximum.accumulate(p[order] * (m - np.arange(m)))
    return _placed(p, order, steps)


def benjamini_hochberg(p_values: object) -> FloatArray:
    """P-values adjusted so that the expected share of false findings stays under the level (1995).

    Undefined p-values stay NaN and are not counted as tests.

    >>> benjamini_hochberg([0.01, 0.04, 0.03]).round(6).tolist()
    [0.03, 0.04, 0.04]
    """
    p, order = _sorted_defined(p_values)
    m = len(order)
    steps = p[order] * m / (1 + np.arange(m))
    return _placed(p, order, np.minimum.accumulate(steps[::-1])[::-1])


def _sample(values: object) -> FloatArray:
    """The defined values of the runs; a run whose value is undefined takes no part."""
    sample = np.asarray(as_array(values), dtype=np.float64).ravel()
    sample = sample[~np.isnan(sample)]
    if len(sample) < 2:
        raise ValueError(f"a test needs at least 2 defined values in each sample, not {len(sample)}")
    return sample


def _rounded(sample: FloatArray) -> FloatArray:
    """S0 reads directions off values of 4 significant digits, which matters only where they tie."""
    return np.array([significant(value) for value in sample.tolist()])


def _constant(sample: FloatArray) -> bool:
    return bool(np.ptp(sample) == 0)


def _equally_far(sample: FloatArray) -> bool:
    """Levene divides by the variation of these distances; two runs, or two values in turn, have none."""
    far = np.abs(sample - np.median(sample))
    return bool(np.ptp(far) <= 1e-12 * far.max())


def _direction_of_side(side: str, rise: float) -> float:
    return {"less": 1.0, "greater": -1.0}.get(side, rise)


def _label(p: float, rise: float, alpha: float) -> str:
    if np.isnan(p) or p > alpha or np.isnan(rise) or rise == 0:
        return "NS"
    return "+" if rise > 0 else "-"


def _sorted_defined(p_values: object) -> tuple[FloatArray, Array]:
    p = np.asarray(as_array(p_values), dtype=np.float64)
    if p.ndim != 1:
        raise ValueError(f"p-values must be a list, not an array {p.shape}")
    order = np.argsort(p, kind="stable")
    return p, order[: np.count_nonzero(~np.isnan(p))]


def _placed(p: FloatArray, order: Array, values: FloatArray) -> FloatArray:
    adjusted = np.full_like(p, np.nan)
    adjusted[order] = np.minimum(values, 1.0)
    return adjusted

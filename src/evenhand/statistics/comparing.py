"""One metric of two sets of runs, compared in every way at once; and many of them, judged together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.errors import InputError
from evenhand.statistics.corrections import correct
from evenhand.statistics.dominance import Superiority, superiority
from evenhand.statistics.effects import Effect, effect, moments
from evenhand.statistics.imagined import best_corrected
from evenhand.statistics.outcome import ALPHA, APART, NAN, Test, undefined
from evenhand.statistics.paired import wilcoxon
from evenhand.statistics.permutation import permutation_paired, permutation_unpaired
from evenhand.statistics.power import attainable_p, check_test
from evenhand.statistics.samples import constant, finite, pairs, sample
from evenhand.statistics.tests import mann_whitney
from evenhand.statistics.verdicts import NO_DIFFERENCE, Verdict, verdict

Convention = Literal["plain", "artifact"]


@dataclass(frozen=True)
class RunComparison:
    """What two sets of runs say about one metric.

    `attainable` is the smallest p that so many runs allow, `detectable` the smallest true difference that
    they find with a chance of 0.8, `within` whether the difference is shown to be inside the margin.
    """

    test: Test
    effect: Effect
    superiority: Superiority
    attainable: float
    detectable: float
    verdict: str
    why: str
    p_adjusted: float
    alpha: float = ALPHA
    practical: float | None = None
    margin: float | None = None
    within: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The plain numbers, as a report keeps them: None where undefined."""
        values = {
            "difference": self.effect.difference, "low": self.effect.low, "high": self.effect.high,
            "p": self.test.p, "p_adjusted": self.p_adjusted, "label": self.test.label,
            "effect": self.effect.d, "effect_low": self.effect.d_low, "effect_high": self.effect.d_high,
            "band": self.effect.band, "superiority": self.superiority.probability,
            "attainable": self.attainable, "detectable": self.detectable, "n": list(self.effect.n),
            "paired": self.effect.paired, "verdict": self.verdict, "why": self.why,
        }  # fmt: skip
        return {key: None if value != value or value in (math.inf, -math.inf) else value
                for key, value in values.items()}  # fmt: skip


def compare_runs(
    base: object,
    other: object,
    test: str = "mann-whitney",
    convention: Convention = "plain",
    alpha: float = ALPHA,
    paired: bool | None = None,
    confidence: float = 0.95,
    practical: float | None = None,
    margin: float | None = None,
    seed: int = 0,
) -> RunComparison:
    """Test, effect, chance of superiority and verdict of one metric, runs of the base against the others.

    `test` is "mann-whitney", "wilcoxon" (paired by its nature) or "permutation" (paired or not). `paired`:
    the same place is the same seed; it decides the interval, and the permutation. The convention "plain" is
    two-sided and exact where it can be; "artifact" is S0's Mann-Whitney (`mann_whitney(..., "posthoc")`).
    `practical` and `margin` ask for more than a difference from 0: see `verdict` and `judge`.

    >>> found = compare_runs([0.30, 0.32, 0.31, 0.33, 0.35], [0.21, 0.20, 0.24, 0.22, 0.23])
    >>> found.verdict, round(found.effect.difference, 3), round(found.test.p, 4), found.effect.band
    ('lower', -0.102, 0.0079, 'huge')
    >>> compare_runs([0.30, 0.32, 0.31], [0.21, 0.20, 0.24]).verdict
    'not enough runs to tell'
    """
    check_test(test)
    if convention not in ("plain", "artifact"):
        raise InputError(f"there is no convention '{convention}' (plain, artifact)")
    together = test == "wilcoxon" if paired is None else paired or test == "wilcoxon"
    a, b = pairs(base, other) if together else (sample(base, 0), sample(other, 0))
    size = effect(a, b, together, confidence)
    rank = superiority(a, b, together, confidence)
    told = _tested(a, b, test, convention, alpha, together, seed)
    if (
        convention == "plain" and rank.delta * size.difference > 0
    ):  # delta is positive where the other is lower
        told = replace(told, label="NS", reason=told.reason or APART)
    least = attainable_p(test, *size.n, paired=together, convention=convention)
    found = RunComparison(told, size, rank, least, _detectable(a, b, together, alpha), "", "", told.p,
                          alpha, practical, margin, _within(a, b, together, alpha, margin))  # fmt: skip
    return _judged(found, told.p, least)


def judge(comparisons: Sequence[RunComparison], how: str = "holm") -> list[RunComparison]:
    """The comparisons with their p-values corrected for each other (`correct`), and their verdicts anew.

    Whether a comparison had enough runs depends on the others too: its p-value is replaced by the smallest
    that its runs allow, and if the corrected one is still above alpha, no outcome of its runs could have been
    shown.

    >>> runs = [[0.30, 0.32, 0.31, 0.33, 0.35], [0.21, 0.20, 0.24, 0.22, 0.23]]
    >>> alone = compare_runs(*runs)
    >>> [alone.verdict, *{found.verdict for found in judge([alone] * 10)}]
    ['lower', 'not enough runs to tell']
    """
    p = np.array([found.test.p for found in comparisons], dtype=np.float64)
    adjusted = correct(p, how)
    best = best_corrected(p, np.array([found.attainable for found in comparisons]), how)
    return [_judged(*told) for told in zip(comparisons, adjusted.tolist(), best.tolist(), strict=True)]


def _judged(found: RunComparison, p: float, best: float) -> RunComparison:
    said = verdict(found.test, found.effect.difference, best, p=p, alpha=found.alpha,
                   detectable=found.detectable, practical=found.practical)  # fmt: skip
    if found.within and found.margin is not None and said.word not in ("lower", "higher"):
        said = Verdict(f"no difference larger than {found.margin:g}", "the interval lies inside the margin")
    return replace(found, verdict=said.word, why=said.why, p_adjusted=p)


def _tested(
    a: FloatArray, b: FloatArray, test: str, convention: str, alpha: float, paired: bool, seed: int
) -> Test:
    if min(len(a), len(b)) < 2:
        return undefined("two-sided", "there are no two defined values on both sides")
    if test == "wilcoxon":
        return wilcoxon(a, b, alpha=alpha)
    if test == "permutation":
        permute = permutation_paired if paired else permutation_unpaired
        return permute(a, b, seed=seed, alpha=alpha)
    if convention == "artifact":
        return mann_whitney(a, b, "posthoc", alpha)
    return mann_whitney(a, b, alpha=alpha, method="auto")


def _detectable(a: FloatArray, b: FloatArray, paired: bool, alpha: float, power: float = 0.8) -> float:
    """What `detectable_difference` says of these samples, with the spread and the error that they have."""
    from scipy.special import nctdtrinc, stdtrit

    if min(len(a), len(b)) < 2 or not finite(a, b) or (constant(a) and constant(b)):
        return NAN
    seen = moments(a, b, paired)
    return float(nctdtrinc(seen.freedom, 1 - power, stdtrit(seen.freedom, 1 - alpha / 2))) * seen.error


def _within(a: FloatArray, b: FloatArray, paired: bool, alpha: float, margin: float | None) -> bool:
    """Two one-sided tests (Schuirmann 1987): the interval of 1 - 2 alpha inside -margin .. margin."""
    if margin is None:
        return False
    found = effect(a, b, paired, confidence=1 - 2 * alpha)
    return -margin < found.low and found.high < margin


__all__ = ["NO_DIFFERENCE", "Convention", "RunComparison", "compare_runs", "judge"]

"""What may be said of two sets of runs: lower, higher, no difference shown, or not enough runs to tell."""

from __future__ import annotations

import math
from typing import NamedTuple

from evenhand.statistics.outcome import ALPHA, CONSTANT, NAN, Test

LOWER, HIGHER = "lower", "higher"
NO_DIFFERENCE = "no difference shown"
NOT_ENOUGH = "not enough runs to tell"


class Verdict(NamedTuple):
    """The word, and the reason for it in a sentence."""

    word: str
    why: str


def verdict(
    test: Test,
    difference: float,
    attainable: float,
    *,
    p: float | None = None,
    tests: int = 1,
    alpha: float = ALPHA,
    detectable: float = NAN,
    practical: float | None = None,
) -> Verdict:
    """What a test says, in this order; `p` is the corrected p-value if there were several tests.

    1. "lower" or "higher" if p is at most alpha and the test has a direction.
    2. "not enough runs to tell" if these runs could not have reached the level: the smallest p of the test
       (`attainable_p`) times the number of tests it was corrected for is above alpha; or if both samples are
       constant and different, which is one run each; or if there are fewer than 2 defined values.
    3. "not enough runs to tell" if a difference of `practical` size would have been missed too easily: the
       smallest detectable one (power 0.8, see `detectable_difference`) is larger. Asked for only.
    4. "no difference shown": which is not "no difference".

    >>> from evenhand.statistics.tests import mann_whitney
    >>> found = mann_whitney([5, 6, 7], [1, 2, 3], method="auto")
    >>> verdict(found, difference=-4.0, attainable=0.1).word  # 3 and 3 runs: no p below 0.1
    'not enough runs to tell'
    """
    judged = test.p if p is None else p
    if test.label != "NS" and judged <= alpha:
        return Verdict(HIGHER if test.label == "+" else LOWER, f"p = {judged:.2g}")
    if math.isnan(difference):
        return Verdict(NOT_ENOUGH, test.reason or "there are no two defined values on both sides")
    if test.reason == CONSTANT and difference != 0:
        return Verdict(NOT_ENOUGH, "all runs of each side gave the same number: they count as one run")
    if attainable * tests > alpha:
        return Verdict(NOT_ENOUGH, _too_few(attainable * tests, alpha))
    if practical is not None and detectable > practical:
        why = f"a difference of {practical:g} would be missed too often: {detectable:.2g} is needed"
        return Verdict(NOT_ENOUGH, why)
    return Verdict(NO_DIFFERENCE, test.reason or f"p = {judged:.2g}")


def _too_few(best: float, alpha: float) -> str:
    return f"so few runs cannot give a p of {alpha:g}: the smallest possible is {min(best, 1.0):.2g}"

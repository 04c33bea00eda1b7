"""Levelling down: did a smaller gap come from the worst group gaining, or from the best one losing?

The worst and the best group are those of the base. A change counts as shown when Student's interval of the
seed-by-seed differences does not cover 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.evaluation.study.pairing import Difference, difference
from evenhand.evaluation.study.setup import Arm, Setup
from evenhand.metrics.catalogue import CATALOGUE
from evenhand.metrics.rates import RATES
from evenhand.metrics.undefined import mean_defined

ACCURACY = "accuracy"
# what became of the worst and of the best group (1: better off, -1: worse off, 0: not shown)
VERDICTS = {
    (1, 1): "both gained", (-1, -1): "both lost", (1, 0): "worst gained", (1, -1): "worst gained",
    (0, -1): "levelled down", (0, 0): "no change shown", (-1, 0): "worst lost", (-1, 1): "worst lost",
    (0, 1): "best gained",
}  # fmt: skip


@dataclass(frozen=True)
class Side:
    """One group of the two: its name, how its rate moved, and which way that is for it."""

    name: str
    moved: Difference
    gain: int


def rate_of_interest(keys: tuple[str, ...]) -> str:
    """The rate that is looked at: the first that a reported metric compares and that has a better direction.

    >>> rate_of_interest(("selection.gap", "tpr.gap")), rate_of_interest(("selection.gap",))
    ('tpr', 'accuracy')
    """
    for key in keys:
        statistic = CATALOGUE[key].statistic
        for rate in statistic.rates() if statistic else ():
            if rate in RATES and RATES[rate].better != "none":
                return rate
    return ACCURACY


def levelling(setup: Setup, arm: Arm, base: Arm) -> dict[str, Any] | None:
    """What the method did to the base's worst and best group; None where there are not two with a rate."""
    rate = rate_of_interest(setup.report.metrics)
    part, better = setup.report.part, RATES[rate].better
    names, before = setup.frame.rates(part, rate, base.rows)
    others, after = setup.frame.rates(part, rate, arm.rows)
    shared = [name for name in names if name in others]
    middle = np.array([float(mean_defined(before[:, names.index(name)])) for name in shared])
    if len(shared) < 2 or np.isnan(middle).sum() > len(shared) - 2:
        return None
    folded = middle if better == "higher" else -middle
    sides = [
        _side(setup, base, arm, shared[place], before[:, names.index(shared[place])],
              after[:, others.index(shared[place])], better)
        for place in (int(np.nanargmin(folded)), int(np.nanargmax(folded)))
    ]  # fmt: skip
    return _entry(rate, *sides)


def _side(
    setup: Setup, base: Arm, arm: Arm, name: str, before: FloatArray, after: FloatArray, better: str
) -> Side:
    moved = difference(base.seeds, before, arm.seeds, after, setup.report.confidence)
    up = int(moved.low > 0) - int(moved.high < 0)
    return Side(name, moved, up if better == "higher" else -up)


def _entry(rate: str, worst: Side, best: Side) -> dict[str, Any]:
    verdict = VERDICTS[worst.gain, best.gain]
    found: dict[str, Any] = {"rate": rate}
    for place, side in (("worst", worst), ("best", best)):
        found |= {
            place: side.name, f"{place}_change": side.moved.mean, f"{place}_low": side.moved.low,
            f"{place}_high": side.moved.high,
        }  # fmt: skip
    return {**found, "verdict": verdict, "words": _words(rate, worst, best)}


def _words(rate: str, worst: Side, best: Side) -> str:
    if worst.moved.n < 2:
        return "fewer than two seeds: whether a group gained or lost cannot be told"
    said = [
        f"{side.name}, the {place} group of the base, {_did(side)} ({side.moved.mean:+.3f})"
        for place, side in (("worst", worst), ("best", best))
    ]
    return f"{RATES[rate].name}: {said[0]}; {said[1]}"


def _did(side: Side) -> str:
    return {1: "gained", -1: "lost", 0: "showed no change"}[side.gain]

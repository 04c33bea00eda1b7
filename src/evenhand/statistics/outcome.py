"""What a test says: its statistic and p-value, and which way the other runs moved."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Alternative = Literal["two-sided", "less", "greater", "posthoc"]
ALPHA = 0.05
NAN = math.nan
CONSTANT = "both samples are constant"
APART = "the mean and the ranks point different ways"


@dataclass(frozen=True)
class Test:
    """Statistic and p-value, the side that was tested, the label ("-", "+", "NS"), and why if undefined.

    `method` says how p was found: "exact", "normal" (an approximation) or "drawn" (Monte Carlo).
    """

    statistic: float
    p: float
    alternative: str
    label: str
    reason: str | None = None
    method: str = ""

    __test__ = False  # not a test case, whatever a test runner makes of the name


def side_of(alternative: Alternative, rise: float) -> str:
    """The side that is tested, seen from the base: "less" if the base is the lower one.

    "posthoc" is S0's rule: the side that the means show, chosen after looking at them.

    >>> side_of("posthoc", 0.1), side_of("posthoc", -0.1), side_of("two-sided", 0.1)
    ('less', 'greater', 'two-sided')
    """
    return ("less" if rise > 0 else "greater") if alternative == "posthoc" else alternative


def direction_of(side: str, rise: float) -> float:
    """Which way a finding on this side points: up for "less" (than the other), down for "greater"."""
    return {"less": 1.0, "greater": -1.0}.get(side, rise)


def label_of(p: float, rise: float, alpha: float = ALPHA) -> str:
    """The label of a p-value with the direction of the rise; a p-value equal to the level is significant.

    >>> label_of(0.05, -0.1), label_of(0.01, 0.1), label_of(0.06, 0.1), label_of(0.01, 0.0)
    ('-', '+', 'NS', 'NS')
    """
    if math.isnan(p) or p > alpha or math.isnan(rise) or rise == 0:
        return "NS"
    return "+" if rise > 0 else "-"


def undefined(alternative: str, reason: str) -> Test:
    """A test that could not be made, and why."""
    return Test(NAN, NAN, alternative, "NS", reason)

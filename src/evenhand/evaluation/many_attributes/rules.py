"""What an effect must pass: bounds by the direction of a metric, with its margin, and how one is read."""

from __future__ import annotations

from evenhand.evaluation.ci_mnist.judging import CANNOT_TELL, DOES_NOT, HOLDS
from evenhand.evaluation.many_attributes.layout import BETTER, MARGIN


def above(bound: float = 0.0) -> str:
    """The rule that an effect lies above a bound.

    >>> above(), above(-0.01)
    ('is above 0', 'is above -0.01')
    """
    return f"is above {bound:g}"


def below(bound: float = 0.0) -> str:
    """The rule that an effect lies below a bound.

    >>> below(), below(-0.0)
    ('is below 0', 'is below 0')
    """
    return f"is below {bound + 0.0:g}"  # zero has no sign


def better(slot: str, by: float = 0.0) -> str:
    """Of a difference, one less the other: the one is better."""
    return above(by) if BETTER[slot] == "higher" else below(-by)


def worse(slot: str) -> str:
    """The one is worse."""
    return below() if BETTER[slot] == "higher" else above()


def not_worse(slot: str) -> str:
    """The one is not worse by the margin of the metric or more.

    >>> not_worse("performance"), not_worse("epsilon")
    ('is above -0.01', 'is below 0.1')
    """
    return better(slot, -MARGIN[slot])


def not_better(slot: str) -> str:
    """The one is not better by the margin or more."""
    return below(MARGIN[slot]) if BETTER[slot] == "higher" else above(-MARGIN[slot])


def close(slot: str) -> str:
    """Both are within the margin of each other."""
    return f"is within ±{MARGIN[slot]:g}"


def read(rule: str, low: float, high: float) -> str:
    """What an interval says to a rule.

    >>> [read(rule, 0.02, 0.05) for rule in ("is above 0", "is below 0", "is above 0.03", "is within ±0.01")]
    ['holds', 'does not', 'cannot tell', 'does not']
    """
    *_, side, bound = rule.split(" ")
    size = float(bound.lstrip("±"))
    if side == "within":
        inside, outside = -size < low and high < size, low > size or high < -size
    elif side == "above":
        inside, outside = low > size, high < size
    else:
        inside, outside = high < size, low > size
    return HOLDS if inside else DOES_NOT if outside else CANNOT_TELL

"""Whether a paired difference of two models is told from zero: by its interval, and by its p."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.report.numbers import defined

Json = Mapping[str, Any]


def most_p(comparison: Json) -> float:
    """The largest p of a difference that is told from zero.

    >>> round(most_p({"method": {"confidence": 0.9}}), 3), round(most_p({}), 3)
    (0.1, 0.05)
    """
    return 1.0 - ((comparison.get("method") or {}).get("confidence") or 0.95)


def told_from_zero(found: Json, most: float) -> bool:
    """Both: draws of a few rows that all changed alike hardly vary, and their interval lacks zero too early.

    >>> told_from_zero({"low": -0.8, "high": -0.4, "p": 0.125}, 0.05)
    False
    >>> told_from_zero({"low": -0.8, "high": -0.4, "p": 0.001}, 0.05)
    True
    """
    known = all(defined(found.get(key)) for key in ("low", "high", "p"))
    return known and found["low"] * found["high"] > 0 and found["p"] <= most

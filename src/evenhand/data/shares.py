"""A share of a number of rows as a whole number of rows."""

from __future__ import annotations

import math
from fractions import Fraction


def exact_count(share: float, number: int) -> int:
    """floor(share * number) of the share as it is written: 0.29 of 100 are 29, though 0.29 * 100 < 29.

    >>> exact_count(0.29, 100), math.floor(0.29 * 100)
    (29, 28)
    """
    return math.floor(Fraction(str(share)) * number)

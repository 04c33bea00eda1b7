"""Numbers as readers see them: three decimals, a true minus sign, a dash for what is undefined."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

UNDEFINED = "–"
MINUS = "−"
ROUNDING = 1e-12  # what arithmetic leaves of a zero


def defined(x: Any) -> bool:
    """Whether `x` is a number that can be shown (JSON writes undefined as null).

    >>> defined(0.0), defined(None), defined(float("nan"))
    (True, False, False)
    """
    return isinstance(x, int | float) and not isinstance(x, bool) and not math.isnan(x)


def without_nan(x: Any) -> Any:
    """The same dictionaries and lists with None for NaN: a result that never went through JSON may hold some.

    >>> without_nan({"a": [1.0, float("nan")]})
    {'a': [1.0, None]}
    """
    if isinstance(x, Mapping):
        return {key: without_nan(value) for key, value in x.items()}
    if isinstance(x, list | tuple):
        return [without_nan(value) for value in x]
    return None if isinstance(x, float) and math.isnan(x) else x


def number(x: Any, decimals: int = 3, signed: bool = False) -> str:
    """A number in text; what would round to zero says so instead of pretending to be zero.

    >>> number(0.31049), number(None), number(-0.2), number(0.0002), number(0.25, signed=True)
    ('0.310', '–', '−0.200', '<0.001', '+0.250')
    >>> number(float("inf")), number(20481.5)
    ('∞', '20,481.5')
    """
    if not defined(x):
        return UNDEFINED
    x = float(x)
    sign = "" if abs(x) <= ROUNDING else MINUS if x < 0 else "+" if signed and x > 0 else ""
    if math.isinf(x):
        return f"{sign}∞"
    if ROUNDING < abs(x) < 0.5 * 10**-decimals:
        smallest = f"{10**-decimals:.{decimals}f}"
        return f"<{smallest}" if x > 0 else f">{MINUS}{smallest}"
    return f"{sign}{abs(x):,.{1 if abs(x) >= 1000 else decimals}f}"


def interval(pair: Sequence[Any] | None, decimals: int = 3, signed: bool = False) -> str:
    """Both ends of an interval, or a dash when either is undefined.

    >>> interval([0.22, 0.4]), interval([None, 0.4]), interval(None)
    ('0.220 to 0.400', '–', '–')
    """
    if pair is None or not all(defined(x) for x in pair):
        return UNDEFINED
    low, high = pair
    return f"{number(low, decimals, signed)} to {number(high, decimals, signed)}"


def count(n: Any) -> str:
    """A number of rows; weighted audits have fractional ones.

    >>> count(12345), count(10.25), count(None)
    ('12,345', '10.2', '–')
    """
    if not defined(n):
        return UNDEFINED
    return f"{n:,.0f}" if float(n).is_integer() else f"{n:,.1f}"


def percent(share: Any) -> str:
    """A share of rows, in the running text only (rates themselves stay in [0, 1]).

    >>> percent(0.0431), percent(0.0001), percent(0)
    ('4.3%', '<0.1%', '0.0%')
    """
    if not defined(share):
        return UNDEFINED
    return "<0.1%" if 0 < share < 0.0005 else f"{100 * share:.1f}%"


def p_value(p: Any) -> str:
    """A p-value under a heading that says so; none is ever 0.

    >>> p_value(1e-20), p_value(0.031), p_value(None)
    ('<0.001', '0.031', '–')
    """
    if not defined(p):
        return UNDEFINED
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def probability(p: Any) -> str:
    """A p-value in running text.

    >>> probability(0.0004), probability(0.031)
    ('p < 0.001', 'p = 0.031')
    """
    if not defined(p):
        return UNDEFINED
    return f"p {p_value(p).replace('<', '< ')}" if p < 0.001 else f"p = {p_value(p)}"

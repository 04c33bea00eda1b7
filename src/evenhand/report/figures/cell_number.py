"""A number for a cell of a figure: as many digits as there is room for, and no text where there is none."""

from __future__ import annotations

import math

from evenhand.report.numbers import MINUS, UNDEFINED, defined, number

NEARLY_ZERO, NEAR = "≈0", 0.005  # rounds to zero in two decimals
# widths in shares of the size: the widest of the fonts that a page falls back to, so that none overflows
_WIDTHS = dict.fromkeys("+−<>≈", 0.84) | dict.fromkeys(".,", 0.32) | {"∞": 0.84, UNDEFINED: 0.5}
_DIGIT = 0.64


def cell_number(x: float | None, decimals: int, room: float, size: float = 12, signed: bool = False) -> str:
    """A number in at most `room`: fewer decimals, then a power of ten, then nothing.

    What rounds to zero is told as a bound, or as "≈0" where the bound is too long: a bound of fewer digits
    would seem larger than its neighbours. With `signed`, both signs get the same digits.

    >>> cell_number(0.25, 3, 48), cell_number(-113.1605, 3, 48, signed=True), cell_number(3e-9, 4, 48)
    ('0.250', '−113.2', '≈0')
    >>> cell_number(1234567.8, 3, 48), cell_number(1234567.8, 3, 10), cell_number(None, 3, 48)
    ('1.2e6', '', '–')
    """
    if x is None or not defined(x) or math.isinf(x):
        return number(x, signed=signed)
    longest = -abs(x) if signed else x
    for places in range(decimals, -1, -1):
        told = _rounded(longest, places)
        if _width(told, size) <= room and (places == decimals or not _is_bound(told)):
            return _rounded(x, places, signed)
    short = [NEARLY_ZERO] if abs(x) < NEAR else _powers(x, signed)
    return next((told for told in short if _width(told, size) <= room), "")


def _is_bound(told: str) -> bool:
    return told[0] in "<>"


def _rounded(x: float, places: int, signed: bool = False) -> str:
    """As elsewhere, but for large numbers too no decimal where none is asked for."""
    if places or abs(x) < 1000:
        return number(x, places, signed)
    return f"{_sign(x, signed)}{abs(x):,.0f}"


def _powers(x: float, signed: bool) -> list[str]:
    """A large number by its power of ten, with one decimal and with none."""
    written = [f"{abs(x):.{places}e}".split("e") for places in (1, 0)]
    return [f"{_sign(x, signed)}{head}e{int(power)}" for head, power in written]


def _sign(x: float, signed: bool) -> str:
    return MINUS if x < 0 else "+" if signed else ""


def _width(told: str, size: float) -> float:
    return size * sum(_WIDTHS.get(letter, _DIGIT) for letter in told)

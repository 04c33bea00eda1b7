"""What may be asked of a simulated power: a difference, a chance, a level, and draws enough to tell them."""

from __future__ import annotations

import math
from difflib import get_close_matches
from typing import Literal

from evenhand.errors import InputError

PowerTest = Literal["mann-whitney", "welch"]
TESTS: tuple[PowerTest, ...] = ("mann-whitney", "welch")
MOST_DRAWS = 100_000  # of a power
MISSES = 10  # studies that would miss the difference at the wanted power: with fewer it is not told from 1


def check_asked(difference: float, power: float, alpha: float, draws: int) -> None:
    """Refuse what cannot be planned for."""
    if not (math.isfinite(difference) and difference > 0):
        raise InputError(f"the difference to be told must be a number above 0, not {difference:g}")
    for name, value in (("power", power), ("alpha", alpha)):
        if not 0 < value < 1:
            raise InputError(f"{name} must be between 0 and 1, not {value:g}")
    if not 100 <= draws <= MOST_DRAWS:
        told = f"a power is simulated with at least 100 draws and at most {MOST_DRAWS:,}, not {draws:,}"
        raise InputError(told)

    if draws < (need := draws_for(power)):
        raise InputError(_unresolved(power, draws, need))


def draws_for(power: float) -> int:
    """How many studies must be simulated so that ten of them miss a difference found with this chance.

    With fewer a power of 0.9995 could not be told from one of 1, and too few runs would be called enough.

    >>> draws_for(0.8), draws_for(0.999)
    (50, 10000)
    """
    return math.ceil(round(MISSES / (1 - power), 6))


def _unresolved(power: float, draws: int, need: int) -> str:
    told = f"{draws:,} simulated studies do not tell a power of {power:g} from 1"
    most = f"ask for a power of at most {1 - MISSES / min(draws, MOST_DRAWS):.6g}"
    if need <= MOST_DRAWS:
        return f"{told}: draw {need:,} (--draws {need}), or {most}"
    with_most = f"{1 - MISSES / MOST_DRAWS:.6g} with --draws {MOST_DRAWS}"
    return f"{told}, nor would {MOST_DRAWS:,}, the most that are drawn: {most}, or {with_most}"


def check_power_test(test: str) -> None:
    """Refuse a test whose power is not simulated.

    >>> check_power_test("welsh")
    Traceback (most recent call last):
    evenhand.errors.InputError: there is no simulated power of the test 'welsh' (mann-whitney, welch); did you
    mean 'welch'?
    """
    if test not in TESTS:
        near = get_close_matches(test, TESTS, n=1, cutoff=0.3)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        raise InputError(f"there is no simulated power of the test '{test}' ({', '.join(TESTS)}){hint}")

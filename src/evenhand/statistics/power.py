"""What could these runs have shown at all? The smallest p of a test, and the smallest difference it sees."""

from __future__ import annotations

import math
from difflib import get_close_matches

import numpy as np

from evenhand.errors import InputError
from evenhand.statistics.outcome import ALPHA, NAN
from evenhand.statistics.permutation import DRAWS, MOST_PATTERNS, number_of_splits

TESTS = ("mann-whitney", "wilcoxon", "permutation")
MOST_EXACT = 50


def attainable_p(
    test: str, n_base: int, n_other: int, paired: bool = False, convention: str = "plain", draws: int = DRAWS
) -> float:
    """The smallest p that a test of so many runs can come to, whatever their values; 1 for fewer than 2.

    Two-sided and without ties: 2 / C(n_base + n_other, n_base) for Mann-Whitney, 2 / 2^n for paired tests.
    The convention "artifact" is Mann-Whitney's one-sided normal approximation at U = 0.

    >>> attainable_p("mann-whitney", 3, 3), round(attainable_p("mann-whitney", 4, 4), 4)
    (0.1, 0.0286)
    >>> attainable_p("wilcoxon", 5, 5), attainable_p("wilcoxon", 6, 6)
    (0.0625, 0.03125)
    """
    check_test(test)
    if min(n_base, n_other) < 2:
        return 1.0
    if test == "mann-whitney":
        return _of_ranks(n_base, n_other, convention)
    if test == "wilcoxon" or paired:
        patterns, ways = 2**n_base, 2
    else:  # sides of different size have one split only that is the farthest
        patterns, ways = number_of_splits(n_base, n_other), 2 if n_base == n_other else 1
    drawn = test == "permutation" and patterns > MOST_PATTERNS
    return 1 / (draws + 1) if drawn else ways / patterns


def check_test(test: str) -> None:
    """Refuse the name of a test that there is not."""
    if test not in TESTS:
        near = get_close_matches(test, TESTS, n=1, cutoff=0.3)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        raise InputError(f"there is no test '{test}' ({', '.join(TESTS)}){hint}")


def _of_ranks(n_base: int, n_other: int, convention: str) -> float:
    from scipy.special import ndtr

    if convention != "artifact" and max(n_base, n_other) <= MOST_EXACT:
        return 2 / number_of_splits(n_base, n_other)
    product = n_base * n_other
    z = (product / 2 - 0.5) / math.sqrt(product * (n_base + n_other + 1) / 12)
    return float(ndtr(-z)) * (1 if convention == "artifact" else 2)


def detectable_difference(
    std: float | tuple[float, float],
    n: int | tuple[int, int],
    alpha: float = ALPHA,
    power: float = 0.8,
    paired: bool = False,
) -> float:
    """The smallest true difference that a two-sided t-test of so many runs finds with this chance.

    `std` is the deviation (ddof 1) over the runs of both, or of each; paired, that of the differences, and
    `n` the number of pairs. The noncentrality c with P(T(v, c) > t(v, 1 - alpha / 2)) = power, times the
    standard error. Rank tests need about 5 % more runs for the same (their efficiency is 3 / pi under normal
    values).

    >>> round(detectable_difference(0.01, 5), 5), round(detectable_difference(0.01, 16), 5)
    (0.02024, 0.01024)
    """
    from scipy.special import nctdtrinc, stdtrit

    error, freedom = _error(std, n, paired)
    if math.isnan(error):
        return NAN
    return float(nctdtrinc(freedom, 1 - power, stdtrit(freedom, 1 - alpha / 2))) * error


def power_to_see(
    difference: float,
    std: float | tuple[float, float],
    n: int | tuple[int, int],
    alpha: float = ALPHA,
    paired: bool = False,
) -> float:
    """The chance that a two-sided t-test of so many runs finds a true difference of this size.

    >>> round(power_to_see(0.02024, 0.01, 5), 3), round(power_to_see(0.0, 0.01, 5), 3)
    (0.8, 0.05)
    """
    from scipy.special import nctdtr, stdtrit

    error, freedom = _error(std, n, paired)
    if math.isnan(error) or math.isnan(difference):
        return NAN
    if error == 0:
        return 1.0 if difference else alpha
    limit = float(stdtrit(freedom, 1 - alpha / 2))
    far = abs(difference) / error
    return float(1 - nctdtr(freedom, far, limit) + nctdtr(freedom, far, -limit))


def _error(std: float | tuple[float, float], n: int | tuple[int, int], paired: bool) -> tuple[float, float]:
    """Standard error of the difference and its degrees of freedom; NaN for fewer than 2 runs."""
    n_a, n_b = n if isinstance(n, tuple) else (n, n)
    s_a, s_b = std if isinstance(std, tuple) else (std, std)
    if min(n_a, n_b) < 2 or not np.isfinite([s_a, s_b]).all():
        return NAN, NAN
    if paired:
        return s_a / math.sqrt(n_a), n_a - 1
    v_a, v_b = s_a**2 / n_a, s_b**2 / n_b
    if v_a + v_b == 0:
        return 0.0, n_a + n_b - 2
    return math.sqrt(v_a + v_b), (v_a + v_b) ** 2 / (v_a**2 / (n_a - 1) + v_b**2 / (n_b - 1))

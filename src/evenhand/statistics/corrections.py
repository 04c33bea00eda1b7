"""P-values of many tests, raised so that the many do not make findings by themselves."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches

import numpy as np

from evenhand.arrays import Array, FloatArray, as_array
from evenhand.errors import InputError


def correct(p_values: object, how: str = "holm") -> FloatArray:
    """P-values adjusted by "holm", "benjamini-hochberg", "bonferroni", or left as they are by "none".

    Holm keeps the chance of any false finding under the level, whatever the tests have to do with each other;
    Benjamini-Hochberg the expected share of false ones among the findings, for tests that are independent or
    move together. Undefined p-values stay NaN and are not counted as tests.

    >>> correct([0.01, 0.04, 0.03], "bonferroni").round(6).tolist()
    [0.03, 0.12, 0.09]
    """
    if how not in CORRECTIONS:
        near = get_close_matches(how, CORRECTIONS, n=1, cutoff=0.3) or [""]
        hint = f"; did you mean '{near[0]}'?" if near[0] else ""
        raise InputError(f"there is no correction '{how}' ({', '.join(CORRECTIONS)}){hint}")
    return CORRECTIONS[how](p_values)


def holm(p_values: object) -> FloatArray:
    """P-values adjusted so that the chance of any false finding stays under the level (Holm 1979).

    p(i) becomes the largest of (m - j + 1) p(j) over j <= i, in ascending order.

    >>> holm([0.01, 0.04, 0.03]).round(6).tolist()
    [0.03, 0.06, 0.06]
    """
    p, order = _sorted_defined(p_values)
    m = len(order)
    steps = np.maximum.accumulate(p[order] * (m - np.arange(m)))
    return _placed(p, order, steps)


def benjamini_hochberg(p_values: object) -> FloatArray:
    """P-values adjusted so that the expected share of false findings stays under the level (1995).

    p(i) becomes the smallest of m p(j) / j over j >= i, in ascending order.

    >>> benjamini_hochberg([0.01, 0.04, 0.03]).round(6).tolist()
    [0.03, 0.04, 0.04]
    """
    p, order = _sorted_defined(p_values)
    m = len(order)
    steps = p[order] * m / (1 + np.arange(m))
    return _placed(p, order, np.minimum.accumulate(steps[::-1])[::-1])


def bonferroni(p_values: object) -> FloatArray:
    """P-values times the number of tests; never better than Holm's, and here to be compared with.

    >>> bonferroni([0.01, 0.6]).tolist()
    [0.02, 1.0]
    """
    p, order = _sorted_defined(p_values)
    return _placed(p, order, p[order] * len(order))


def uncorrected(p_values: object) -> FloatArray:
    """P-values as they are: each test speaks for itself alone, as in S0."""
    return _sorted_defined(p_values)[0]


CORRECTIONS: dict[str, Callable[[object], FloatArray]] = {
    "holm": holm,
    "benjamini-hochberg": benjamini_hochberg,
    "bonferroni": bonferroni,
    "none": uncorrected,
}


def _sorted_defined(p_values: object) -> tuple[FloatArray, Array]:
    p = np.asarray(as_array(p_values), dtype=np.float64)
    if p.ndim != 1:
        raise InputError(f"p-values must be a list, not an array {p.shape}")
    order = np.argsort(p, kind="stable")
    return p, order[: np.count_nonzero(~np.isnan(p))]


def _placed(p: FloatArray, order: Array, values: FloatArray) -> FloatArray:
    adjusted = np.full_like(p, np.nan)
    adjusted[order] = np.minimum(values, 1.0)
    return adjusted

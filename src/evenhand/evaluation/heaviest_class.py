"""The class that a CEV is mostly made of, where it has few errors: a number that a handful of rows decides.

CEV is a variance of relative changes. A class of which the base makes one error of a kind and the alternative
five has changed by 400 %, and outweighs all classes in which hundreds of errors became a few more.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.metrics.margins import Margins
from evenhand.metrics.pairs import error_rates, relative_changes
from evenhand.metrics.undefined import divide, mean_defined

MOSTLY = 0.5  # the share of CEV from which on a class is named
FEW = 10  # errors of a kind, fewer than which make a relative change of chance
LEAST_CLASSES = 3  # of two classes each has half


def shares_of_cev(base: Margins, other: Margins) -> FloatArray:
    """The share of each class in the CEV of all rows `[K]`; NaN for a class that is left out of it."""
    rates = [rate[0] for part in (base, other) for rate in error_rates(part)]
    squares = sum((change - mean_defined(change)) ** 2 for change in relative_changes(*rates))
    return divide(squares, np.nansum(squares))


def heaviest(base: Margins, other: Margins, classes: Sequence[str], runs: int = 1) -> str | None:
    """A sentence about that class; None where there is none, or where it has errors enough.

    Margins are of all rows `[K, 1]`, and of all `runs` of the base added up.

    >>> from evenhand.metrics.counts import Counts
    >>> base = Counts.from_table([[[80, 19, 1], [20, 80, 0], [30, 30, 40]]]).margins()
    >>> other = Counts.from_table([[[78, 18, 4], [22, 78, 0], [29, 29, 42]]]).margins()
    >>> heaviest(base, other, ("cat", "dog", "bird"))
    "67% of CEV comes from class 'bird', of which the base makes 1 false positive: a few rows decide it"
    """
    shares = shares_of_cev(base, other)
    if np.isfinite(shares).sum() < LEAST_CLASSES:
        return None
    k = int(np.nanargmax(shares))
    errors = {"false positive": float(base.fp[k, 0]) / runs, "miss": float(base.fn[k, 0]) / runs}
    kind = min(errors, key=lambda name: errors[name])
    if shares[k] <= MOSTLY or errors[kind] >= FEW:
        return None
    several = "" if errors[kind] == 1 else "es" if kind == "miss" else "s"
    each = " a run" if runs > 1 else ""
    return (
        f"{shares[k]:.0%} of CEV comes from class '{classes[k]}', of which the base makes {errors[kind]:.3g} "
        f"{kind}{several}{each}: a few rows decide it"
    )

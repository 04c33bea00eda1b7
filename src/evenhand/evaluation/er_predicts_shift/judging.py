"""What is said of a pooled correlation, and of the questions that several of them answer together."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from evenhand.evaluation.er_predicts_shift.layout import (
    CHANGE,
    DOES_NOT,
    ER,
    HOLDS,
    KERNELS,
    LEAST,
    LEVEL,
    RIVALS,
    UNTOLD,
)
from evenhand.evaluation.er_predicts_shift.pooling import PARTIAL, PLAIN, Estimate, Pool, estimate

BETTER, WORSE = "delta ER is better", "delta ER is worse"


def side(found: Estimate) -> str:
    """Whether there is a correlation: by the interval alone.

    "does not" where all of it lies under 0.1, of use to nobody; "holds" where all of it lies above 0.

    >>> nothing = np.zeros(1)
    >>> [side(Estimate(0.2, low, high, nothing)) for low, high in ((0.1, 0.3), (-0.1, 0.3), (-0.1, 0.05))]
    ['holds', 'cannot be told', 'does not']
    """
    if np.isnan(found.low):
        return UNTOLD
    return DOES_NOT if found.high < LEAST else HOLDS if found.low > 0 else UNTOLD


def together(sides: Iterable[str]) -> str:
    """One "does not" decides; "holds" needs all of them.

    >>> together(["holds", "cannot be told"]), together(["holds", "does not"])
    ('cannot be told', 'does not')
    """
    found = list(sides)
    return DOES_NOT if DOES_NOT in found else HOLDS if set(found) == {HOLDS} else UNTOLD


def verdicts(pool: Pool) -> dict[str, str]:
    """The answers: the paper's sentence, for all kernels, beyond the clean gap, and of the change."""
    sides = {
        (kind, outcome, key): side(pool.all(kind, key, outcome))
        for kind in (PLAIN, PARTIAL)
        for outcome in (LEVEL, CHANGE)
        for key in KERNELS
    }
    return {
        "S4.3": sides[PLAIN, LEVEL, ER],
        "S4.4": together(sides[PLAIN, LEVEL, key] for key in KERNELS),
        "beyond": sides[PARTIAL, LEVEL, ER],
        "foretells": together((sides[PLAIN, CHANGE, ER], sides[PARTIAL, CHANGE, ER])),
        "foretells, all kernels": together(
            sides[kind, CHANGE, key] for kind in (PLAIN, PARTIAL) for key in KERNELS
        ),
    }


def against(pool: Pool, rival: str, outcome: str) -> tuple[Estimate, str]:
    """How much more delta ER tells than a rival: rho of delta ER less |rho| of the rival, and what that says.

    A rival may foretell in its own direction (a more accurate model may move less), so it is taken with the
    sign that it has in the data.
    """
    own, other = pool.all(PLAIN, ER, outcome), pool.all(PLAIN, rival, outcome)
    sign = -1.0 if other.value < 0 else 1.0
    found = estimate(own.draws - sign * other.draws)
    word = UNTOLD if np.isnan(found.low) else BETTER if found.low > 0 else WORSE if found.high < 0 else UNTOLD
    return found, word


def rivals(pool: Pool, outcome: str) -> dict[str, tuple[Estimate, str]]:
    """Delta ER against each number that costs no more."""
    return {rival: against(pool, rival, outcome) for rival in RIVALS}

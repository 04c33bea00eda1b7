"""How large each number would be if sex meant nothing: sexes shuffled among the test rows.

Numbers such as SDE are above 0 for any two groups, so that being above 0 says nothing. For each test set the
sexes are shuffled, the number computed again, and averaged over the test sets as the real one is;
p = (1 + shuffles at least as far from 0) / (1 + shuffles).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.evaluation.titanic_fairness.columns import Scored, columns
from evenhand.metrics.undefined import mean_defined

AT_ONCE = 1000


def shuffled_means(tests: Sequence[Scored], shuffles: int, seed: int = 0) -> dict[str, FloatArray]:
    """The mean over the test sets of every column, `[shuffles]`, with sexes that mean nothing."""
    drawn = [_shuffled(rows, shuffles, np.random.default_rng([seed, n])) for n, rows in enumerate(tests)]
    return {key: mean_defined(np.stack([one[key] for one in drawn], axis=-1)) for key in drawn[0]}


def p_value(value: float, by_chance: FloatArray) -> float:
    """The share of shuffles that are as far from 0, the real one among them; NaN for an undefined value.

    >>> p_value(-0.5, np.array([0.1, 0.6, -0.2]))
    0.5
    """
    if np.isnan(value):
        return float("nan")
    known = by_chance[~np.isnan(by_chance)]
    far = np.abs(known) >= abs(value) * (1 - 1e-12)
    return float((1 + far.sum()) / (1 + len(known)))


def _shuffled(rows: Scored, shuffles: int, draw: np.random.Generator) -> dict[str, FloatArray]:
    pieces = [_piece(rows, min(AT_ONCE, shuffles - at), draw) for at in range(0, shuffles, AT_ONCE)]
    return {key: np.concatenate([piece[key] for piece in pieces]) for key in pieces[0]}


def _piece(rows: Scored, n: int, draw: np.random.Generator) -> dict[str, FloatArray]:
    ways: Array = draw.permuted(np.tile(rows.men, (n, 1)), axis=1)
    return columns(rows, ways)

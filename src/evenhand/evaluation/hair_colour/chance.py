"""What random subgroups of the same size give: rows drawn from the test rows without looking at who they are.

A subgroup's CEV and SDE against all rows are above 0 for any subgroup, and the more so the smaller it is. The
cells of the table of truths and predictions are drawn without replacement (multivariate hypergeometric).
"""

from __future__ import annotations

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.evaluation.hair_colour.layout import METRICS
from evenhand.metrics.counts import Counts
from evenhand.metrics.pair_tables import all_to_group


def random_subgroups(tables: Array, draws: int, seed: int = 0) -> dict[str, FloatArray]:
    """CEV and SDE `[seeds, draws, 2]` of random subgroups as large as the two of tables `[seeds, 2, C, C]`.

    >>> found = random_subgroups(np.full((1, 2, 2, 2), 25), 50)
    >>> found["sde"].shape, bool((found["sde"] >= 0).all())
    ((1, 50, 2), True)
    """
    drawn = np.stack(
        [_drawn(table, draws, np.random.default_rng([seed, n])) for n, table in enumerate(tables)]
    )
    pairs = all_to_group(Counts.from_table(drawn))
    return {key: pairs[key] for key in METRICS}


def p_value(value: float, by_chance: FloatArray) -> float:
    """The share of draws that reach the value, the real one among them; NaN for an undefined value.

    >>> p_value(0.5, np.array([0.1, 0.6, 0.2]))
    0.5
    """
    if np.isnan(value):
        return float("nan")
    known = by_chance[~np.isnan(by_chance)]
    return float((1 + (known >= value).sum()) / (1 + len(known)))


def _drawn(table: Array, draws: int, draw: np.random.Generator) -> Array:
    """Tables `[draws, 2, C, C]`: a random part of all rows, as many as the first group has, and the rest."""
    whole = table.sum(axis=0)
    size = int(table[0].sum())
    cells = draw.multivariate_hypergeometric(whole.ravel(), size, size=draws).reshape(draws, *whole.shape)
    return np.stack([cells, whole - cells], axis=1)

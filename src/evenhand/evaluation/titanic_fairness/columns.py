"""The eight numbers of Table 3 from the test rows of one model, for one grouping of them or for many at once.

Base of CEV and SDE: all test rows; alternative: the rows of one sex. FPED = sum over sexes of |FPR - FPR_g|,
FNED the same of FNR, of the class "survived"; DIMS = mean score of men less that of women, DIAMR the same of
score minus label (S2, Table 3). A second reading of each: FP / (FP + TP) and FN / (FN + TN) as the two rates,
predicted classes as the scores.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.evaluation.titanic_fairness.layout import (
    AS_SCORES,
    BY_PREDICTION,
    COLUMNS,
    GROUPS,
    NORMALISED,
    READINGS,
)
from evenhand.metrics.catalogue import CATALOGUE
from evenhand.metrics.counts import Counts
from evenhand.metrics.margins import margins_of_everyone
from evenhand.metrics.pair_tables import all_to_group
from evenhand.metrics.undefined import divide
from evenhand.metrics.view import View


@dataclass(frozen=True)
class Scored:
    """The test rows of one model: label `y [N]`, score of "survived" `s [N]`, and who is a man."""

    y: Array = field(repr=False)
    score: FloatArray = field(repr=False)
    men: Array = field(repr=False)

    @property
    def predicted(self) -> Array:
        """The class: survived from a score of one half on."""
        return (self.score >= 0.5).astype(np.int64)


def columns(rows: Scored, men: Array | None = None) -> dict[str, FloatArray]:
    """Every column, for who is a man `[N]`, or for many ways `[S, N]` to say it, one number each `[S]`.

    >>> rows = Scored(np.array([1, 1, 0, 0, 1, 0]), np.array([.9, .2, .7, .1, .8, .3]), np.arange(6) < 3)
    >>> {key: round(float(value), 3) for key, value in columns(rows).items() if key in ("fped", "dims")}
    {'fped': 1.0, 'dims': 0.2}
    """
    ways = np.asarray(rows.men if men is None else men, dtype=np.float64)
    counts = Counts.from_table(_tables(rows, ways))
    found: dict[str, FloatArray] = {}
    pairs = all_to_group(counts)
    for place, group in enumerate(GROUPS):
        for key in ("cev", "sde", "cev_norm", "sde_norm"):
            found[f"{key}.{group}"] = pairs[key][..., place]
    view = View(counts.margins(), margins_of_everyone(counts.cells, False))
    found |= {key: CATALOGUE[key](view) for key in ("fped", "fned")}
    for key, rate in zip(BY_PREDICTION.values(), ("ppv", "for"), strict=True):
        found[key] = np.abs(view.rate(rate) - view.pooled_rate(rate))[..., 1, :].sum(axis=-1)
    for score, names in ((rows.score, tuple(AS_SCORES)), (rows.predicted, tuple(AS_SCORES.values()))):
        found[names[0]] = _difference(np.asarray(score, dtype=np.float64), ways)
        found[names[1]] = _difference(score - rows.y, ways)
    return found


def accuracy(rows: Scored) -> float:
    """The share of test rows whose class is right."""
    return float((rows.predicted == rows.y).mean())


def names() -> tuple[str, ...]:
    """Every key of `columns`, those of the table first."""
    return (*COLUMNS, *NORMALISED.values(), *READINGS.values())


def _tables(rows: Scored, ways: FloatArray) -> Array:
    """Counts `[..., group, truth, prediction]`, men first: rows of a way summed up cell by cell."""
    cells = np.eye(4)[2 * np.asarray(rows.y, dtype=np.int64) + rows.predicted]  # [N, 4]
    men = ways @ cells
    both = np.stack([men, cells.sum(axis=0) - men], axis=-2)
    return np.round(both).astype(np.int64).reshape(*ways.shape[:-1], 2, 2, 2)


def _difference(values: FloatArray, ways: FloatArray) -> FloatArray:
    """Mean over men less mean over women."""
    n, total = ways.sum(axis=-1), ways @ values
    return divide(total, n) - divide(values.sum() - total, len(values) - n)

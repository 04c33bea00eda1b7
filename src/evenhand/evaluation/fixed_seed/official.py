"""Counts as S0's program would have measured them: its convention, and its order of the two groups.

Its slips see the order: a gap is forced to 0 where the rate of the group that is coded 1 is 0. A slip that
would only put a number beside a wrong class is not followed.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.metrics.counts import Counts
from evenhand.metrics.view import Convention
from evenhand.study.frame import metric_of
from evenhand.study.frame_blocks import Look

ARTIFACT: Convention = "artifact"
SHIFTED = "ba"
# The group that S0 codes as 1, by family; "no" and "yes" are the groups of the attribute Male.
WOMEN, MEN = ("woman", "Female", "no"), ("man", "Male", "yes")
SECOND = {"S": ("colour",), "C": WOMEN, "I": WOMEN, "A": MEN, "N": MEN}


def official(look: Look, technique: str) -> Look:
    """The stack under the convention of the published values, which knows two groups; else as it is."""
    if len(look.groups) != 2:
        return look
    if look.groups[0] in SECOND.get(technique[0], ()):
        look = replace(look, counts=_turned(look.counts), groups=look.groups[::-1], scores=None)
    return replace(look, convention=ARTIFACT, kept={})


def by_class(look: Look, key: str) -> FloatArray:
    """A metric by run and class, each number at the class it belongs to.

    S0's program forgets to advance at a class that is never predicted, so that the amplification of every
    later class stands one place too early. The mean is the same (the printed formulas have 0 there as well),
    but the widest class would be named after another one's numbers.
    """
    if key == SHIFTED and look.convention == ARTIFACT:
        look = replace(look, convention="paper", kept={})
    return look.per_class(metric_of(key))


def _turned(counts: Counts) -> Counts:
    """The same counts with the two groups in the other order; rows of unknown group stay the last."""

    def turn(cells: Array | None) -> Array | None:
        return None if cells is None else np.take(cells, [1, 0, 2], axis=-3)

    cells = np.take(counts.cells, [1, 0, 2], axis=-3)
    return Counts(cells, turn(counts.row_cells), turn(counts.square_cells), multilabel=counts.multilabel)

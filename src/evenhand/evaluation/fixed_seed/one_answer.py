"""Networks that tell nothing apart: their gaps are small because everybody gets the same answer."""

from __future__ import annotations

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.evaluation.fixed_seed.layout import PART
from evenhand.study.frame import Frame


def same_answers(frame: Frame, rows: Array) -> tuple[float, int]:
    """For how many classes (or labels) the runs answer alike for every row, on average, and of how many.

    A class counts that is never predicted, or always; a gap of it is 0 and a rate of it undefined.
    """
    alike = np.full(len(rows), np.nan)
    classes = 0
    for look, here, inside in frame.met(PART, rows):
        everyone = look.view.margins
        alike[here] = counted(everyone.predicted[inside].sum(axis=-1), everyone.n[inside].sum(axis=-1))
        classes = max(classes, everyone.predicted.shape[-2])
    return float(np.mean(alike)), classes


def counted(predicted: FloatArray, n: FloatArray) -> FloatArray:
    """The classes of each run that are predicted for nobody or for everybody: `[R, K]` in, `[R]` out.

    >>> counted(np.array([[0, 5, 10], [3, 3, 4]]), np.array([[10, 10, 10], [10, 10, 10]])).tolist()
    [2, 0]
    """
    return np.asarray(((predicted == 0) | (predicted == n)).sum(axis=-1))

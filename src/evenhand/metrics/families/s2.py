"""The group metrics that S2 compares CEV and SDE with."""

from __future__ import annotations

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.metrics.bias import from_pooled
from evenhand.metrics.metric import INFINITY, row
from evenhand.metrics.sizes import Size
from evenhand.metrics.undefined import count_defined, sum_defined
from evenhand.metrics.view import View

CITATION = "Measure Twice, Cut Once: Quantifying Bias and Fairness in Deep Neural Networks (S2)"


def _group_sum(rate: str) -> Size:
    """Sum over groups of the distance to the pooled rate; undefined with fewer than two groups."""

    def total(distances: FloatArray, view: View) -> FloatArray:
        return np.where(count_defined(distances) >= 2, sum_defined(np.abs(distances)), np.nan)

    return Size(from_pooled(rate), total, (rate,))


ROWS = [
    row(
        "fped",
        "false positive equality difference",
        "sum over groups of |FPR - FPR_g|",
        _group_sum("fpr"),
        CITATION,
        "S2",
        high=INFINITY,
    ),
    row(
        "fned",
        "false negative equality difference",
        "sum over groups of |FNR - FNR_g|",
        _group_sum("fnr"),
        CITATION,
        "S2",
        high=INFINITY,
    ),
]

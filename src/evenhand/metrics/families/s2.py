"""The group metrics that S2 compares CEV and SDE with."""

from __future__ import annotations

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.metrics.compare import Computed
from evenhand.metrics.metric import INFINITY, row
from evenhand.metrics.undefined import count_defined, sum_defined
from evenhand.metrics.view import View

CITATION = "Measure Twice, Cut Once: Quantifying Bias and Fairness in Deep Neural Networks (S2)"


def _group_sum(rate: str) -> Computed:
    """Sum over groups of the distance to the pooled rate; undefined with fewer than two groups."""

    def value(view: View) -> FloatArray:
        distance = np.abs(view.pooled_rate(rate) - view.rate(rate))
        return np.where(count_defined(distance) >= 2, sum_defined(distance), np.nan)

    return Computed(value, (rate,))


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

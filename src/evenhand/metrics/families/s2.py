"""The group metrics that S2 compares CEV and SDE with."""

from __future__ import annotations

from evenhand.metrics.compare import Computed
from evenhand.metrics.metric import INFINITY, row
from evenhand.metrics.undefined import sum_defined

CITATION = "Measure Twice, Cut Once: class-wise bias of compressed models (S2)"


def _group_sum(rate: str) -> Computed:
    return Computed(lambda view: sum_defined(abs(view.pooled_rate(rate) - view.rate(rate))), (rate,))


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

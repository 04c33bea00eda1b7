"""The count metrics of S1."""

from __future__ import annotations

from evenhand.metrics import multitask
from evenhand.metrics.compare import Compared, Computed
from evenhand.metrics.metric import INFINITY, row

CITATION = (
    "Zhao et al., Scaling Bias Mitigation with Multiple Fairness Tasks and Multiple Protected Attributes (S1)"
)
ROWS = [
    row(
        "acc",
        "accuracy over all rows",
        "share of rows with prediction = label",
        Computed(multitask.overall_accuracy),
        CITATION,
        "S1",
        better="higher",
        ideal=1.0,
    ),
    row(
        "acc_u",
        "reweighted accuracy over groups",
        "mean over groups of the accuracy",
        Computed(lambda view: multitask.reweighted_accuracy(view, "attr"), ("accuracy",)),
        CITATION,
        "S1",
        better="higher",
        ideal=1.0,
    ),
    row(
        "acc_u.label_attr",
        "reweighted accuracy over label x group cells",
        "mean over cells of the accuracy",
        Computed(lambda view: multitask.reweighted_accuracy(view, "label_attr"), ("tpr",)),
        CITATION,
        "S1",
        better="higher",
        ideal=1.0,
    ),
    row(
        "min_acc",
        "lowest accuracy of a group",
        "min over groups of the accuracy",
        Compared("accuracy", "worst"),
        CITATION,
        "S1",
        better="higher",
        ideal=1.0,
    ),
    row(
        "min_acc.label_attr",
        "lowest accuracy of a label x group cell",
        "min over cells of the accuracy",
        Computed(
            lambda view: multitask.lowest_accuracy(view, "label_attr"),
            ("tpr",),
            ranged=lambda view: multitask.cell_accuracies(view, "label_attr"),
            lowest=True,
        ),
        CITATION,
        "S1",
        better="higher",
        ideal=1.0,
    ),
    row(
        "ba_signed",
        "signed bias amplification, mean over classes",
        "Pr(g* | predicted) - Pr(g* | true), g* = largest predicted share",
        Computed(multitask.signed_amplification, (), multitask.predicted_most),
        CITATION,
        "S1",
        low=-1.0,
        average="mean",
    ),
    row(
        "ba_signed.positive",
        "signed bias amplification of the positive class",
        "Pr(g* | predicted) - Pr(g* | true), g* = largest predicted share",
        Computed(multitask.signed_amplification, (), multitask.predicted_most),
        CITATION,
        "S1",
        low=-1.0,
    ),
    row(
        "eps",
        "intersectional bias (differential fairness epsilon)",
        "mean over classes (of a label: yes and no) of log(max rate) - log(min rate), rates smoothed by "
        "(count + k/C) / (n + k)",
        Computed(
            multitask.intersectional_bias, ("selection",), multitask.extreme_groups, multitask.log_rates
        ),
        CITATION,
        "S1",
        high=INFINITY,
        average="mean",
    ),
    row(
        "eps.positive",
        "intersectional bias of the positive class",
        "log(max rate) - log(min rate) of the positive class, or of having a label; smoothed as eps",
        Computed(
            multitask.positive_intersectional_bias,
            ("selection",),
            multitask.extreme_groups,
            multitask.log_positive_rates,
        ),
        CITATION,
        "S1",
        high=INFINITY,
    ),
]

"""What is set against what in the study `er-predicts-shift`, and the rules, written before its runs.

A model is one trained run. Models are ranked among those of the same task and the same split of its rows, so
that neither tasks nor splits that are easier than others make a correlation. The rules in sentences:
docs/studies/er-predicts-shift.md.
"""

from __future__ import annotations

NAME = "er-predicts-shift"
PART, GAP, ACCURACY = "test", "delta_eo", "acc"
ER, CURVATURE = "delta_er", "curvature"
KERNELS = {ER: "default kernels", "delta_er.narrow": "narrow kernels", "delta_er.wide": "wide kernels"}
PREDICTORS = {
    ER: "delta ER",
    "delta_er.narrow": "delta ER, narrow kernels",
    "delta_er.wide": "delta ER, wide kernels",
    CURVATURE: "mean curvature",
    GAP: "delta EO on clean rows",
    ACCURACY: "accuracy on clean rows",
}
RIVALS = (CURVATURE, GAP, ACCURACY)  # what costs no more to know than delta ER does
CONTROLS = (GAP, ACCURACY)  # held fixed in partial correlations
LEVEL, CHANGE = "level", "change"
OUTCOMES = {
    LEVEL: "delta EO under shift",
    CHANGE: "how far delta EO moves under shift, |shifted - clean|",
}

LEAST = 0.1  # a rank correlation that is surely smaller is of no use to anybody
ONE_CLASS = 0.01  # a model that says one class of all but so many rows, in every group, has nothing to lose
FEWEST = 8  # models of a split, below which it is not ranked
TIMES = 2000  # draws of the bootstrap
CONFIDENCE = 0.95
DECIMALS = 12  # numbers that differ by less differ by rounding: they share a rank

HOLDS, DOES_NOT, UNTOLD = "holds", "does not", "cannot be told"

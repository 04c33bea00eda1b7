"""Equalized odds as one number: there are three in use, so each has a name of its own."""

from __future__ import annotations

from evenhand.metrics.compare import Combined, Compared, gap
from evenhand.metrics.metric import row

CITATION = "Hardt, Price, Srebro 2016, Equality of Opportunity in Supervised Learning, NeurIPS"
ODDS = (gap("tpr"), gap("fpr"))

ROWS = [
    row(
        "odds.max",
        "equalized odds: larger of the TPR and FPR gaps",
        "max(gap TPR, gap FPR)",
        Combined(ODDS, "max"),
        CITATION,
        "rates",
    ),
    row(
        "odds.mean",
        "equalized odds: mean of the TPR and FPR gaps",
        "(gap TPR + gap FPR) / 2",
        Combined(ODDS, "mean"),
        CITATION,
        "rates",
    ),
    row(
        "odds.ratio",
        "equalized odds: smaller of the TPR and FPR ratios",
        "min(ratio TPR, ratio FPR)",
        Combined((Compared("tpr", "ratio"), Compared("fpr", "ratio")), "min"),
        CITATION,
        "rates",
        better="higher",
        ideal=1.0,
    ),
]

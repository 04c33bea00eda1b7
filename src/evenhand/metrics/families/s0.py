"""The seven bias metrics of S0."""

from __future__ import annotations

from evenhand.metrics import bias
from evenhand.metrics.compare import Compared, OneMinus, gap
from evenhand.metrics.metric import row
from evenhand.metrics.sizes import Size

CITATION = "Qian et al. 2021, Are My Deep Learning Systems Fair?, NeurIPS (S0)"
ROWS = [
    row(
        "dp",
        "demographic parity (DP)",
        "mean over classes of |PPR_0 - PPR_1|; more groups: max - min",
        bias.Convened(bias.positive_rate_gap, gap("selection")),
        CITATION,
        "S0",
        average="mean",
    ),
    row(
        "di",
        "disparate impact (DI-bar)",
        "mean over classes of 1 - min(PPR) / max(PPR)",
        bias.Convened(bias.disparate_impact, OneMinus(Compared("selection", "ratio"))),
        CITATION,
        "S0",
        average="mean",
    ),
    row(
        "spsf",
        "statistical parity subgroup fairness (SPSF)",
        "mean over classes of sum_g Pr[g] |PPR - PPR_g|",
        Size(bias.from_pooled("selection"), bias.weighted_by_rows, ("selection",)),
        CITATION,
        "S0",
        average="mean",
    ),
    row(
        "fpsf",
        "false positive subgroup fairness (FPSF)",
        "mean over classes of sum_g Pr[g] |FPR - FPR_g|",
        Size(bias.from_pooled("fpr"), bias.weighted_for_false_positives, ("fpr",)),
        CITATION,
        "S0",
        average="mean",
    ),
    row(
        "eofp",
        "equalized odds, false positives (EOFP)",
        "mean over classes of |FPR_0 - FPR_1|",
        bias.Convened(bias.false_positive_gap, gap("fpr")),
        CITATION,
        "S0",
        average="mean",
    ),
    row(
        "eotp",
        "equalized odds, true positives (EOTP)",
        "mean over classes of |TPR_0 - TPR_1|",
        bias.Convened(bias.true_positive_gap, gap("tpr")),
        CITATION,
        "S0",
        average="mean",
    ),
    row(
        "ba",
        "bias amplification (BA)",
        "mean over classes of |Pr(g* | predicted) - Pr(g* | true)|, g* = largest true share",
        Size(bias.share_change, bias.amplification, (), bias.amplified_group),
        CITATION,
        "S0",
        average="mean",
    ),
]

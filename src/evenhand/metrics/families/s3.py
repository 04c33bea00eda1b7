"""The seven metrics of S3's Table 1: 1 is perfect, 0 the worst."""

from __future__ import annotations

from evenhand.metrics import parity
from evenhand.metrics.compare import Combined, Computed, OneMinus, Statistic, gap
from evenhand.metrics.families.odds import ODDS
from evenhand.metrics.metric import Metric, row

CITATION = "Benchmarking Bias Mitigation Algorithms in Representation Learning through Fairness Metrics (S3)"


def _score_of(key: str, name: str, formula: str, statistic: Statistic) -> Metric:
    return row(key, name, formula, statistic, CITATION, "S3", better="higher", ideal=1.0)


ROWS = [
    _score_of("dp_score", "demographic parity score", "1 - |PR_0 - PR_1|", OneMinus(gap("selection"))),
    _score_of("eqopp0", "equal opportunity score, y = 0", "1 - |FPR_0 - FPR_1|", OneMinus(gap("fpr"))),
    _score_of("eqopp1", "equal opportunity score, y = 1", "1 - |TPR_0 - TPR_1|", OneMinus(gap("tpr"))),
    _score_of("eqodd", "equalized odds score", "(eqopp0 + eqopp1) / 2", OneMinus(Combined(ODDS, "mean"))),
    _score_of(
        "acc_p",
        "accuracy of the privileged group",
        "accuracy where s = privileged",
        Computed(parity.privileged("accuracy"), ("accuracy",)),
    ),
    _score_of(
        "acc_up",
        "accuracy of the unprivileged groups",
        "accuracy where s is not privileged",
        Computed(parity.unprivileged("accuracy"), ("accuracy",)),
    ),
    _score_of(
        "acc_mean",
        "mean of privileged and unprivileged accuracy",
        "(acc_p + acc_up) / 2",
        Computed(parity.mean_of_two("accuracy"), ("accuracy",)),
    ),
]

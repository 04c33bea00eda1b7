"""The table of metrics: one row each, with its formula, ideal, direction, citation and needs.

Adding a metric is adding a row; reports, the command line, the reference page and the contract tests read
this table and nothing else.

>>> CATALOGUE["tpr.gap"].name
'true positive rate: gap'
>>> CATALOGUE["eqodd"].ideal
1.0
"""

from __future__ import annotations

from evenhand.metrics import bias, multitask, parity
from evenhand.metrics.compare import Combined, Compared, Computed, OneMinus, Statistic, gap
from evenhand.metrics.friedler import friedler_rows
from evenhand.metrics.metric import INFINITY, Direction, Metric, Needs, RateName, comparisons, row
from evenhand.metrics.rates import RATES
from evenhand.metrics.score_rates import SCORE_RATES
from evenhand.metrics.undefined import sum_defined

S0 = "Qian et al. 2021, Are My Deep Learning Systems Fair?, NeurIPS (S0)"
S1 = "Scaling Bias Mitigation with Multiple Fairness Tasks and Multiple Protected Attributes (S1)"
S2 = "Measure Twice, Cut Once: class-wise bias of compressed models (S2)"
S3 = "Reddy et al. 2021, Benchmarking Bias Mitigation Algorithms in Representation Learning (S3)"
S4 = "Wang et al. 2022, Equalized Robustness / How Robust is Your Fairness? (S4)"
HARDT = "Hardt, Price, Srebro 2016, Equality of Opportunity in Supervised Learning, NeurIPS"

ODDS = (gap("tpr"), gap("fpr"))

_ODDS_ROWS = [
    row("odds.max", "equalized odds: larger of the TPR and FPR gaps", "max(gap TPR, gap FPR)",
         Combined(ODDS, "max"), HARDT, "rates"),
    row("odds.mean", "equalized odds: mean of the TPR and FPR gaps", "(gap TPR + gap FPR) / 2",
         Combined(ODDS, "mean"), HARDT, "rates"),
    row("odds.ratio", "equalized odds: smaller of the TPR and FPR ratios", "min(ratio TPR, ratio FPR)",
         Combined((Compared("tpr", "ratio"), Compared("fpr", "ratio")), "min"), HARDT, "rates",
         better="higher", ideal=1.0),
]


_S0_ROWS = [
    row("dp", "demographic parity (DP)", "mean over classes of |PPR_0 - PPR_1|; more groups: max - min",
         bias.Convened(bias.positive_rate_gap, gap("selection")), S0, "S0", average="mean"),
    row("di", "disparate impact (DI-bar)", "mean over classes of 1 - min(PPR) / max(PPR)",
         bias.Convened(bias.disparate_impact, OneMinus(Compared("selection", "ratio"))), S0, "S0", average="mean"),
    row("spsf", "statistical parity subgroup fairness (SPSF)", "mean over classes of sum_g Pr[g] |PPR - PPR_g|",
         Computed(bias.selection_deviation, ("selection",)), S0, "S0", average="mean"),
    row("fpsf", "false positive subgroup fairness (FPSF)", "mean over classes of sum_g Pr[g] |FPR - FPR_g|",
         Computed(bias.false_positive_deviation, ("fpr",)), S0, "S0", average="mean"),
    row("eofp", "equalized odds, false positives (EOFP)", "mean over classes of |FPR_0 - FPR_1|",
         bias.Convened(bias.false_positive_gap, gap("fpr")), S0, "S0", average="mean"),
    row("eotp", "equalized odds, true positives (EOTP)", "mean over classes of |TPR_0 - TPR_1|",
         bias.Convened(bias.true_positive_gap, gap("tpr")), S0, "S0", average="mean"),
    row("ba", "bias amplification (BA)", "mean over classes of |Pr(g* | predicted) - Pr(g* | true)|, "
         "g* = largest true share", Computed(bias.bias_amplification, (), bias.amplified_group), S0, "S0",
         average="mean"),
]

_S1_ROWS = [
    row("acc", "accuracy over all rows", "share of rows with prediction = label",
         Computed(multitask.overall_accuracy), S1, "S1", better="higher", ideal=1.0),
    row("acc_u", "reweighted accuracy over groups", "mean over groups of the accuracy",
         Computed(lambda view: multitask.reweighted_accuracy(view, "attr"), ("accuracy",)), S1, "S1",
         better="higher", ideal=1.0),
    row("acc_u.label_attr", "reweighted accuracy over label x group cells", "mean over cells of the accuracy",
         Computed(lambda view: multitask.reweighted_accuracy(view, "label_attr"), ("tpr",)), S1, "S1",
         better="higher", ideal=1.0),
    row("min_acc", "lowest accuracy of a group", "min over groups of the accuracy",
         Compared("accuracy", "worst"), S1, "S1", better="higher", ideal=1.0),
    row("min_acc.label_attr", "lowest accuracy of a label x group cell", "min over cells of the accuracy",
         Computed(lambda view: multitask.lowest_accuracy(view, "label_attr"), ("tpr",)), S1, "S1",
         better="higher", ideal=1.0),
    row("ba_signed", "signed bias amplification, mean over classes",
         "Pr(g* | predicted) - Pr(g* | true), g* = largest predicted share",
         Computed(multitask.signed_amplification, (), multitask.predicted_most), S1, "S1", low=-1.0,
         average="mean"),
    row("ba_signed.positive", "signed bias amplification of the positive class",
         "Pr(g* | predicted) - Pr(g* | true), g* = largest predicted share",
         Computed(multitask.signed_amplification, (), multitask.predicted_most), S1, "S1", low=-1.0),
    row("eps", "intersectional bias (differential fairness epsilon)",
         "mean over classes of log(max rate) - log(min rate), rates smoothed by (count + k/C) / (n + k)",
         Computed(multitask.intersectional_bias, ("selection",), multitask.extreme_groups, multitask.log_rates), S1, "S1",
         high=INFINITY, average="mean"),
]


def _group_sum(rate: str) -> Computed:
    return Computed(lambda view: sum_defined(abs(view.pooled_rate(rate) - view.rate(rate))), (rate,))


_S2_ROWS = [
    row("fped", "false positive equality difference", "sum over groups of |FPR - FPR_g|", _group_sum("fpr"), S2,
         "S2", high=INFINITY),
    row("fned", "false negative equality difference", "sum over groups of |FNR - FNR_g|", _group_sum("fnr"), S2,
         "S2", high=INFINITY),
]


def _score_of(key: str, name: str, formula: str, statistic: Statistic) -> Metric:
    return row(key, name, formula, statistic, S3, "S3", better="higher", ideal=1.0)


_S3_ROWS = [
    _score_of("dp_score", "demographic parity score", "1 - |PR_0 - PR_1|", OneMinus(gap("selection"))),
    _score_of("eqopp0", "equal opportunity score, y = 0", "1 - |FPR_0 - FPR_1|", OneMinus(gap("fpr"))),
    _score_of("eqopp1", "equal opportunity score, y = 1", "1 - |TPR_0 - TPR_1|", OneMinus(gap("tpr"))),
    _score_of("eqodd", "equalized odds score", "(eqopp0 + eqopp1) / 2", OneMinus(Combined(ODDS, "mean"))),
    _score_of("acc_p", "accuracy of the privileged group", "accuracy where s = privileged",
              Computed(parity.privileged("accuracy"), ("accuracy",))),
    _score_of("acc_up", "accuracy of the unprivileged groups", "accuracy where s is not privileged",
              Computed(parity.unprivileged("accuracy"), ("accuracy",))),
    _score_of("acc_mean", "mean of privileged and unprivileged accuracy", "(acc_p + acc_up) / 2",
              Computed(parity.mean_of_two("accuracy"), ("accuracy",))),
]

_S4_ROWS = [
    row("delta_dp", "Delta DP", "|P(yhat=1 | A=0) - P(yhat=1 | A=1)|", gap("selection"), S4, "S4"),
    row("delta_eo", "Delta EO", "sum over y of |err(0, y) - err(1, y)|",
         Combined((gap("fpr"), gap("fnr")), "sum"), S4, "S4", high=2.0),
    row("delta_eopp", "Delta EOpp", "|err(0, y=0) - err(1, y=0)|", gap("fpr"), S4, "S4"),
]


TOP_K = RateName("topk", "top-k accuracy", "share of rows whose label is among the k highest scores", "higher")


def _needing(key: str, name: str, formula: str, citation: str, family: str, needs: Needs, *, ideal: float = 0.0,
             low: float = 0.0, high: float = INFINITY, better: Direction = "lower") -> Metric:
    return Metric(key, name, formula, family, ideal, low, high, better, citation, needs)


_OTHER_ROWS = [
    _needing("map", "mean average precision", "mean over labels of AP", S1, "S1", "scores", ideal=1.0, high=1.0,
             better="higher"),
    _needing("map_u", "reweighted mean average precision",
             "AP with positives weighted P / (G P_g), negatives 1; mean over labels", S1, "S1", "scores", ideal=1.0,
             high=1.0, better="higher"),
    _needing("dims", "difference in mean score", "mean score of the second group - of the first", S2, "S2",
             "scores", low=-1.0, high=1.0, better="nearer"),
    _needing("diamr", "difference in mean residual", "mean(score - y) of the second group - of the first", S2, "S2",
             "scores", low=-2.0, high=2.0, better="nearer"),
    _needing("cev", "combined error variance", "Var_i(dFPR_i) + Var_i(dFNR_i), d = (alternative - base) / base", S2,
             "S2", "two models"),
    _needing("sde", "symmetric distance error", "mean_i |dFNR_i - dFPR_i|", S2, "S2", "two models"),
    _needing("cev_norm", "combined error variance, normalised", "cev / cev of a uniform random predictor", S2, "S2",
             "two models"),
    _needing("sde_norm", "symmetric distance error, normalised", "sde / sde of a uniform random predictor", S2,
             "S2", "two models"),
    _needing("cie", "compression-identified exemplars", "rows whose modal label differs between two populations of "
             "models", "Hooker et al. 2019, What Do Compressed Deep Neural Networks Forget? (S2)", "S2",
             "several runs"),
]


def _build() -> dict[str, Metric]:
    rows: list[Metric] = []
    for rate in RATES.values():
        rows += comparisons(rate, "counts")
    rows += _ODDS_ROWS + _S0_ROWS + _S1_ROWS + _S2_ROWS + _S3_ROWS + _S4_ROWS
    for score in SCORE_RATES.values():
        rows += comparisons(score, "scores")
    rows += comparisons(TOP_K, "scores")
    rows += _OTHER_ROWS + friedler_rows()
    return {row.key: row for row in rows}


CATALOGUE: dict[str, Metric] = _build()
COUNT_METRICS: tuple[str, ...] = tuple(key for key, row in CATALOGUE.items() if row.statistic and row.needs == "counts")

"""Metrics with a privileged group: S3's scores, its full list of 61 values, and S4's differences."""

from __future__ import annotations

import math

import pytest

from evenhand.metrics.catalogue import CATALOGUE
from evenhand.metrics.counts import Counts
from evenhand.metrics.view import View

CASES = [
    "metrics_random_a",
    "metrics_random_b",
    "metrics_unprivileged_never_positive",
    "metrics_perfect_predictor",
    "metrics_prediction_equals_s",
]
BASES = {
    "accuracy": "accuracy",
    "TPR": "tpr",
    "TNR": "tnr",
    "FPR": "fpr",
    "FNR": "fnr",
    "calibrationPos": "calibration_pos",
    "calibrationNeg": "calibration_neg",
}
OFFICIAL = {
    "accuracy": "accuracy",
    "TPR": "tpr",
    "TNR": "tnr",
    "BCR": "bcr",
    "MCC": "mcc",
    "DIbinary": "di_binary",
    "DIavgall": "di_avg_all",
    "CV": "cv",
}
for _theirs, _ours in BASES.items():
    OFFICIAL |= {
        f"0-{_theirs}": f"{_ours}.privileged",
        f"1-{_theirs}": f"{_ours}.unprivileged",
        f"sensitiveattr-{_theirs}": f"{_ours}.mean",
        f"1-{_theirs}_over_0-{_theirs}": f"{_ours}.ratio",
        f"sensitiveattr-{_theirs}Ratio": f"{_ours}.ratio_mean",
        f"diff:0-{_theirs}to1-{_theirs}": f"{_ours}.diff",
        f"sensitiveattr-{_theirs}Diff": f"{_ours}.diff_mean",
    }
COUNTED = {
    "EqOppo_fn_diff": "eqopp_fn_diff",
    "EqOppo_fn_ratio": "eqopp_fn_ratio",
    "EqOppo_fp_diff": "eqopp_fp_diff",
    "EqOppo_fp_ratio": "eqopp_fp_ratio",
}
PAPER = {
    "DP": "dp_score",
    "EqOpp1": "eqopp1",
    "EqOpp0": "eqopp0",
    "p_acc": "acc_p",
    "up_acc": "acc_up",
    "acc": "acc_mean",
    "EqOdd": "eqodd",
    "fn_rate_difference": "s3.eqopp_fn_diff",
    "fp_rate_difference": "s3.eqopp_fp_diff",
}
RATIOS = {
    "fn_rate_ratio_unpriv_over_priv": "s3.eqopp_fn_ratio",
    "fp_rate_ratio_unpriv_over_priv": "s3.eqopp_fp_ratio",
}


def value(key: str, counts: Counts, **view) -> float:
    return float(CATALOGUE[key](View(counts.margins(), **view)))


@pytest.fixture
def case(golden, request):
    found = {case["name"]: case for case in golden("09a_fairdeeplearning_metrics")["cases"]}
    assert sorted(found) == sorted(CASES)
    return found[request.param]


def counted(case) -> Counts:
    given = case["inputs"]
    return Counts.from_predictions(given["y_true"], given["y_pred"], given["s"])


# -- golden -----------------------------------------------------------------------------------------------
def test_the_list_has_61_values_and_each_has_a_row():
    assert len(OFFICIAL) == 57
    rows = {key for key in CATALOGUE if key.startswith("s3.")}
    assert rows == {f"s3.{ours}" for ours in (*OFFICIAL.values(), *COUNTED.values())}
    assert len(rows) == 61


@pytest.mark.parametrize("case", CASES, indirect=True)
def test_legacy_values_are_those_the_official_code_prints(case, assert_close):
    expected = case["expected"]["official"]
    assert set(expected) == set(OFFICIAL)
    for theirs, ours in OFFICIAL.items():
        assert_close(value(f"s3.{ours}", counted(case), legacy=True), expected[theirs], case["tolerance"])


@pytest.mark.parametrize("case", CASES, indirect=True)
def test_legacy_counts_are_raw_and_fn_counts_true_negatives(case, assert_close):
    """Behind `legacy` alone: these are the values the reference calls wrong."""
    m = counted(case).margins()
    for name, cell in (("fn", m.tn[1]), ("fp", m.fp[1])):
        assert_close(
            value(f"s3.eqopp_{name}_diff", counted(case), legacy=True), abs(int(cell[0]) - int(cell[1]))
        )
        ratio = 1.0 if not cell.any() else (cell[1] / cell[0] if cell[0] else 0.0)
        assert_close(value(f"s3.eqopp_{name}_ratio", counted(case), legacy=True), ratio)


@pytest.mark.parametrize("case", CASES, indirect=True)
def test_paper_metrics_are_the_independent_ones(case, assert_close):
    for theirs, ours in (PAPER | RATIOS).items():
        assert_close(value(ours, counted(case)), case["expected"]["independent"][theirs], case["tolerance"])


@pytest.mark.parametrize("case", CASES[:2], indirect=True)
def test_without_legacy_defined_values_are_the_same(case, assert_close):
    for theirs, ours in OFFICIAL.items():
        assert_close(
            value(f"s3.{ours}", counted(case)), case["expected"]["official"][theirs], case["tolerance"]
        )


# -- S3 and S4 oracles ------------------------------------------------------------------------------------
PERFECT = Counts.from_table([[[10, 0], [0, 10]], [[10, 0], [0, 10]]])
PREDICTS_S = Counts.from_table([[[10, 0], [10, 0]], [[0, 10], [0, 10]]])
SCORES = ("dp_score", "eqopp0", "eqopp1", "eqodd", "acc_p", "acc_up", "acc_mean")


def test_a_perfect_predictor_has_every_score_at_1():
    assert [value(key, PERFECT) for key in SCORES] == [1.0] * len(SCORES)
    assert [value(key, PERFECT) for key in ("delta_dp", "delta_eo", "delta_eopp")] == [0.0] * 3


def test_a_predictor_of_the_attribute_has_every_parity_score_at_0():
    assert [value(key, PREDICTS_S) for key in ("dp_score", "eqopp0", "eqopp1", "eqodd")] == [0.0] * 4
    assert value("acc_mean", PREDICTS_S) == value("acc", PREDICTS_S) == 0.5


def test_delta_eo_is_a_sum_and_reaches_200_percent():
    assert value("delta_eo", PREDICTS_S) == 2.0
    assert value("delta_dp", PREDICTS_S) == value("delta_eopp", PREDICTS_S) == 1.0


def test_delta_eopp_is_the_term_of_label_0(assert_close):
    counts = Counts.from_table([[[8, 2], [1, 9]], [[5, 5], [4, 6]]])
    assert_close(value("delta_eopp", counts), 0.3)
    assert_close(value("delta_eo", counts), 0.3 + 0.3)
    assert_close(value("delta_dp", counts), 0.0)


def test_laftr_code_reports_half_of_delta_eo(assert_close):
    counts = Counts.from_table([[[8, 2], [1, 9]], [[5, 5], [3, 7]]])
    assert_close(value("odds.mean", counts), (0.3 + 0.2) / 2)
    assert_close(2 * value("odds.mean", counts), value("delta_eo", counts))


def test_mean_accuracy_does_not_depend_on_the_sizes_of_the_groups(assert_close):
    counts = Counts.from_table([[[90, 10], [10, 90]], [[1, 1], [1, 1]]])
    assert_close(value("acc_mean", counts), 0.7)
    assert_close(value("acc", counts), 182 / 204)


def test_the_privileged_group_is_the_first_unless_another_is_named(assert_close):
    counts = Counts.from_table([[[9, 1], [1, 9]], [[6, 4], [4, 6]]])
    assert_close([value("acc_p", counts), value("acc_up", counts)], [0.9, 0.6])
    assert_close([value("acc_p", counts, privileged=1), value("acc_up", counts, privileged=1)], [0.6, 0.9])


def test_other_groups_are_pooled_or_averaged_as_the_name_says(assert_close):
    counts = Counts.from_table([[[5, 5], [5, 5]], [[30, 0], [10, 0]], [[0, 5], [0, 5]]])
    assert_close(value("s3.di_binary", counts), (10 / 50) / 0.5)
    assert_close(value("s3.di_avg_all", counts), (0 / 0.5 + 1 / 0.5) / 2)
    assert_close(value("s3.accuracy.unprivileged", counts), 35 / 50)
    assert_close(value("s3.accuracy.mean", counts), (0.5 + 0.75 + 0.5) / 3)
    assert_close(value("s3.accuracy.diff_mean", counts), ((1 - 0.25) + 1.0) / 2)


def test_calibration_of_the_negatives_is_the_false_omission_rate():
    assert CATALOGUE["s3.calibration_neg.privileged"].better == "lower"
    assert (
        value("s3.calibration_neg.privileged", Counts.from_table([[[6, 4], [2, 8]], [[5, 5], [5, 5]]]))
        == 0.25
    )


def test_undefined_stays_undefined_without_legacy():
    never = Counts.from_table([[[5, 0], [5, 0]], [[5, 0], [5, 0]]])
    for key in ("s3.di_binary", "s3.di_avg_all", "s3.calibration_pos.privileged", "s3.tpr.ratio", "s3.mcc"):
        assert math.isnan(value(key, never)), key
        assert not math.isnan(value(key, never, legacy=True)), key


def test_one_group_has_nobody_to_be_compared_with():
    alone = Counts.from_table([[[8, 2], [5, 5]]])
    assert value("acc_p", alone) == 0.65
    for key in (
        "acc_up",
        "acc_mean",
        "s3.di_binary",
        "s3.di_avg_all",
        "s3.cv",
        "s3.tpr.ratio_mean",
        "s3.tpr.diff",
    ):
        assert math.isnan(value(key, alone)), key


# -- S2's group differences (A4.7) ------------------------------------------------------------------------
def test_equality_differences_are_sums_over_groups_of_the_positive_class(assert_close):
    counts = Counts.from_table([[[8, 2], [1, 9]], [[5, 5], [3, 7]], [[10, 0], [5, 5]]])
    assert_close(value("fped", counts), sum(abs(7 / 30 - rate) for rate in (0.2, 0.5, 0.0)))
    assert_close(value("fned", counts), sum(abs(9 / 30 - rate) for rate in (0.1, 0.3, 0.5)))


def test_equality_differences_of_one_group_are_undefined():
    alone = Counts.from_table([[[8, 2], [5, 5]]])
    assert math.isnan(value("fped", alone))
    assert math.isnan(value("fned", alone))

"""Comparisons of rates between groups, beside those of fairlearn, AIF360, torchmetrics, and their traps."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evenhand.metrics.catalogue import CATALOGUE
from evenhand.metrics.counts import Counts
from evenhand.metrics.view import View

FRAME = {
    "selection_rate": "selection",
    "true_positive_rate": "tpr",
    "false_positive_rate": "fpr",
    "accuracy": "accuracy",
}
TOP = {
    "demographic_parity_difference__between_groups": "selection.gap",
    "demographic_parity_difference__to_overall": "selection.to_overall",
    "demographic_parity_ratio__between_groups": "selection.ratio",
    "equalized_odds_difference__between_groups__worst_case": "odds.max",
    "equalized_odds_difference__between_groups__mean": "odds.mean",
    "equalized_odds_ratio__between_groups__worst_case": "odds.ratio",
    "equal_opportunity_difference__between_groups": "tpr.gap",
    "equal_opportunity_difference__to_overall": "tpr.to_overall",
    "equal_opportunity_ratio__between_groups": "tpr.ratio",
}


def counted(given, **more) -> Counts:
    return Counts.from_predictions(
        given["y_true"], given["y_pred"], given["group"], weights=given.get("sample_weight"), **more
    )


def value(key: str, counts: Counts, **view) -> float:
    return float(CATALOGUE[key](View(counts.margins(), **view)))


# -- golden references ------------------------------------------------------------------------------------
@pytest.mark.parametrize("case", range(4))
def test_differences_and_ratios_are_those_of_fairlearn(golden, assert_close, case):
    case = golden("07b_fairlearn_metrics")["cases"][case]
    counts, expected = counted(case["inputs"]), case["expected"]
    for theirs, ours in TOP.items():
        assert_close(value(ours, counts), expected[theirs], case["tolerance"])
    for theirs, rate in FRAME.items():
        frame = expected["frame"][theirs]
        assert_close(value(f"{rate}.gap", counts), frame["difference_between_groups"], case["tolerance"])
        assert_close(value(f"{rate}.ratio", counts), frame["ratio_between_groups"], case["tolerance"])
        assert_close(value(f"{rate}.to_overall", counts), frame["difference_to_overall"], case["tolerance"])
        low, high = ("best", "worst") if rate == "fpr" else ("worst", "best")
        assert_close(value(f"{rate}.{low}", counts), frame["group_min"], case["tolerance"])
        assert_close(value(f"{rate}.{high}", counts), frame["group_max"], case["tolerance"])


@pytest.mark.parametrize("case", range(3))
def test_ratios_are_those_of_torchmetrics_and_so_are_the_groups_that_decide(golden, assert_close, case):
    case = golden("07c_torchmetrics_binary_fairness")["cases"][case]
    given = case["inputs"]
    guess = np.array(given["scores"]) > case["parameters"]["threshold"]
    counts = Counts.from_predictions(given["y_true"], guess, given["group"])
    for name, theirs in case["expected"]["binary_fairness"].items():
        kind, lowest, highest = name.split("_")
        metric = CATALOGUE["selection.ratio" if kind == "DP" else "tpr.ratio"]
        view = View(counts.margins())
        assert_close(metric(view), theirs, case["tolerance"])
        assert metric.statistic.deciders(view)[1].tolist() == [int(highest), int(lowest)]
    independent = case["expected"]["independent_min_max_ratio"]
    assert_close(value("selection.ratio", counts), independent["selection_rate"], 1e-12)
    assert_close(value("tpr.ratio", counts), independent["true_positive_rate"], 1e-12)


@pytest.mark.parametrize("case", [0, 1])
def test_two_group_differences_are_those_of_aif360(golden, assert_close, case):
    case = golden("07a_aif360_metrics")["cases"][case]
    counts, expected = counted(case["inputs"]), case["expected"]
    api = expected["dataset_api"]
    assert_close(
        value("selection.gap", counts), abs(expected["statistical_parity_difference"]), case["tolerance"]
    )
    assert_close(value("tpr.gap", counts), abs(expected["equal_opportunity_difference"]), case["tolerance"])
    assert_close(value("fpr.gap", counts), abs(api["false_positive_rate_difference"]), case["tolerance"])
    assert_close(value("ppv.gap", counts), abs(api["false_discovery_rate_difference"]), case["tolerance"])
    assert_close(value("accuracy.gap", counts), abs(api["error_rate_difference"]), case["tolerance"])
    assert_close(value("odds.mean", counts), expected["average_odds_error"], case["tolerance"])
    assert_close(value("odds.max", counts), api["equalized_odds_difference"], case["tolerance"])
    impact = expected["disparate_impact_ratio"]
    assert_close(value("selection.ratio", counts), min(impact, 1 / impact), case["tolerance"])


@pytest.mark.parametrize("case", range(4))
def test_differences_to_the_privileged_group_are_those_of_aif360(golden, assert_close, case):
    case = golden("07a_aif360_metrics")["cases"][case]
    counts, expected, tol = counted(case["inputs"]), case["expected"], case["tolerance"]
    api, privileged = expected["dataset_api"], {"privileged": case["parameters"]["privileged_group"]}

    def signed(rate: str) -> float:
        return value(f"s3.{rate}.unprivileged", counts, **privileged) - value(
            f"s3.{rate}.privileged", counts, **privileged
        )

    assert_close(
        1 - value("s3.cv", counts, **privileged), abs(expected["statistical_parity_difference"]), tol
    )
    assert_close(value("s3.di_binary", counts, **privileged), expected["disparate_impact_ratio"], tol)
    assert_close(signed("tpr"), expected["equal_opportunity_difference"], tol)
    assert_close(signed("fpr"), api["false_positive_rate_difference"], tol)
    assert_close((signed("tpr") + signed("fpr")) / 2, expected["average_odds_difference"], tol)
    assert_close(-signed("accuracy"), api["error_rate_difference"], tol)
    assert_close(-signed("calibration_pos"), api["false_discovery_rate_difference"], tol)
    assert_close(
        1 - value("s3.tpr.diff", counts, **privileged), abs(expected["equal_opportunity_difference"]), tol
    )
    assert_close(
        value("s3.eqopp_fp_diff", counts, **privileged), abs(api["false_positive_rate_difference"]), tol
    )


# -- what the words mean ----------------------------------------------------------------------------------
THREE = Counts.from_table([[[8, 2], [5, 5]], [[6, 4], [2, 8]], [[9, 1], [4, 6]]])


def test_a_gap_is_highest_minus_lowest_and_a_ratio_lowest_over_highest(assert_close):
    assert_close(value("tpr.gap", THREE), 0.3)
    assert_close(value("tpr.ratio", THREE), 0.5 / 0.8)


def test_the_worst_group_is_the_lowest_unless_less_is_better(assert_close):
    assert_close([value("tpr.worst", THREE), value("tpr.best", THREE)], [0.5, 0.8])
    assert_close([value("fpr.worst", THREE), value("fpr.best", THREE)], [0.4, 0.1])


def test_a_spread_is_the_population_deviation(assert_close):
    assert_close(value("tpr.spread", THREE), np.std([0.5, 0.8, 0.6]))


def test_the_distance_to_overall_is_measured_from_all_rows(assert_close):
    assert_close(value("tpr.to_overall", THREE), 0.8 - 19 / 30)


@pytest.mark.parametrize(
    ("key", "groups"),
    [
        ("tpr.gap", [1, 0]),
        ("tpr.ratio", [1, 0]),
        ("tpr.worst", [0]),
        ("tpr.best", [1]),
        ("fpr.worst", [1]),
        ("tpr.to_overall", [1]),
        ("odds.max", [1, 0]),
        ("selection.gap", [1, 0]),
    ],
)
def test_the_groups_that_decided_are_named_highest_first(key, groups):
    assert CATALOGUE[key].statistic.deciders(View(THREE.margins()))[1].tolist() == groups


def test_ties_are_decided_by_the_first_group():
    even = Counts.from_table([[[1, 1], [1, 1]]] * 3)
    assert CATALOGUE["tpr.gap"].statistic.deciders(View(even.margins()))[1].tolist() == [0, 0]


def test_equalized_odds_names_the_groups_of_the_larger_gap():
    counts = Counts.from_table([[[5, 5], [5, 5]], [[9, 1], [5, 5]]])
    assert CATALOGUE["odds.max"].statistic.deciders(View(counts.margins()))[1].tolist() == [0, 1]


def test_an_undefined_group_takes_no_part_and_decides_nothing(assert_close):
    counts = Counts.from_table([[[8, 2], [0, 0]], [[6, 4], [2, 8]], [[9, 1], [4, 6]]])
    assert_close(value("tpr.gap", counts), 0.2)
    assert CATALOGUE["tpr.gap"].statistic.deciders(View(counts.margins()))[1].tolist() == [1, 2]


def test_one_group_cannot_be_compared():
    alone = Counts.from_table([[[8, 2], [5, 5]]])
    for how in ("gap", "ratio", "spread", "to_overall"):
        assert math.isnan(value(f"tpr.{how}", alone))
    assert value("tpr.worst", alone) == value("tpr.best", alone) == 0.5


def test_a_ratio_of_rates_that_are_all_zero_is_undefined():
    never = Counts.from_table([[[5, 0], [5, 0]], [[5, 0], [5, 0]]])
    assert math.isnan(value("selection.ratio", never))
    assert value("selection.gap", never) == 0.0


def test_equalized_odds_is_undefined_when_one_of_its_gaps_is():
    no_negatives = Counts.from_table([[[0, 0], [5, 5]], [[6, 4], [2, 8]]])
    assert math.isnan(value("odds.max", no_negatives))


# -- traps that other libraries fall into -----------------------------------------------------------------
def test_trap_a_group_without_negatives_has_no_false_positive_rate():
    """fairlearn calls that rate 0 and then reports an equalized odds difference of 1."""
    fairlearn = pytest.importorskip("fairlearn.metrics")
    y, p, g = [1, 1, 0, 0, 1, 1], [1, 1, 1, 1, 1, 1], [0, 0, 1, 1, 1, 1]
    theirs = fairlearn.equalized_odds_difference(y, p, sensitive_features=g)
    assert theirs == 1.0
    counts = Counts.from_predictions(y, p, g)
    assert math.isnan(value("fpr.gap", counts))
    assert math.isnan(value("odds.max", counts))


def test_trap_a_group_absent_from_a_batch_does_not_shift_the_others():
    """torchmetrics 1.9 books the rows of group 2 under group 1 when a batch has no group 1."""
    counts = Counts.from_predictions([1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 2, 2], n_groups=3)
    assert counts.table.sum(axis=(-1, -2)).tolist() == [2, 0, 2]
    assert CATALOGUE["tpr.gap"].statistic.deciders(View(counts.margins()))[1].tolist() == [0, 2]


def test_trap_torchmetrics_does_shift_them():
    torch = pytest.importorskip("torch")
    torchmetrics = pytest.importorskip("torchmetrics")
    if tuple(map(int, torchmetrics.__version__.split(".")[:2])) > (1, 9):
        pytest.skip("repaired after 1.9")
    metric = torchmetrics.classification.BinaryFairness(num_groups=3)
    metric.update(torch.tensor([1.0, 1.0, 0.0, 1.0]), torch.tensor([1, 1, 1, 1]), torch.tensor([0, 0, 2, 2]))
    assert (metric.tp + metric.fn).tolist() == [2, 2, 0]  # the rows were of groups 0 and 2


def test_trap_a_missing_group_label_is_kept_and_counted(assert_close):
    """torchmetrics fails on -1, fairlearn refuses or drops the row; here it has a place of its own."""
    counts = Counts.from_predictions([1, 1, 1, 1], [1, 0, 1, 1], [0, 1, -1, -1])
    assert counts.unknown.sum() == 2
    assert counts.cells.sum() == 4
    assert_close(value("tpr.gap", counts), 1.0)


def test_trap_several_classes_are_not_scored_as_class_1(assert_close):
    """fairlearn's demographic_parity_difference silently scores class 1 of a three-class task."""
    fairlearn = pytest.importorskip("fairlearn.metrics")
    y = p = [0, 0, 1, 1, 2, 2, 0, 0, 0, 1, 1, 2]
    g = [0] * 6 + [1] * 6
    theirs = fairlearn.demographic_parity_difference(y, p, sensitive_features=g)
    assert_close(theirs, 0.0)
    metric, view = CATALOGUE["selection.gap"], View(Counts.from_predictions(y, p, g).margins())
    assert_close(metric.per_class(view), [1 / 6, 0.0, 1 / 6])
    assert_close(metric(view), 1 / 9)


def test_trap_a_class_never_predicted_keeps_its_place(assert_close):
    """FairBench unites the classes of truth and prediction and fails when they differ."""
    counts = Counts.from_predictions([0, 1, 2, 0, 1, 2], [0, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1])
    assert counts.n_classes == 3
    assert_close([value("accuracy.worst", counts), value("accuracy.best", counts)], [1 / 3, 2 / 3])
    assert_close(CATALOGUE["tpr.gap"].per_class(View(counts.margins())), [0.0, 1.0, 0.0])
    assert_close(CATALOGUE["ppv.gap"].per_class(View(counts.margins())), [2 / 3, math.nan, math.nan])


def test_trap_a_class_that_is_predicted_but_never_true_is_not_dropped():
    counts = Counts.from_predictions([0, 1, 0, 1], [2, 1, 0, 2], [0, 0, 1, 1])
    assert counts.n_classes == 3
    assert value("accuracy.gap", counts) == 0.0
    assert counts.table.sum() == 4


def test_trap_no_positives_is_not_a_true_positive_rate_of_zero():
    """FairBench and holisticai call it 0, and a comparison with it either perfect or the worst."""
    counts = Counts.from_predictions([0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 1, 1])
    assert math.isnan(value("tpr.gap", counts))
    assert value("tpr.worst", counts) == 1.0

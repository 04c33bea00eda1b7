"""Rates of the groups: hand numbers, golden references, and undefined where there are no cases."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evenhand.metrics import rates
from evenhand.metrics.counts import Counts
from evenhand.metrics.rates import RATES

# truth in rows, prediction in columns: TN 30, FP 10, FN 5, TP 55
HAND = Counts.from_table([[[30, 10], [5, 55]]])
BY_HAND = {
    "selection": 65 / 100,
    "tpr": 55 / 60,
    "fpr": 10 / 40,
    "tnr": 30 / 40,
    "fnr": 5 / 60,
    "ppv": 55 / 65,
    "npv": 30 / 35,
    "for": 5 / 35,
    "accuracy": 85 / 100,
    "balanced_accuracy": (55 / 60 + 30 / 40) / 2,
    "f1": 110 / 125,
    "mcc": (55 * 30 - 10 * 5) / math.sqrt(65 * 60 * 40 * 35),
}
FAIRLEARN = {
    "selection_rate": "selection",
    "true_positive_rate": "tpr",
    "false_positive_rate": "fpr",
    "false_negative_rate": "fnr",
    "true_negative_rate": "tnr",
    "accuracy": "accuracy",
}


@pytest.mark.parametrize("key", RATES)
def test_every_rate_is_what_its_formula_says(key, assert_close):
    assert_close(RATES[key](HAND), [BY_HAND[key]], 1e-12)


@pytest.mark.parametrize(
    ("key", "table"),
    [
        ("tpr", [[4, 1], [0, 0]]),
        ("fnr", [[4, 1], [0, 0]]),
        ("fpr", [[0, 0], [1, 4]]),
        ("tnr", [[0, 0], [1, 4]]),
        ("ppv", [[3, 0], [2, 0]]),
        ("npv", [[0, 3], [0, 2]]),
        ("for", [[0, 3], [0, 2]]),
        ("f1", [[3, 0], [0, 0]]),
        ("balanced_accuracy", [[0, 0], [1, 4]]),
        ("mcc", [[0, 0], [1, 4]]),
        ("mcc", [[0, 1], [0, 4]]),
        ("selection", [[0, 0], [0, 0]]),
        ("accuracy", [[0, 0], [0, 0]]),
    ],
)
def test_a_rate_without_cases_is_undefined_and_never_zero_or_one(key, table):
    assert np.isnan(RATES[key](Counts.from_table([table]))[0])


@pytest.mark.parametrize("case", range(4))
def test_group_rates_are_those_of_fairlearn(golden, assert_close, case):
    case = golden("07b_fairlearn_metrics")["cases"][case]
    given = case["inputs"]
    counts = Counts.from_predictions(
        given["y_true"], given["y_pred"], given["group"], weights=given.get("sample_weight")
    )
    for theirs, ours in FAIRLEARN.items():
        assert_close(RATES[ours](counts), case["expected"]["by_group"][theirs], case["tolerance"])
        assert_close(
            RATES[ours](counts.margins().pooled), [case["expected"]["overall"][theirs]], case["tolerance"]
        )


@pytest.mark.parametrize("case", range(3))
def test_shares_of_the_four_outcomes_are_those_of_torchmetrics(golden, assert_close, case):
    case = golden("07c_torchmetrics_binary_fairness")["cases"][case]
    given = case["inputs"]
    guess = np.array(given["scores"]) > case["parameters"]["threshold"]
    m = Counts.from_predictions(given["y_true"], guess, given["group"]).margins()
    shares = np.stack([m.tp[1], m.fp[1], m.tn[1], m.fn[1]], axis=-1) / m.n[1][:, None]
    expected = case["expected"]["stat_rates_tp_fp_tn_fn_per_group"]
    assert_close(shares, [expected[f"group_{group}"] for group in range(len(expected))], case["tolerance"])


def test_one_vs_rest_cells_are_those_of_the_golden_tables(golden):
    for case in golden("06_seven_bias_metrics_artifact")["cases"]:
        given = case["inputs"]
        if "confusion" not in case["expected"]:
            continue
        m = Counts.from_predictions(given["y_true"], given["y_pred"], given["group"]).margins()
        for group, classes in case["expected"]["confusion"].items():
            for label, cells in classes.items():
                place = (int(label), int(group))
                assert [m.tp[place], m.fp[place], m.tn[place], m.fn[place]] == [
                    cells["TP"],
                    cells["FP"],
                    cells["TN"],
                    cells["FN"],
                ]


def test_more_than_two_classes_give_the_mean_over_the_defined_ones(assert_close):
    counts = Counts.from_predictions([0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 0, 0], n_classes=3)
    assert_close(rates.tpr(counts, per_class=True)[:, 0], [0.5, 1.0, math.nan])
    assert_close(rates.tpr(counts), [0.75])
    assert_close(rates.accuracy(counts), [0.75])
    assert_close(rates.balanced_accuracy(counts), [0.75])


def test_a_multi_label_rate_is_the_mean_over_labels(assert_close):
    counts = Counts.from_predictions([[1, 0], [1, 1]], [[1, 0], [0, 1]], [0, 0])
    assert_close(rates.tpr(counts, per_class=True)[:, 0], [0.5, 1.0])
    assert_close(rates.tpr(counts), [0.75])
    assert_close(rates.accuracy(counts), [0.75])


def test_whole_rates_have_one_value_and_not_one_a_class():
    counts = Counts.from_predictions([0, 1, 2], [0, 1, 2], [0, 0, 1])
    for key, rate in RATES.items():
        assert rate(counts, per_class=True).shape == ((1, 2) if rate.whole else (3, 2)), key


def test_runs_are_kept_apart(assert_close):
    runs = Counts.from_predictions([1, 1, 0], [[1, 0, 0], [1, 1, 1]], [0, 0, 0])
    assert_close(rates.tpr(runs), [[0.5], [1.0]])
    assert_close(rates.fpr(runs), [[0.0], [1.0]])


def test_the_rows_of_unknown_group_are_in_no_group(assert_close):
    counts = Counts.from_predictions([1, 1, 1], [1, 0, 0], [0, 0, -1])
    assert_close(rates.tpr(counts), [0.5])


@pytest.mark.parametrize("n_classes", [2, 10])
def test_weighted_correlation_is_undefined_when_all_predictions_are_one_class(n_classes):
    """Rounding of the sums of weights must neither warn nor turn nothing into a number."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y, g, w = rng.integers(0, n_classes, 60), rng.integers(0, 10, 60), rng.random(60)
        counts = Counts.from_predictions(y, np.ones(60, int), g, n_classes=n_classes, n_groups=10, weights=w)
        assert np.isnan(rates.mcc(counts)).all()
        assert np.isnan(rates.mcc(counts.margins().pooled)).all()


def test_weighted_pooled_rates_are_undefined_without_cases():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y, g, w = rng.integers(0, 2, 200), rng.integers(0, 40, 200), rng.random(200)
        counts = Counts.from_predictions(y, np.ones(200, int), g, n_groups=40, weights=w)
        assert np.isnan(rates.npv(counts.margins().pooled)).all()
        assert np.isnan(rates.false_omission(counts.margins().pooled)).all()

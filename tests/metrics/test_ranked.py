"""Exact score statistics against scikit-learn, the golden numbers and hand checks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as reference

from evenhand.metrics.ranked import (
    auc,
    average_precision,
    brier,
    by_group,
    exact_auc,
    exact_average_precision,
    expected_calibration_error,
    log_loss,
    mean_score,
    ranking,
    top_k_accuracy,
)
from evenhand.metrics.score_rows import GRID, bin_index

GOLDEN_KEYS = {
    "roc_auc": exact_auc,
    "average_precision": exact_average_precision,
    "brier": brier,
    "log_loss": log_loss,
    "ece_15_bins": expected_calibration_error,
}


@st.composite
def rows(draw, coarse=True):
    """Labels of both kinds, scores with many ties, weights."""
    n = draw(st.integers(2, 40))
    y = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n).filter(lambda labels: len(set(labels)) == 2))
    score = st.integers(0, 8).map(lambda k: k / 8) if coarse else st.floats(0, 1)
    scores = draw(st.lists(score, min_size=n, max_size=n))
    weights = draw(st.lists(st.floats(0.1, 5), min_size=n, max_size=n))
    return np.array(y), np.array(scores), np.array(weights)


@pytest.mark.parametrize("case", range(3))
@pytest.mark.parametrize("key", GOLDEN_KEYS)
def test_golden_by_group(golden, assert_close, case, key):
    case = golden("07d_group_auc_ap_brier_ece")["cases"][case]
    inputs, expected = case["inputs"], case["expected"]
    got = by_group(GOLDEN_KEYS[key], inputs["y_true"], inputs["scores"], inputs["group"])
    assert_close(got.overall, expected["overall"][key], case["tolerance"])
    assert_close(got.groups, [expected[f"group{g}"][key] for g in range(len(got.groups))], case["tolerance"])


@pytest.mark.parametrize("bins", [5, 10])
def test_golden_ece_of_other_bins(golden, assert_close, bins):
    for case in golden("07d_group_auc_ap_brier_ece")["cases"]:
        got = expected_calibration_error(case["inputs"]["y_true"], case["inputs"]["scores"], bins=bins)
        assert_close(got, case["expected"]["overall"][f"ece_{bins}_bins"], case["tolerance"])


@given(rows())
def test_rows_agree_with_scikit_learn(data):
    y, s, w = data
    for weight in (None, w):
        assert exact_auc(y, s, weight) == pytest.approx(reference.roc_auc_score(y, s, sample_weight=weight))
        expected = reference.average_precision_score(y, s, sample_weight=weight)
        assert exact_average_precision(y, s, weight) == pytest.approx(expected)
        expected = reference.brier_score_loss(y, s, sample_weight=weight)
        assert brier(y, s, weight) == pytest.approx(expected)
        assert log_loss(y, s, weight) == pytest.approx(reference.log_loss(y, s, sample_weight=weight))


@given(rows(coarse=False))
def test_ranking_quality_depends_on_the_order_alone(data):
    y, s, w = data
    logit = np.searchsorted(np.unique(s), s) * 3.0 - 50.0  # strictly rising in s, and no probability
    assert exact_auc(y, logit, w) == pytest.approx(exact_auc(y, s, w))
    assert exact_average_precision(y, logit, w) == pytest.approx(exact_average_precision(y, s, w))
    assert exact_auc(y, s, w) + exact_auc(1 - y, s, w) == pytest.approx(1.0)


@given(rows())
def test_a_whole_weight_is_so_many_rows(data):
    y, s, w = data
    times = np.ceil(w).astype(int)
    for metric in (exact_auc, exact_average_precision, brier, expected_calibration_error, mean_score):
        assert metric(y, s, times) == pytest.approx(metric(np.repeat(y, times), np.repeat(s, times)))


def test_kernels_work_on_any_leading_axes(assert_close):
    pos = np.random.default_rng(0).integers(0, 4, (3, 2, 7))
    neg = np.random.default_rng(1).integers(0, 4, (3, 2, 7))
    for kernel in (auc, average_precision):
        one_by_one = [[kernel(pos[i, j], neg[i, j]).item() for j in range(2)] for i in range(3)]
        assert_close(kernel(pos, neg), one_by_one, 1e-12)


def test_without_positives_or_negatives_there_is_no_value():
    assert np.isnan(exact_auc([1, 1], [0.2, 0.3]))
    assert np.isnan(exact_auc([0, 0], [0.2, 0.3]))
    assert np.isnan(exact_average_precision([0, 0], [0.2, 0.3]))
    assert exact_average_precision([1, 1], [0.2, 0.3]) == 1.0
    for metric in (*GOLDEN_KEYS.values(), mean_score):
        assert np.isnan(metric([], []))


def test_ties_count_one_half():
    assert exact_auc([1, 0], [0.5, 0.5]) == 0.5


def test_reweighted_average_precision_by_hand():
    """S1 A3.2: ranking A+, -, A+, B+, - with weights .75, 1, .75, 1.5, 1."""
    y, score = [1, 0, 1, 1, 0], [0.9, 0.8, 0.7, 0.6, 0.5]
    assert exact_average_precision(y, score, [0.75, 1, 0.75, 1.5, 1]) == pytest.approx(0.775)
    assert exact_average_precision(y, score) == pytest.approx(0.80556, abs=5e-6)


def test_log_loss_of_a_certain_mistake_is_finite():
    assert log_loss([1], [0.0]) == pytest.approx(-np.log(2.0**-52))
    assert log_loss([1], [0.0], eps=1e-3) == pytest.approx(-np.log(1e-3))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.sampled_from([5, 10, 15, 16, 240]))
def test_coarse_bins_are_unions_of_fine_ones(scores, bins):
    fine = bin_index(np.array(scores))
    assert np.array_equal(bin_index(np.array(scores), bins), fine // (GRID // bins))
    assert fine.min() >= 0
    assert fine.max() < GRID


def test_top_k_accuracy_agrees_with_scikit_learn_and_argmax():
    rng = np.random.default_rng(3)
    scores, y = rng.random((200, 6)), rng.integers(0, 6, 200)
    for k in (1, 2, 5):
        expected = reference.top_k_accuracy_score(y, scores, k=k, labels=range(6))
        assert top_k_accuracy(y, scores, k) == pytest.approx(expected)
    assert top_k_accuracy(y, scores, 6) == 1.0
    tied = np.round(scores, 1)
    assert top_k_accuracy(y, tied, 1) == (tied.argmax(axis=1) == y).mean()


def test_top_k_ties_go_to_the_lowest_class():
    assert top_k_accuracy([0, 1, 2], np.ones((3, 3)), k=2) == pytest.approx(2 / 3)
    assert top_k_accuracy([0, 2], np.ones((2, 3)), k=1, weights=[1, 3]) == 0.25
    assert np.isnan(top_k_accuracy([], np.ones((0, 3)), k=1))


def test_unknown_group_counts_overall_only():
    y, s, g = [1, 0, 1, 0, 1], [0.9, 0.2, 0.4, 0.6, 0.1], [0, 0, 1, 1, -1]
    got = by_group(exact_auc, y, s, g, n_groups=3)
    assert got.groups[:2].tolist() == [1.0, 0.0]
    assert np.isnan(got.groups[2])
    assert got.overall == pytest.approx(reference.roc_auc_score(y, s))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: brier([1, 0], [0.5, 1.5]), "score 1.5 in row 1"),
        (lambda: brier([1, 0, 1], [0.5, 0.5, np.nan]), "score nan in row 2"),
        (lambda: exact_auc([1, 0], [np.nan, 0.5]), "score nan in row 0"),
        (lambda: exact_auc([1, 2], [0.1, 0.5]), "label 2 in row 1"),
        (lambda: exact_auc([1, 0], [0.1]), "one length"),
        (lambda: brier([1, 0], [0.1, 0.2], [1, -1]), "weight -1.0 in row 1"),
        (lambda: brier([1, 0], [0.1, 0.2], [1]), "each of the 2 rows"),
        (lambda: by_group(brier, [1, 0], [0.1, 0.2], [0, 5], n_groups=2), "group 5 in row 1"),
        (lambda: by_group(brier, [1, 0], [0.1, 0.2], [0]), "1 group codes"),
        (lambda: top_k_accuracy([3], [[0.1, 0.2]]), "label 3 in row 0"),
        (lambda: top_k_accuracy([1], [[0.1, np.nan]]), "row 0, column 1"),
        (lambda: top_k_accuracy([1], [0.1]), "rows, classes"),
        (lambda: top_k_accuracy([1], [[0.1, 0.3]], k=0), "at least 1"),
    ],
)
def test_wrong_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_ranking_of_an_empty_list():
    pos, neg = ranking([], [])
    assert pos.size == neg.size == 0
    assert np.isnan(auc(pos, neg))

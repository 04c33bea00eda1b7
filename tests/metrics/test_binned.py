"""Rates of histograms: equal to the exact ones where they should be, and near them elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.metrics import binned, ranked
from evenhand.metrics.score_rates import SCORE_RATES
from evenhand.metrics.scores import Scores


@st.composite
def grid_rows(draw):
    """Scores that each have a bin of their own (multiples of 1/64), three groups, some unknown."""
    n = draw(st.integers(1, 60))
    y = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    s = draw(st.lists(st.integers(0, 64).map(lambda k: k / 64), min_size=n, max_size=n))
    g = draw(st.lists(st.integers(-1, 2), min_size=n, max_size=n))
    w = draw(st.lists(st.floats(0.1, 4), min_size=n, max_size=n))
    return np.array(y), np.array(s), np.array(g), np.array(w)


@given(grid_rows(), st.booleans())
def test_binned_is_exact_when_each_bin_holds_one_score(data, weighted):
    y, s, g, w = data
    weights = w if weighted else None
    scores = Scores.from_scores(y, s, g, 3, weights)
    for rate in SCORE_RATES.values():
        exact = ranked.by_group(rate.exact, y, s, g, 3, weights)
        assert np.allclose(rate(scores), exact.groups, atol=1e-9, equal_nan=True), rate.key
        assert np.allclose(rate(scores.pooled), exact.overall, atol=1e-9, equal_nan=True), rate.key


@given(st.integers(0, 2**32 - 1), st.sampled_from([15, 240, 3840]))
def test_brier_mean_score_and_ece_are_exact_in_any_bins(seed, bins):
    rng = np.random.default_rng(seed)
    y, s, g = rng.integers(0, 2, 100), rng.random(100), rng.integers(0, 2, 100)
    scores = Scores.from_scores(y, s, g, 2, bins=bins)
    for key in ("brier", "mean_score", "ece"):
        rate = SCORE_RATES[key]
        assert np.allclose(rate(scores), ranked.by_group(rate.exact, y, s, g, 2).groups, atol=1e-12), key


def test_auc_ap_and_log_loss_converge_to_the_exact_values():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 4000)
    s, g = np.clip(rng.normal(0.4 + 0.2 * y, 0.2), 0, 1), np.zeros(4000, int)
    for key in ("auc", "ap", "log_loss"):
        rate = SCORE_RATES[key]
        exact = rate.exact(y, s, np.ones(4000))
        values = [rate(Scores.from_scores(y, s, g, bins=bins)).item() for bins in (10, 120, 3840)]
        errors = [abs(value - exact) for value in values]
        assert errors[0] > errors[1] > errors[2], key
        assert errors[2] < (1e-4 if key != "log_loss" else 2e-2), key


def test_binned_log_loss_is_never_above_the_exact_one():
    rng = np.random.default_rng(1)
    y, s = rng.integers(0, 2, 300), rng.random(300)
    got = binned.log_loss(Scores.from_scores(y, s, np.zeros(300, int), bins=10)).item()
    assert got <= ranked.log_loss(y, s)


def test_golden_group_values(golden, assert_close):
    keys = {"auc": "roc_auc", "ap": "average_precision", "brier": "brier", "ece": "ece_15_bins"}
    for case in golden("07d_group_auc_ap_brier_ece")["cases"]:
        inputs, expected = case["inputs"], case["expected"]
        scores = Scores.from_scores(inputs["y_true"], inputs["scores"], inputs["group"])
        for key, name in keys.items():
            groups = [expected[f"group{g}"][name] for g in range(scores.n_groups)]
            assert_close(SCORE_RATES[key](scores), groups, case["tolerance"])
            assert_close(SCORE_RATES[key](scores.pooled), [expected["overall"][name]], case["tolerance"])


@pytest.mark.parametrize("name", ["multilabel_21", "multilabel_22"])
def test_golden_reweighted_average_precision(golden, assert_close, name):
    case = next(case for case in golden("04_domain_bias_mitigation")["cases"] if case["name"] == name)
    targets = np.array(case["inputs"]["targets_last_column_is_domain"]).astype(int)
    y, domain = targets[:, :-1], targets[:, -1]
    s, expected = np.array(case["inputs"]["probabilities_for_AP"]), case["expected"]
    scores = Scores.from_scores(y, s, domain)
    assert_close(
        binned.mean_average_precision_u(scores, per_class=True), expected["weighted_AP"], case["tolerance"]
    )
    assert_close(binned.mean_average_precision_u(scores), expected["weighted_mAP"], case["tolerance"])
    assert_close(binned.mean_average_precision(scores), np.mean(expected["plain_AP"]), case["tolerance"])
    for k, value in enumerate(expected["weighted_AP"]):
        weights = binned.positive_weights(y[:, k], domain)
        assert_close(ranked.exact_average_precision(y[:, k], s[:, k], weights), value, case["tolerance"])


def test_reweighting_by_hand():
    """S1 A3.2: ranking A+, -, A+, B+, - gives .775, unweighted .80556."""
    y, s, g = [1, 0, 1, 1, 0], [0.9, 0.8, 0.7, 0.6, 0.5], [0, 1, 0, 1, 0]
    scores = Scores.from_scores(y, s, g)
    assert binned.mean_average_precision_u(scores).item() == pytest.approx(0.775)
    assert binned.mean_average_precision(scores).item() == pytest.approx(0.80556, abs=5e-6)
    assert binned.positive_weights(y, g).tolist() == [0.75, 1, 0.75, 1.5, 1]


def test_a_group_without_positives_leaves_the_reweighting_to_the_others():
    y, s = [1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.5, 0.1]
    three = Scores.from_scores(y, s, [0, 1, 0, 1, 0, 2])
    two = Scores.from_scores(y, s, [0, 1, 0, 1, 0, 1])
    assert binned.mean_average_precision_u(three).item() == binned.mean_average_precision_u(two).item()
    assert binned.groups_without_positives(three).tolist() == [False, False, True]


def test_rows_of_unknown_group_have_no_part_in_the_reweighting():
    known = Scores.from_scores([1, 0, 1], [0.9, 0.8, 0.7], [0, 1, 1])
    more = Scores.from_scores([1, 0, 1, 1, 0], [0.9, 0.8, 0.7, 0.95, 0.99], [0, 1, 1, -1, -1])
    assert binned.mean_average_precision_u(known).item() == binned.mean_average_precision_u(more).item()
    assert binned.mean_average_precision(known).item() != binned.mean_average_precision(more).item()
    weights = binned.positive_weights([1, 0, 1, 1, 0], [0, 1, 1, -1, -1])
    assert weights.tolist() == [1, 1, 1, 0, 0]
    assert binned.positive_weights([1, 0], [-1, -1]).tolist() == [0, 0]


def test_differences_of_two_groups_are_second_minus_first():
    """S2 A4.7: groups in the order female, male: DIMS = mean score(male) - mean score(female)."""
    scores = Scores.from_scores([1, 1, 0, 0], [0.9, 0.7, 0.3, 0.2], [0, 0, 1, 1])
    assert binned.dims(scores).item() == pytest.approx(0.25 - 0.8)
    assert binned.diamr(scores).item() == pytest.approx(0.25 - (0.8 - 1.0))


@given(grid_rows())
def test_diamr_minus_dims_is_the_gap_in_base_rates(data):
    y, s, g, _ = data
    g = g % 2
    scores = Scores.from_scores(y, s, g, 2)
    rates = [np.mean(y[g == k]) if (g == k).any() else np.nan for k in (0, 1)]
    gap = binned.diamr(scores).item() - binned.dims(scores).item()
    assert gap == pytest.approx(rates[0] - rates[1], abs=1e-9, nan_ok=True)


def test_published_table_3_has_one_constant_base_rate_gap():
    """S2 Table 3: DIAMR - DIMS of NN, SVM, GTB is the same survival gap, since the labels are the same."""
    published = [(-0.269742, 0.288790), (-0.067460, 0.491071), (-0.193700, 0.364831)]
    gaps = [diamr - dims for dims, diamr in published]
    assert max(gaps) - min(gaps) < 2e-6


def test_differences_of_several_groups_are_largest_minus_smallest():
    scores = Scores.from_scores([0, 0, 0], [0.2, 0.9, 0.5], [0, 1, 2], n_groups=4)
    assert binned.dims(scores).item() == pytest.approx(0.7)
    lonely = Scores.from_scores([0], [0.2], [0], n_groups=3)
    assert np.isnan(binned.dims(lonely))


def test_several_labels_are_averaged_over_those_defined():
    y = [[1, 0], [0, 0], [1, 0]]
    s = [[0.9, 0.3], [0.2, 0.4], [0.1, 0.5]]
    scores = Scores.from_scores(y, s, [0, 0, 0])
    apart = binned.auc(scores, per_class=True)
    assert apart.shape == (2, 1)
    assert np.isnan(apart[1, 0])
    assert binned.auc(scores)[0] == apart[0, 0] == 0.5
    assert binned.mean_average_precision(scores) == binned.average_precision(scores.pooled)[0]


def test_replicates_and_runs_are_leading_axes():
    rng = np.random.default_rng(0)
    scores = Scores.from_scores(
        rng.integers(0, 3, 60), rng.dirichlet(np.ones(3), (2, 60)), rng.integers(0, 2, 60), runs=True
    )
    drawn = scores.resample(5, rng)
    for rate in SCORE_RATES.values():
        assert rate(drawn).shape == (5, 2, 2)
        assert rate(drawn, per_class=True).shape == (5, 2, 3, 2)
    assert binned.dims(drawn).shape == binned.mean_average_precision_u(drawn).shape == (5, 2)
    assert binned.groups_without_positives(drawn).shape == (5, 2, 3, 2)


def test_an_empty_group_has_no_value_in_any_rate():
    scores = Scores.from_scores([1, 0], [0.9, 0.1], [0, 0], n_groups=2)
    for rate in SCORE_RATES.values():
        assert np.isnan(rate(scores)[1]), rate.key


def test_counts_beyond_32_bits_do_not_overflow():
    cells = {"group": [0, 0], "label": [0, 1], "bin": [1, 2], "count": [2**40, 2**40]}
    scores = Scores.from_cells(**cells, sum_score=[0.0, 0.0], sum_square=[0.0, 0.0], n_groups=1, bins=4)
    assert binned.auc(scores).tolist() == [1.0]

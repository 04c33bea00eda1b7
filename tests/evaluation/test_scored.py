"""Scores in an audit: exact against scikit-learn in every group, whatever their shape."""

import math

import numpy as np
import pytest
from sklearn.metrics import (
    average_precision_score,
    brier_score_loss,
    log_loss,
    roc_auc_score,
    top_k_accuracy_score,
)

import evenhand
from evenhand.evaluation import scored
from evenhand.metrics.catalogue import CATALOGUE

REFERENCE = {
    "auc": roc_auc_score,
    "ap": average_precision_score,
    "brier": brier_score_loss,
    "log_loss": log_loss,
}


def binary(n=300, seed=0):
    rng = np.random.default_rng(seed)
    y, g = rng.integers(0, 2, n), rng.choice(["a", "b", "c"], n)
    s = np.round(np.clip(0.3 * y + 0.65 * rng.random(n) + 0.02, 0, 1), 2)  # with ties
    return y, (s > 0.5).astype(int), g, s


def classes(n=240, seed=1, k=4):
    rng = np.random.default_rng(seed)
    y, g = rng.integers(0, k, n), rng.choice(["a", "b"], n)
    s = rng.dirichlet(np.ones(k), n)
    s[np.arange(n), y] += 0.5
    return y, s.argmax(axis=1), g, s / s.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("key", REFERENCE)
@pytest.mark.parametrize("weighted", [False, True])
def test_exact_rates_of_each_group(key, weighted):
    y, p, g, s = binary()
    w = np.random.default_rng(2).integers(1, 5, len(y)) if weighted else None
    found = evenhand.audit(y, p, g, scores=s, weights=w, replicates=0)
    values = {}
    for group in found.groups:
        rows = g == group.name
        weights = {} if w is None else {"sample_weight": w[rows]}
        values[group.name] = REFERENCE[key](y[rows], s[rows], **weights)
        assert group.rates[key] == pytest.approx(values[group.name]), group.name
    gap = found.metrics[f"{key}.gap"]
    high, low = max(values, key=values.get), min(values, key=values.get)
    assert gap.value == pytest.approx(values[high] - values[low])
    assert gap.decided_by == (high, low)
    everyone = {} if w is None else {"sample_weight": w}
    assert found.overall.rates[key] == pytest.approx(REFERENCE[key](y, s, **everyone))


def test_mean_score_and_calibration_error():
    y, p, g, s = binary()
    found = evenhand.audit(y, p, g, scores=s, replicates=0)
    for group in found.groups:
        rows = g == group.name
        assert group.rates["mean_score"] == pytest.approx(s[rows].mean())
        assert 0 <= group.rates["ece"] <= 1
    perfect = evenhand.audit(y, y, g, scores=y.astype(float), replicates=0)
    assert perfect.metrics["ece.worst"].value == 0
    assert perfect.metrics["auc.worst"].value == 1


def test_two_columns_are_the_score_of_the_positive_class():
    y, p, g, s = binary()
    one = evenhand.audit(y, p, g, scores=s, replicates=0)
    two = evenhand.audit(y, p, g, scores=np.stack([1 - s, s], axis=1), replicates=0)
    for key, row in CATALOGUE.items():
        if row.needs == "scores" and key in one.metrics:
            assert one.metrics[key].value == pytest.approx(two.metrics[key].value, nan_ok=True), key


def test_columns_of_classes_are_one_against_the_rest():
    y, p, g, s = classes()
    found = evenhand.audit(y, p, g, scores=s, replicates=0)
    for group in found.groups:
        rows = g == group.name
        expected = [roc_auc_score(y[rows] == k, s[rows, k]) for k in range(4)]
        assert group.per_class["auc"] == pytest.approx(expected)
        assert group.rates["auc"] == pytest.approx(np.mean(expected))
    assert found.metrics["map"].value == pytest.approx(
        np.mean([average_precision_score(y == k, s[:, k]) for k in range(4)])
    )


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_label_among_the_k_highest(k):
    y, p, g, s = classes()
    found = evenhand.audit(y, p, g, scores=s, topk=k, replicates=50)
    for group in found.groups:
        rows = g == group.name
        assert group.rates["topk"] == pytest.approx(
            top_k_accuracy_score(y[rows], s[rows], k=k, labels=range(4))
        )
    gap = found.metrics["topk.gap"]
    assert gap.low <= gap.value <= gap.high


def test_labels_with_a_column_each():
    rng = np.random.default_rng(4)
    y, s, g = rng.integers(0, 2, (120, 3)), rng.random((120, 3)), rng.choice(["a", "b"], 120)
    found = evenhand.audit(y, s > 0.5, g, scores=s, replicates=0)
    for group in found.groups:
        rows = g == group.name
        expected = [roc_auc_score(y[rows, k], s[rows, k]) for k in range(3)]
        assert group.per_class["auc"] == pytest.approx(expected)


# -- the columns follow the classes, wherever the positive one is put --------------------------------------
def test_columns_belong_to_their_classes_when_a_positive_class_is_named():
    y, p, g, s = binary()
    words, both = np.array(["no", "yes"]), np.stack([1 - s, s], axis=1)  # in the order of the classes
    plain = evenhand.audit(words[y], words[p], g, scores=both, replicates=0)
    turned = evenhand.audit(words[y], words[p], g, scores=both, positive="no", replicates=0)
    assert plain.overall.rates["auc"] == pytest.approx(roc_auc_score(y, s))
    assert turned.overall.rates["auc"] == pytest.approx(roc_auc_score(1 - y, 1 - s))
    assert turned.overall.rates["mean_score"] == pytest.approx(1 - s.mean())
    alone = evenhand.audit(words[y], words[p], g, scores=1 - s, positive="no", replicates=0)
    assert alone.overall.rates["auc"] == pytest.approx(turned.overall.rates["auc"])


def test_columns_of_many_classes_follow_them_too():
    y, p, g, s = classes()
    plain = evenhand.audit(y, p, g, scores=s, replicates=0)
    turned = evenhand.audit(y, p, g, scores=s, positive=0, replicates=0)
    for key in ("map", "auc.gap", "brier.worst", "topk.gap"):
        assert plain.metrics[key].value == pytest.approx(turned.metrics[key].value), key
    order = [2, 0, 3, 1]
    given = evenhand.audit(y, p, g, scores=s[:, order], classes=order, replicates=0)
    assert plain.metrics["map"].value == pytest.approx(given.metrics["map"].value)


# -- what cannot be computed ------------------------------------------------------------------------------
def test_a_group_with_one_class_has_no_auc():
    y, p, g, s = binary()
    y = np.where(g == "a", 0, y)
    found = evenhand.audit(y, p, g, scores=s, replicates=50)
    gap = found.metrics["auc.gap"]
    assert math.isnan(found.groups[0].rates["auc"])
    assert not math.isnan(found.groups[0].rates["brier"])
    assert set(gap.decided_by) == {"b", "c"}
    assert gap.skipped_groups == 1
    assert gap.undefined == ("area under the ROC curve of a: no positives or no negatives",)


@pytest.mark.parametrize("groups", ["none", "one", "small"])
def test_scores_without_groups_to_compare(groups):
    y, p, g, s = binary()
    given = {"none": [None] * len(y), "one": ["a"] * len(y), "small": g}[groups]
    found = evenhand.audit(y, p, given, scores=s, min_count=1000 if groups == "small" else 1, replicates=20)
    assert math.isnan(found.metrics["auc.gap"].value)
    assert found.metrics["auc.gap"].undefined
    assert found.overall.rates["auc"] == pytest.approx(roc_auc_score(y, s))


def test_a_row_that_is_left_out_needs_no_score():
    y, p, g, s = binary()
    some, scores = y.astype(float), s.copy()
    some[0], scores[0] = np.nan, np.nan
    found = evenhand.audit(some, p, g, scores=scores, replicates=0)
    assert found.n == len(y) - 1
    assert found.overall.rates["auc"] == pytest.approx(roc_auc_score(y[1:], s[1:]))


# -- intervals and bins -----------------------------------------------------------------------------------
def test_score_intervals_hold_their_values():
    y, p, g, s = binary()
    found = evenhand.audit(y, p, g, scores=s, replicates=100)
    for key, value in found.metrics.items():
        if CATALOGUE[key].needs == "scores":
            assert value.low <= value.value <= value.high, key


def test_many_scores_are_binned_and_stay_near(monkeypatch):
    y, p, g, s = binary()
    exact = evenhand.audit(y, p, g, scores=s, replicates=0)
    for module in ("evenhand.evaluation.scored", "evenhand.evaluation.rows"):
        monkeypatch.setattr(f"{module}.EXACT_VALUES", 10)
    coarse = evenhand.audit(y, p, g, scores=s, replicates=0)
    assert (exact.to_dict()["method"]["scores"], coarse.to_dict()["method"]["scores"]) == ("exact", "binned")
    for key in ("auc.gap", "ap.worst", "brier.gap", "ece.best", "map", "dims"):
        assert coarse.metrics[key].value == pytest.approx(exact.metrics[key].value, abs=0.01), key
    assert scored.EXACT_VALUES == 10


def test_intervals_of_labels_that_are_all_the_same_label():
    """Eight copies of one label are one label: a mean over them is no more certain."""
    y, p, g, s = binary()
    one = evenhand.audit(y, p, g, scores=s, replicates=400).metrics["auc.gap"]
    copies = [np.repeat(values[:, None], 8, axis=1) for values in (y, p, s)]
    many = evenhand.audit(*copies[:2], g, scores=copies[2], replicates=400).metrics["auc.gap"]
    assert many.value == pytest.approx(one.value)
    assert many.high - many.low > 0.85 * (one.high - one.low)

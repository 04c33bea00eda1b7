"""The group table: sizes, rates with Wilson intervals, per class, confusion."""

import math

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import confusion_matrix, f1_score, matthews_corrcoef

import evenhand
from evenhand.metrics.rates import RATES


def sample(classes=2, n=200, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    return y, np.where(rng.random(n) < 0.7, y, rng.integers(0, classes, n)), rng.choice(["a", "b"], n)


def test_rates_against_other_libraries():
    y, p, g = sample()
    found = evenhand.audit(y, p, g, replicates=0)
    for group in found.groups:
        rows = g == group.name
        tn, fp, fn, tp = confusion_matrix(y[rows], p[rows]).ravel()
        rates = group.rates
        assert rates["tpr"] == pytest.approx(tp / (tp + fn))
        assert rates["fpr"] == pytest.approx(fp / (fp + tn))
        assert rates["ppv"] == pytest.approx(tp / (tp + fp))
        assert rates["for"] == pytest.approx(fn / (fn + tn))
        assert rates["f1"] == pytest.approx(f1_score(y[rows], p[rows]))
        assert rates["mcc"] == pytest.approx(matthews_corrcoef(y[rows], p[rows]))
        assert rates["tnr"] == pytest.approx(1 - rates["fpr"])
        assert rates["fnr"] == pytest.approx(1 - rates["tpr"])
        assert rates["npv"] == pytest.approx(1 - rates["for"])
        assert group.confusion == ((tn, fp), (fn, tp))
        assert set(rates) == set(RATES)


def test_intervals_are_wilson_of_the_right_cases():
    y, p, g = sample()
    found = evenhand.audit(y, p, g, confidence=0.9, replicates=0)
    group, rows = found.groups[0], g == "a"
    cases = {
        "tpr": p[rows & (y == 1)] == 1,
        "fpr": p[rows & (y == 0)] == 1,
        "ppv": y[rows & (p == 1)] == 1,
        "selection": p[rows] == 1,
        "accuracy": (y == p)[rows],
    }
    for key, hits in cases.items():
        expected = binomtest(int(hits.sum()), len(hits)).proportion_ci(0.9, method="wilson")
        assert group.intervals[key] == pytest.approx((expected.low, expected.high)), key


def test_weighted_rows_have_intervals_of_their_number_not_of_their_weight():
    y, p, g = sample()
    plain, heavy = (evenhand.audit(y, p, g, weights=w, replicates=0) for w in (None, np.full(200, 100.0)))
    assert heavy.groups[0].intervals["tpr"] == pytest.approx(plain.groups[0].intervals["tpr"])
    assert heavy.groups[0].weight == pytest.approx(100 * plain.groups[0].n)
    assert plain.groups[0].weight is None


def test_many_classes_have_values_each():
    y, p, g = sample(classes=5)
    group = evenhand.audit(y, p, g, replicates=0).groups[0]
    assert len(group.per_class["tpr"]) == 5
    assert group.rates["tpr"] == pytest.approx(np.mean(group.per_class["tpr"]))
    assert np.shape(group.confusion) == (5, 5)
    assert set(group.intervals) == {"accuracy"}
    y, p, g = sample(classes=14)
    assert evenhand.audit(y, p, g, replicates=0).groups[0].confusion is None


def test_shares_and_flags():
    y, p, _ = sample()
    g = np.array(["a"] * 150 + ["b"] * 30 + ["c"] * 15 + [None] * 5, dtype=object)
    found = evenhand.audit(y, p, g, min_count=20, replicates=0)
    assert [(row.name, row.share, row.small, row.excluded) for row in found.groups] == [
        ("a", 0.75, False, False),
        ("b", 0.15, False, False),
        ("c", 0.075, True, True),
    ]
    overall = found.overall
    assert (overall.name, overall.n, overall.share, overall.excluded) == ("all rows", 200, 1.0, False)
    assert overall.rates["accuracy"] == pytest.approx(np.mean(y == p))


def test_a_group_that_does_not_occur_has_no_rates():
    attribute = evenhand.Attribute.from_values(["a", "b"], levels=["a", "b", "c"])
    absent = evenhand.audit([1, 0], [1, 0], attribute, replicates=0).groups[2]
    assert (absent.n, absent.share, absent.excluded) == (0, 0.0, True)
    assert all(math.isnan(value) for value in absent.rates.values())
    assert all(math.isnan(end) for ends in absent.intervals.values() for end in ends)


def test_multilabel_groups():
    rng = np.random.default_rng(1)
    y, p, g = rng.integers(0, 2, (90, 3)), rng.integers(0, 2, (90, 3)), rng.choice(["a", "b"], 90)
    group = evenhand.audit(y, p, g, replicates=0).groups[0]
    rows = g == "a"
    hits = [np.mean(p[rows & (y[:, k] == 1), k]) for k in range(3)]
    assert group.n == rows.sum()
    assert group.per_class["tpr"] == pytest.approx(hits)
    assert group.rates["accuracy"] == pytest.approx(np.mean((y == p)[rows]))
    assert group.confusion is None

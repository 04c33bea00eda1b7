"""Agreement with fairlearn and scikit-learn wherever they define the same number."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evenhand.metrics.catalogue import CATALOGUE
from evenhand.metrics.counts import Counts
from evenhand.metrics.rates import RATES
from evenhand.metrics.view import View

fairlearn = pytest.importorskip("fairlearn.metrics")
sklearn = pytest.importorskip("sklearn.metrics")
FEW = settings(max_examples=25)  # their frames take tens of milliseconds each
SEEDS = st.integers(0, 2**32 - 1)


def rows(seed: int, groups: int, classes: int = 2, n: int = 60):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    p = np.where(rng.random(n) < 0.6, y, rng.integers(0, classes, n))
    return y, p, rng.integers(0, groups, n), rng.integers(1, 9, n) / 4


def near(first, second) -> bool:
    return np.allclose(first, second, rtol=0, atol=1e-9)


@FEW
@given(SEEDS, st.integers(2, 4), st.booleans())
def test_the_frame_of_fairlearn(seed, groups, weighted):
    y, p, g, w = rows(seed, groups)
    w = w if weighted else None
    counts = Counts.from_predictions(y, p, g, weights=w)
    view = View(counts.margins())
    functions = {
        "selection": fairlearn.selection_rate,
        "tpr": fairlearn.true_positive_rate,
        "fpr": fairlearn.false_positive_rate,
        "tnr": fairlearn.true_negative_rate,
        "fnr": fairlearn.false_negative_rate,
    }
    assume(len(np.unique(g)) == groups)
    assume(not any(np.isnan(RATES[key](counts)).any() for key in functions))
    frame = fairlearn.MetricFrame(
        metrics=functions,
        y_true=y,
        y_pred=p,
        sensitive_features=g,
        sample_params=None if w is None else {key: {"sample_weight": w} for key in functions},
    )
    for key in functions:
        assert near(RATES[key](counts), frame.by_group[key])
        assert near(CATALOGUE[f"{key}.gap"](view), frame.difference()[key])
        assert near(CATALOGUE[f"{key}.to_overall"](view), frame.difference(method="to_overall")[key])
        ratio = float(CATALOGUE[f"{key}.ratio"](view))
        assert math.isnan(ratio) or near(ratio, frame.ratio()[key])


@FEW
@given(SEEDS, st.integers(2, 4))
def test_the_named_differences_of_fairlearn(seed, groups):
    y, p, g, _ = rows(seed, groups)
    view = View(Counts.from_predictions(y, p, g).margins())
    assume(not np.isnan(view.rate("tpr")).any())
    assume(not np.isnan(view.rate("fpr")).any())
    ours = [CATALOGUE[key](view) for key in ("selection.gap", "odds.max", "odds.mean", "tpr.gap")]
    theirs = [
        fairlearn.demographic_parity_difference(y, p, sensitive_features=g),
        fairlearn.equalized_odds_difference(y, p, sensitive_features=g),
        fairlearn.equalized_odds_difference(y, p, sensitive_features=g, agg="mean"),
        fairlearn.equal_opportunity_difference(y, p, sensitive_features=g),
    ]
    assert near(ours, theirs)


@given(SEEDS, st.booleans())
def test_binary_scores_of_scikit_learn(seed, weighted):
    y, p, g, w = rows(seed, 1)
    w = w if weighted else None
    counts = Counts.from_predictions(y, p, g, weights=w)
    theirs = {
        "accuracy": sklearn.accuracy_score,
        "balanced_accuracy": sklearn.balanced_accuracy_score,
        "f1": sklearn.f1_score,
        "mcc": sklearn.matthews_corrcoef,
        "ppv": sklearn.precision_score,
        "tpr": sklearn.recall_score,
    }
    for key, function in theirs.items():
        ours = RATES[key](counts)[0]
        assert math.isnan(ours) or near(ours, function(y, p, sample_weight=w)), key


@given(SEEDS, st.integers(3, 6))
def test_scores_of_scikit_learn_over_many_classes(seed, classes):
    y, p, g, _ = rows(seed, 1, classes, n=120)
    assume(len(np.unique(y)) == len(np.unique(p)) == classes)
    counts = Counts.from_predictions(y, p, g)
    theirs = {
        "accuracy": sklearn.accuracy_score(y, p),
        "balanced_accuracy": sklearn.balanced_accuracy_score(y, p),
        "f1": sklearn.f1_score(y, p, average="macro"),
        "mcc": sklearn.matthews_corrcoef(y, p),
        "ppv": sklearn.precision_score(y, p, average="macro"),
        "tpr": sklearn.recall_score(y, p, average="macro"),
    }
    for key, expected in theirs.items():
        assert near(RATES[key](counts)[0], expected), key
    assert near(RATES["tpr"](counts, per_class=True)[:, 0], sklearn.recall_score(y, p, average=None))


@given(SEEDS)
def test_scores_of_scikit_learn_over_labels(seed):
    rng = np.random.default_rng(seed)
    y, p = rng.integers(0, 2, (50, 3)), rng.integers(0, 2, (50, 3))
    counts = Counts.from_predictions(y, p, np.zeros(50, dtype=int))
    assert near(RATES["f1"](counts)[0], sklearn.f1_score(y, p, average="macro"))
    assert near(RATES["ppv"](counts)[0], sklearn.precision_score(y, p, average="macro"))
    assert near(RATES["tpr"](counts)[0], sklearn.recall_score(y, p, average="macro"))
    assert near(1 - RATES["accuracy"](counts)[0], sklearn.hamming_loss(y, p))


@given(SEEDS, st.integers(2, 6))
def test_the_confusion_matrix_of_scikit_learn(seed, classes):
    y, p, g, _ = rows(seed, 1, classes)
    counts = Counts.from_predictions(y, p, g, n_classes=classes)
    assert np.array_equal(counts.table[0], sklearn.confusion_matrix(y, p, labels=range(classes)))

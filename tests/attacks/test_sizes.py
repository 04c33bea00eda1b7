"""Too few, too many, none at all."""

import math
import tracemalloc

import numpy as np
import pytest

import evenhand


def test_no_rows(assert_refused):
    for empty in ([], np.zeros(0), ()):
        assert_refused(lambda empty=empty: evenhand.audit(empty, empty, empty), "no rows")
    assert_refused(lambda: evenhand.compare([], {"a": [], "b": []}), "no rows")
    assert_refused(lambda: evenhand.audit(np.zeros((0, 3)), np.zeros((0, 3)), []), "no rows")


def test_one_row():
    found = evenhand.audit([1], [1], ["a"])
    assert (found.n, found.overall.rates["accuracy"]) == (1, 1.0)
    assert math.isnan(found.metrics["tpr.gap"].value)
    assert any("nothing to compare" in note for note in found.warnings)
    found.to_html()


def test_one_row_in_each_group():
    found = evenhand.audit([1, 1], [1, 0], ["a", "b"], replicates=200)
    assert found.metrics["tpr.gap"].value == 1
    assert found.metrics["tpr.gap"].low < 0.6


def test_one_group(rows):
    y, p, _ = rows
    found = evenhand.audit(y, p, ["only"] * 60)
    assert math.isnan(found.metrics["dp"].value)
    assert found.metrics["dp"].undefined == ("a comparison needs two groups with enough rows",)
    assert found.groups[0].rates["accuracy"] == np.mean(y == p)


@pytest.mark.parametrize("groups", [[None] * 60, np.full(60, np.nan), np.full(60, -1)])
def test_every_group_missing(rows, groups):
    """Nothing to compare, but the rows are counted; the command line refuses the same file."""
    y, p, _ = rows
    found = evenhand.audit(y, p, groups, replicates=20)
    assert (found.n, found.unknown, found.groups) == (60, 60, ())
    assert found.overall.rates["accuracy"] == np.mean(y == p)
    assert all(math.isnan(found.metrics[key].value) for key in ("dp", "tpr.gap", "eps", "ba"))
    for text in (found.to_json(), found.to_html(), found.to_markdown(), found._repr_html_()):
        assert text


def test_every_group_missing_in_a_comparison_is_told(rows):
    y, p, _ = rows
    found = evenhand.compare(y, {"a": p, "b": y}, groups=[None] * 60, replicates=20)
    assert any("60 rows have no known group" in note for note in found.warnings)
    assert found.accuracy["b"] == 1


@pytest.mark.parametrize("labels", [[None] * 60, np.full(60, np.nan)])
def test_every_label_or_prediction_missing(rows, labels, assert_refused):
    y, p, g = rows
    assert_refused(lambda: evenhand.audit(labels, p, g), "no row has both a label and a prediction")
    assert_refused(lambda: evenhand.audit(y, labels, g), "no row has both a label and a prediction")
    assert_refused(lambda: evenhand.compare(y, {"a": p, "b": labels}), "no row has a label and a prediction")


def test_a_constant_label_or_prediction(rows):
    y, p, g = rows
    ones = evenhand.audit(np.ones(60, dtype=int), p, g, replicates=50)
    assert math.isnan(ones.metrics["fpr.gap"].value)
    assert ones.metrics["tpr.gap"].value == ones.metrics["selection.gap"].value
    never = evenhand.audit(y, np.zeros(60, dtype=int), g, replicates=50)
    assert never.metrics["tpr.gap"].value == 0
    assert math.isnan(never.metrics["ppv.gap"].value)
    same = evenhand.audit(["x"] * 60, ["x"] * 60, g, replicates=50)
    assert same.subject.classes == ("not x", "x")
    assert same.metrics["accuracy.worst"].value == 1


def test_a_thousand_groups():
    rng = np.random.default_rng(1)
    y, p, g = rng.integers(0, 2, 20_000), rng.integers(0, 2, 20_000), rng.integers(0, 1000, 20_000)
    found = evenhand.audit(y, p, g, replicates=100)
    assert len(found.groups) == 1000
    rates = [group.rates["selection"] for group in found.groups]
    assert found.metrics["selection.gap"].value == pytest.approx(max(rates) - min(rates))
    assert found.metrics["selection.gap"].low < 0.5
    assert len(found.to_html()) < 5_000_000


def test_three_hundred_classes():
    rng = np.random.default_rng(2)
    y, g = rng.integers(0, 300, 20_000), rng.integers(0, 3, 20_000)
    p = np.where(rng.random(20_000) < 0.7, y, rng.integers(0, 300, 20_000))
    found = evenhand.audit(y, p, g, replicates=50)
    assert len(found.metrics["tpr.gap"].per_class) == 300
    assert found.metrics["acc"].value == pytest.approx(np.mean(y == p))
    assert len(found.to_html()) < 5_000_000


QUICK = {"metrics": ["acc"], "replicates": 0}


def test_ids_given_as_labels_are_refused_at_once(assert_refused):
    """Thousands of classes are millions of cells for each group: hours, or no memory."""
    ids = np.arange(1500)
    assert_refused(lambda: evenhand.audit(ids, ids, ids % 2, **QUICK), "1500", "id")
    assert_refused(lambda: evenhand.compare(ids, {"a": ids, "b": ids}, **QUICK), "1500", "id")


def test_ids_given_as_groups_are_refused_at_once(assert_refused):
    y = np.arange(1500) % 2
    assert_refused(lambda: evenhand.audit(y, y, np.arange(1500), **QUICK), "1500")
    assert_refused(lambda: evenhand.audit(y, y, np.random.default_rng(0).random(1500), **QUICK), "1500")


def test_probabilities_given_as_labels_are_refused(rows, assert_refused):
    y, p, g = rows
    scores = np.random.default_rng(3).random(60)
    assert_refused(lambda: evenhand.audit(scores, p, g), "whole numbers")
    assert_refused(lambda: evenhand.audit(y, scores, g), "scores=")
    assert_refused(lambda: evenhand.audit(y, np.stack([scores, 1 - scores], axis=1), g), "look like scores")
    assert_refused(lambda: evenhand.compare(y, {"a": p, "b": scores}), "whole numbers")


def test_forty_attributes():
    """All combinations would be a million million groups; only those that occur are kept."""
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 50)
    columns = {f"a{k}": rng.integers(0, 2, 50) for k in range(40)}
    found = evenhand.audit(y, y, columns, metrics=["dp"], replicates=0)
    assert len(found.groups) <= 50
    assert len(found.attributes) == 40


def test_more_attributes_than_can_be_coded(assert_refused):
    y = np.arange(50) % 2
    assert_refused(lambda: evenhand.audit(y, y, {f"a{k}": y for k in range(70)}), "too many combinations")


def test_pairs_given_as_groups_are_not_fifty_attributes(assert_refused):
    """`zip(sex, age)` is a row each, not a column each."""
    y = np.arange(50) % 2
    pairs = [("f", "old") if k % 2 else ("m", "young") for k in range(50)]
    assert_refused(lambda: evenhand.audit(y, y, pairs), "50 rows")


def test_a_million_rows_that_are_one_row_repeated():
    """Views without memory of their own, such as `broadcast_to` makes, stay cheap."""
    n = 1_000_000
    y, g = np.broadcast_to(np.int8(1), n), np.broadcast_to(np.int8(0), n)
    tracemalloc.start()
    found = evenhand.audit(y, y, g, metrics=["acc"], replicates=20)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (found.n, found.metrics["acc"].value) == (n, 1.0)
    assert peak < 100 * n


def test_a_hundred_labels():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, (400, 100))
    found = evenhand.audit(y, 1 - y, rng.integers(0, 2, 400), metrics=["tpr.gap"], replicates=50)
    assert found.metrics["tpr.gap"].value == 0
    assert len(found.metrics["tpr.gap"].per_class) == 100

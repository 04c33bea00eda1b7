"""Values at the edge of what their type can hold, and values that look alike."""

import datetime
import decimal
import math

import numpy as np
import pandas as pd
import pytest

import evenhand


def gap(y, p, g, key="tpr.gap", **options):
    return evenhand.audit(y, p, g, replicates=0, **options).metrics[key].value


PAIRS = {
    "int8 limits": np.array([-128, 127], dtype=np.int8),
    "int64 limits": np.array([-(2**63), 2**63 - 1]),
    "uint8 limits": np.array([0, 255], dtype=np.uint8),
    "uint64 limits": np.array([2**64 - 2, 2**64 - 1], dtype=np.uint64),
    "uint64 halves": np.array([2**63 - 1, 2**63], dtype=np.uint64),
    "neighbours near 10**18": np.array([10**18, 10**18 + 1]),
    "float16": np.array([0, 65504], dtype=np.float16),
    "float32": np.array([0, 2**24], dtype=np.float32),
    "float64": np.array([2.0**60, 2.0**61]),
    "more than 64 bits": np.array([10**30, 10**30 + 1], dtype=object),
    "minus one and one": np.array([-1, 1]),
    "minus one and zero": np.array([-1, 0]),
    "dates": np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]"),
    "words with spaces": np.array(["a b", "c  d"]),
    "bytes": np.array([b"a", b"b"]),
    "decimals": np.array([decimal.Decimal(1), decimal.Decimal(2)], dtype=object),
}


@pytest.mark.parametrize("classes", PAIRS.values(), ids=PAIRS)
def test_labels_at_the_limits_of_their_type(rows, classes):
    y, p, g = rows
    found = evenhand.audit(classes[y], classes[p], g, replicates=0)
    assert found.n == 60
    assert len(set(found.subject.classes)) == 2
    assert found.metrics["tpr.gap"].value == gap(y, p, g)


@pytest.mark.parametrize("classes", PAIRS.values(), ids=PAIRS)
def test_groups_at_the_limits_of_their_type(rows, classes):
    y, p, g = rows
    found = evenhand.audit(y, p, classes[(g == "b").astype(int)], replicates=0)
    if -1 in classes.tolist():  # among groups, -1 is the unknown one
        assert found.unknown == (g == "a").sum()
    else:
        assert found.metrics["tpr.gap"].value == gap(y, p, g)
        assert len({group.name for group in found.groups}) == 2


@pytest.mark.parametrize("infinite", [math.inf, -math.inf])
@pytest.mark.parametrize(
    "way", [lambda values: values, lambda values: values.astype(np.float32), list, pd.Series]
)
def test_an_infinite_number_is_no_class_and_nan_is_missing(rows, assert_refused, infinite, way):
    y, p, g = rows
    none, odd = y.astype(float), y.astype(float)
    none[7], odd[7] = math.nan, infinite
    mixed = odd.astype(object)
    mixed[3] = None
    runs = np.stack([p, p]).astype(float)
    runs[1, 4] = infinite
    assert evenhand.audit(way(none), p, g, replicates=0).subject.missing == 1
    assert_refused(lambda: evenhand.audit(way(odd), p, g), f"label {infinite} in row 7", "NaN or None")
    assert_refused(
        lambda: evenhand.audit(p, way(odd), g), f"prediction {infinite} in row 7", "none is infinite"
    )
    assert_refused(lambda: evenhand.audit(mixed, p, g), f"label {infinite} in row 7")
    assert_refused(lambda: evenhand.audit(y, runs, g), f"prediction {infinite} in place (1, 4)")
    assert_refused(lambda: evenhand.compare(way(odd), {"a": p, "b": y}), f"label {infinite} in row 7")
    assert_refused(lambda: evenhand.compare(y, {"a": p, "b": way(odd)}), f"prediction {infinite} in row 7")


@pytest.mark.parametrize("empty", ["", "  "])
@pytest.mark.parametrize("way", [np.asarray, lambda words: words.astype(object), pd.Series, pd.Categorical])
def test_an_empty_text_is_an_unknown_group_and_no_label(rows, empty, way):
    y, p, g = rows
    words = np.array(["no", "yes", empty])
    labels, groups = words[np.where(np.arange(60) < 6, 2, y)], np.where(np.arange(60) % 6 == 0, empty, g)
    found = evenhand.audit(way(labels), way(words[p]), way(groups), replicates=0)
    assert (found.n, found.unknown, [group.name for group in found.groups]) == (54, 9, ["a", "b"])
    assert "6 rows without a label or a prediction were left out" in found.warnings


def test_signed_labels_and_unsigned_predictions(rows):
    """Together numpy would make floats of them, which cannot tell these classes apart."""
    y, p, g = rows
    classes = np.array([10**18, 10**18 + 1])
    assert gap(classes[y], classes[p].astype(np.uint64), g) == gap(y, p, g)


def test_labels_that_are_named_alike(rows):
    y, p, g = rows
    assert gap(y, p.astype(bool), g) == gap(y, p, g)
    assert gap(y.astype(float), p.astype(bool), g) == gap(y, p, g)
    assert evenhand.audit(y, p.astype(float), g, replicates=0).subject.classes == ("0", "1")


def test_words_and_numbers_are_not_mixed(rows, assert_refused):
    y, p, g = rows
    assert_refused(lambda: evenhand.audit(y, p.astype(str), g), "labels hold numbers", "predictions text")
    assert_refused(
        lambda: evenhand.audit(y.astype(bool), p.astype(bool).astype(str), g), "like True", "like 'True'"
    )


def test_values_that_print_alike_are_one_group(rows):
    y, p, _ = rows
    found = evenhand.audit(y, p, np.array([1, "1", 2] * 20, dtype=object), replicates=0)
    assert [(group.name, group.n) for group in found.groups] == [("1", 40), ("2", 20)]
    true = evenhand.audit(y, p, np.array([True, 1, 1.0, 0] * 15, dtype=object), replicates=0)
    assert [group.n for group in true.groups] == [15, 45]


def test_labels_with_stray_spaces(rows):
    """The command line reads ' yes' as 'yes'; here they stay two classes, which the audit shows."""
    _, _, g = rows
    found = evenhand.audit(["yes ", "no"] * 30, ["yes", "no"] * 30, g, replicates=0)
    assert found.subject.classes in (("no", "yes"), ("no", "yes", "yes "))
    if len(found.subject.classes) == 3:
        assert found.metrics["acc"].value == 0.5
        assert any("yes" in note for note in found.warnings)


def test_groups_of_floats(rows):
    y, p, _ = rows
    found = evenhand.audit(y, p, np.array([1.5, 2.0, np.nan, np.inf] * 15), replicates=0)
    assert [group.name for group in found.groups] == ["1.5", "2", "inf"]
    assert found.unknown == 15


def test_groups_of_dates_in_any_form(rows):
    y, p, _ = rows
    days = ["2020-01-01", "2021-06-30"]
    forms = [
        np.array(days * 30, dtype="datetime64[D]"),
        pd.Series(pd.to_datetime(days * 30)),
        [datetime.date.fromisoformat(day) for day in days * 30],
        pd.Series(pd.to_datetime(days * 30)).dt.tz_localize("UTC"),
    ]
    for groups in forms:
        found = evenhand.audit(y, p, groups, replicates=0)
        assert [group.name[:10] for group in found.groups] == days
        assert found.metrics["dp"].value == gap(y, p, days * 30, "dp")


def test_scores_just_above_one(rows):
    """A softmax in single precision may end at 1.0000001: clipped, or refused with the row."""
    y, p, g = rows
    scores = np.float32(p) + np.float32(1.2e-7) * p
    try:
        assert evenhand.audit(y, p, g, scores=scores, replicates=0).overall.rates["brier"] <= 1
    except ValueError as error:
        assert "outside [0, 1]" in str(error)  # noqa: PT017
        assert "row" in str(error)  # noqa: PT017


@pytest.mark.parametrize("wrong", [1.5, -0.1, np.nan, np.inf])
def test_scores_that_are_no_probabilities_are_refused_by_row(rows, assert_refused, wrong):
    y, p, g = rows
    scores = np.full(60, 0.5)
    scores[7] = wrong
    assert_refused(lambda: evenhand.audit(y, p, g, scores=scores), "row 7", "[0, 1]")
    logits = np.stack([scores, 1 - scores], axis=1)
    assert_refused(lambda: evenhand.audit(y, p, g, scores=logits), "row 7")


def test_masked_values_are_missing_and_not_what_lies_below_the_mask(rows):
    y, p, g = rows
    mask = np.arange(60) < 10
    found = evenhand.audit(np.ma.array(y, mask=mask), p, g, replicates=0)
    assert (found.n, found.subject.missing) == (50, 10)
    assert found.metrics["tpr.gap"].value == gap(y[10:], p[10:], g[10:])
    hidden = evenhand.audit(y, p, np.ma.array(g == "a", mask=mask), replicates=0)
    assert hidden.unknown == 10


def test_an_infinite_metric_is_null_in_json(rows):
    y, _, g = rows
    p = np.where(g == "a", y, 0)
    found = evenhand.audit(y, p, g, smoothing=0, replicates=50)
    assert math.isinf(found.metrics["eps"].value)
    assert found.to_dict()["metrics"]["eps"]["value"] is None

"""The warnings of an audit: what a reader must be told beside the numbers."""

import numpy as np
import pytest

import evenhand

Y, P = np.array([1, 0] * 40), np.array([1, 0, 0, 1] * 20)
G = np.array(["a", "b"] * 40, dtype=object)


def notes(y=Y, p=P, g=G, **options):
    return evenhand.audit(y, p, g, replicates=0, **options).warnings


def test_nothing_to_say():
    g = np.array(["a", "a", "b", "b"] * 20)
    assert notes(g=g) == ()


def test_missing_rows_one_and_many():
    y = Y.astype(float)
    y[0] = np.nan
    assert any(note.startswith("1 row without a label or a prediction was left out") for note in notes(y=y))
    y[2] = np.nan
    assert any(note.startswith("2 rows without a label or a prediction were left out") for note in notes(y=y))


def test_unknown_rows():
    g = np.array(["a", "a", "b", "b"] * 20, dtype=object)
    g[:8] = None
    assert any("8 rows (10.0%) have no known group" in note for note in notes(g=g))


def test_small_excluded_and_absent_groups():
    g = np.array(["a", "a", "b", "b"] * 20, dtype=object)
    g[:3] = "few"
    assert any("group few has fewer than 30 rows" in note for note in notes(g=g))
    excluded = notes(g=g, min_count=5)
    assert any("group few has fewer than 5 rows and is left out" in note for note in excluded)
    assert not any("few has fewer than 30" in note for note in excluded)
    declared = evenhand.Attribute.from_values(list(g), levels=["a", "b", "few", "never"])
    assert any("group never has no rows" in note for note in notes(g=declared))


def test_many_names_are_cut_short():
    g = np.array([f"g{k:02}" for k in range(40)] * 2)
    (note,) = [note for note in notes(g=g) if "fewer than 30" in note]
    assert "g00, g01, g02, g03, g04 and 35 more have" in note


def test_one_group_has_nothing_to_compare():
    assert any("nothing to compare" in note for note in notes(g=["a"] * 80))


def test_a_gap_that_is_partly_undefined():
    assert any(note.startswith("tpr.gap: true positive rate of b") for note in notes())


def test_a_class_that_is_predicted_and_never_a_label_is_told():
    once = P.copy()
    once[3] = 2
    assert any(
        note.startswith("class '2' is predicted once, but is no row's label") for note in notes(p=once)
    )
    yes, other = np.where(Y == 1, "yes", "no"), np.where(P == 1, "Yes", "No")
    assert any("classes 'No', 'Yes' are predicted 80 times" in note for note in notes(y=yes, p=other))
    assert any("'2' is predicted 40 times" in note for note in notes(p=np.stack([P, P + 1])))  # of all runs
    assert not any(
        "no row's label" in note for note in notes(p=np.zeros_like(P))
    )  # never predicted: no matter


def test_a_comparison_tells_which_model_has_such_a_class():
    found = evenhand.compare(Y, {"base": P, "shifted": P + 1}, G, replicates=0).warnings
    assert [note.split(":")[0] for note in found if "no row's label" in note] == ["shifted"]


def test_labels_as_a_table_of_one_column_are_refused_with_the_reason():
    with pytest.raises(ValueError, match=r"labels of the shape \(80, 1\) are a table"):
        notes(y=Y[:, None])

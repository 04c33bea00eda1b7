"""Counts: what a user may hand over, how parts combine, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch

from evenhand.groups import Groups
from evenhand.metrics.counts import Counts

Y, P, GROUP = [0, 1, 1, 0, 1], [0, 1, 0, 1, 1], [0, 0, 1, -1, 1]
TABLE = [[[1, 0], [0, 1]], [[0, 0], [1, 1]]]
UNKNOWN = [[0, 1], [0, 0]]
count = Counts.from_predictions


# -- what may be given ------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "kind",
    [
        list,
        tuple,
        np.array,
        pd.Series,
        pl.Series,
        torch.tensor,
        lambda v: np.array(v, dtype=float),
        lambda v: pd.Series(v, dtype="Int64"),
        lambda v: np.array(v, dtype=np.int8),
    ],
    ids=["list", "tuple", "numpy", "pandas", "polars", "torch", "floats", "nullable", "int8"],
)
def test_every_kind_of_column_gives_the_same_counts(kind):
    counts = count(kind(Y), kind(P), kind(GROUP))
    assert counts.table.tolist() == TABLE
    assert counts.unknown.tolist() == UNKNOWN


def test_booleans_are_classes_0_and_1():
    truth, guess = np.array(Y, dtype=bool), np.array(P, dtype=bool)
    assert count(truth, guess, GROUP) == count(Y, P, GROUP)
    assert count(torch.tensor(truth), torch.tensor(guess), torch.tensor(GROUP)) == count(Y, P, GROUP)


def test_tensors_and_arrays_may_be_mixed():
    assert count(torch.tensor(Y), torch.tensor(P), GROUP) == count(Y, P, GROUP)
    assert count(Y, P, torch.tensor(GROUP)) == count(Y, P, GROUP)
    assert count(Y, torch.tensor(P), np.array(GROUP)) == count(Y, P, GROUP)


def test_groups_bring_their_number_even_if_the_last_does_not_occur():
    groups = Groups.from_any(pd.Series(pd.Categorical(["a", "b", "a"], categories=["a", "b", "c"])))
    assert count([0, 1, 1], [0, 1, 1], groups).n_groups == 3
    assert count(torch.tensor([0, 1, 1]), torch.tensor([0, 1, 1]), groups).n_groups == 3


def test_runs_are_one_row_of_predictions_each():
    runs = count(Y, [P, Y], GROUP)
    assert runs.table.shape == (2, 2, 2, 2)
    assert runs[0] == count(Y, P, GROUP)
    assert runs[1] == count(Y, Y, GROUP)
    assert Counts.stack([count(Y, P, GROUP), count(Y, Y, GROUP)]) == runs


def test_a_multi_label_table_is_one_binary_table_a_label():
    truth, guess = np.array([[0, 1, 1], [1, 1, 0]]), np.array([[1, 1, 0], [1, 0, 0]])
    counts = count(truth, guess, [0, 1])
    assert (counts.multilabel, counts.n_classes, counts.table.shape) == (True, 3, (3, 2, 2, 2))
    for label in range(3):
        alone = count(truth[:, label], guess[:, label], [0, 1], n_classes=2)
        assert np.array_equal(counts.table[label], alone.table)


def test_multi_label_runs_stand_before_the_labels():
    truth, guess = np.array([[0, 1], [1, 1]]), np.array([[1, 1], [1, 0]])
    runs = count(truth, np.stack([guess, truth]), [0, 1])
    assert runs.table.shape == (2, 2, 2, 2, 2)
    assert runs[1] == count(truth, truth, [0, 1])


def test_no_rows_are_empty_tables_and_not_an_error():
    assert count([], [], [], n_classes=3, n_groups=2).table.tolist() == np.zeros((2, 3, 3)).tolist()


def test_at_least_two_classes_and_one_group_are_assumed():
    counts = count([0, 0], [0, 0], [-1, -1])
    assert (counts.n_classes, counts.n_groups, counts.unknown.tolist()) == (2, 1, [[2, 0], [0, 0]])


def test_unweighted_counts_are_whole_numbers():
    assert count(Y, P, GROUP).table.dtype == np.int64


# -- weights ----------------------------------------------------------------------------------------------
def test_weighted_cells_are_sums_of_weights_and_rows_are_kept():
    counts = count(Y, P, GROUP, weights=[0.5, 2, 3, 4, 0])
    assert counts.weighted
    assert counts.table.tolist() == [[[0.5, 0], [0, 2]], [[0, 0], [3, 0]]]
    assert counts.unknown.tolist() == [[0, 4], [0, 0]]
    assert counts.rows[:-1].tolist() == TABLE
    assert counts.square_cells[1, 1, 0] == 9


@pytest.mark.parametrize(("weight", "text"), [(-1.0, "-1.0"), (float("nan"), "nan"), (float("inf"), "inf")])
def test_a_bad_weight_is_named_with_its_row(weight, text):
    with pytest.raises(ValueError, match=f"weight {text} in row 2"):
        count(Y, P, GROUP, weights=[1, 1, weight, 1, 1])


def test_the_number_of_weights_must_be_that_of_the_rows():
    with pytest.raises(ValueError, match="2 weights for 5 rows"):
        count(Y, P, GROUP, weights=[1, 1])


# -- ready tables and cells -------------------------------------------------------------------------------
def test_a_ready_table_is_taken_as_it_is():
    assert Counts.from_table(TABLE, UNKNOWN) == count(Y, P, GROUP)
    assert Counts.from_table(TABLE).unknown.sum() == 0


def test_sparse_cells_are_the_same_counts():
    whole = count(Y, P, GROUP)
    found = np.argwhere(whole.cells)
    group = np.where(found[:, 0] == whole.n_groups, -1, found[:, 0])
    cells = Counts.from_cells(
        group, found[:, 1], found[:, 2], whole.cells[tuple(found.T)], n_groups=2, n_classes=2
    )
    assert cells == whole


def test_cells_that_come_twice_add_up():
    one = np.array([1, 1])
    counts = Counts.from_cells(np.array([0, 0]), one, one, np.array([3, 4]), n_groups=1, n_classes=2)
    assert counts.table[0, 1, 1] == 7


def test_cells_of_several_runs_stack():
    runs = count(Y, [P, Y], GROUP)
    found = np.argwhere(runs.cells)
    run, group = found[:, 0], np.where(found[:, 1] == 2, -1, found[:, 1])
    cells = Counts.from_cells(
        group,
        found[:, 2],
        found[:, 3],
        runs.cells[tuple(found.T)],
        n_groups=2,
        n_classes=2,
        leading=run,
        n_leading=2,
    )
    assert cells == runs


def test_weighted_cells_keep_rows_and_squares():
    whole = count(Y, P, GROUP, weights=[0.5, 2, 3, 4, 1])
    found = np.argwhere(whole.rows)
    kinds = [kind[tuple(found.T)] for kind in (whole.cells, whole.row_cells, whole.square_cells)]
    group = np.where(found[:, 0] == 2, -1, found[:, 0])
    cells = Counts.from_cells(
        group, found[:, 1], found[:, 2], kinds[0], n_groups=2, n_classes=2, rows=kinds[1], squares=kinds[2]
    )
    assert cells == whole


# -- combining --------------------------------------------------------------------------------------------
def test_batches_add_up_to_the_whole():
    parts = [count(Y[k : k + 2], P[k : k + 2], GROUP[k : k + 2], n_classes=2, n_groups=2) for k in (0, 2, 4)]
    assert parts[0] + parts[1] + parts[2] == count(Y, P, GROUP)
    assert Counts.merge(parts) == count(Y, P, GROUP)


def test_merging_nothing_is_an_error_and_not_a_zero():
    with pytest.raises(ValueError, match=r"nothing to merge|no counts|no parts"):
        Counts.merge([])


def test_parts_of_different_groups_or_classes_are_refused():
    with pytest.raises(ValueError, match="cannot be added"):
        count([0], [0], [0], n_groups=2) + count([0], [0], [0], n_groups=3)
    with pytest.raises(ValueError, match="cannot be added"):
        count([0], [0], [0], n_classes=3) + count([0], [0], [0])


def test_parts_of_different_labels_or_runs_are_refused_and_not_stretched():
    with pytest.raises(ValueError, match="cannot be added"):
        count([[0]], [[0]], [0]) + count([[0, 1, 1]], [[0, 1, 0]], [0])
    with pytest.raises(ValueError, match="cannot be added"):
        count([0], [0], [0]) + count([0], [[0], [1]], [0])


def test_weighted_and_unweighted_parts_are_refused():
    with pytest.raises(ValueError, match="weight every part, or none"):
        count([0], [0], [0]) + count([0], [0], [0], weights=[1.0])


def test_counts_are_compared_by_value_and_cannot_be_keys():
    assert count(Y, P, GROUP) == count(Y, P, GROUP)
    assert count(Y, P, GROUP) != count(Y, Y, GROUP)
    with pytest.raises(TypeError, match="unhashable"):
        hash(count(Y, P, GROUP))


def test_counts_add_to_counts_alone():
    with pytest.raises(TypeError):
        count(Y, P, GROUP) + 1


# -- what is refused --------------------------------------------------------------------------------------
def test_columns_of_different_length_are_refused_with_their_lengths():
    with pytest.raises(ValueError, match="different lengths: 2, 3 and 2"):
        count([0, 1], [0, 1, 1], [0, 0])


def test_shapes_that_do_not_fit_are_shown():
    with pytest.raises(ValueError, match=r"labels \(2,\), predictions \(1, 1, 2\) and groups \(2,\)"):
        count([0, 1], [[[0, 1]]], [0, 0])


@pytest.mark.parametrize("predicted", [[[0, 1, 1]], [[0]]])
def test_as_many_labels_must_be_predicted_as_there_are(predicted):
    with pytest.raises(ValueError, match="label"):
        count([[0, 1]], predicted, [0])


def test_a_code_out_of_range_is_named_with_row_and_value():
    with pytest.raises(ValueError, match=r"label 2 in row 1 is outside 0\.\.1"):
        count([0, 2], [0, 1], [0, 0], n_classes=2)
    with pytest.raises(ValueError, match=r"prediction 7 in row 0 is outside 0\.\.2"):
        count([0, 2], [7, 1], [0, 0], n_classes=3)
    with pytest.raises(ValueError, match=r"group 1 in row 1 is outside 0\.\.0"):
        count([0, 1], [0, 1], [-1, 1], n_groups=1)


def test_a_negative_label_is_refused():
    with pytest.raises(ValueError, match="label -1 in row 0"):
        count([-1, 1], [0, 1], [0, 0])


@pytest.mark.parametrize("kind", [np.array, torch.tensor], ids=["numpy", "torch"])
def test_a_score_is_not_a_prediction(kind):
    with pytest.raises(ValueError, match="whole"):
        count(kind([0, 1]), kind([0.3, 0.9]), kind([0, 0]))


def test_texts_are_refused_with_the_way_out():
    with pytest.raises(ValueError, match="labels must be whole-number codes"):
        count(["yes", "no"], [0, 1], [0, 0])

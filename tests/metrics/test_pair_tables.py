"""Matrices of models and the table "all rows against each group"."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand.metrics.counts import Counts
from evenhand.metrics.pair_tables import MATRICES, all_to_group, matrices, model_matrices
from evenhand.metrics.pairs import measure


def models(n=4, classes=3, groups=2, seed=0):
    table = np.random.default_rng(seed).integers(1, 30, (n, groups, classes, classes))
    return Counts.from_table(table + 40 * np.eye(classes, dtype=int), unknown=table[:, 0])


@pytest.mark.parametrize("policy", ["skip", "smooth", "eps", "raise"])
def test_each_cell_is_the_pair_of_its_row_and_column(assert_close, policy):
    stacked = models()
    tables = model_matrices(stacked, policy)
    for key in MATRICES:
        for row in range(4):
            for column in range(4):
                expected = 0.0 if row == column else measure(key, stacked[row], stacked[column], policy).value
                assert_close(tables[key][row, column], expected, 1e-12)


def test_accuracy_change_is_column_minus_row(assert_close):
    stacked = models()
    tables = model_matrices(stacked)
    whole = stacked.cells.sum(axis=1)
    hit = np.trace(whole, axis1=1, axis2=2) / whole.sum(axis=(1, 2))
    assert_close(tables["accuracy_change"], hit[None, :] - hit[:, None], 1e-12)
    assert_close(tables["accuracy_change"] + tables["accuracy_change"].T, np.zeros((4, 4)))


def test_hand_check_2_as_a_matrix(assert_close):
    pair = Counts.from_table([[[[8, 1, 1], [2, 7, 1], [0, 2, 8]]], [[[6, 3, 1], [1, 9, 0], [1, 3, 6]]]])
    tables = model_matrices(pair)
    assert_close(tables["cev"], [[0, 1.0062], [1.7778, 0]], 1e-4)
    assert np.isnan(tables["sde_norm"][0, 1])
    assert np.diagonal(tables["sde_norm"]).tolist() == [0, 0]


def test_replicates_come_first(assert_close):
    replicates = [models(seed=seed) for seed in range(5)]
    stacked = Counts.from_table(np.stack([counts.table for counts in replicates], axis=1))
    tables = model_matrices(stacked)
    for number, counts in enumerate(replicates):
        alone = model_matrices(Counts.from_table(counts.table))
        for key in (*MATRICES, "accuracy_change"):
            assert_close(tables[key][number], alone[key], 1e-12)


def test_a_perfect_base_has_no_row_but_a_diagonal():
    fpr, fnr = np.array([[0.0, 0.0], [0.1, 0.2]]), np.array([[0.0, 0.0], [0.2, 0.1]])
    tables = matrices(fpr, fnr, np.array([1.0, 0.85]))
    assert tables["cev"][0, 0] == tables["cev"][1, 1] == 0.0
    assert np.isnan(tables["cev"][0, 1])
    assert np.isfinite(tables["cev"][1, 0])
    assert tables["skipped"].tolist() == [[2, 2], [0, 0]]


@pytest.mark.parametrize("policy", ["skip", "smooth"])
def test_each_group_is_compared_with_all_rows(assert_close, policy):
    counts = models(groups=3)[0]
    table = all_to_group(counts, policy)
    everything = Counts.from_table(counts.cells.sum(axis=0, keepdims=True))
    for group in range(3):
        alone = Counts.from_table(counts.table[[group]])
        for key in MATRICES:
            assert_close(table[key][group], measure(key, everything, alone, policy).value, 1e-12)
        changes = measure("cev", everything, alone, policy)
        assert_close(table["fpr_change"][group], changes.fpr_change.mean())
        assert_close(table["fnr_change"][group], changes.fnr_change.mean())


def test_the_only_group_has_not_moved_from_all_rows(assert_close):
    table = all_to_group(Counts.from_table(models().table[0, :1]))
    assert_close(table["cev"], [0.0])
    assert_close(table["sde"], [0.0])


def test_a_class_absent_from_a_group_is_skipped_there_alone():
    counts = Counts.from_table([[[8, 1, 1], [1, 8, 1], [1, 1, 8]], [[7, 3, 0], [2, 8, 1], [0, 0, 0]]])
    table = all_to_group(counts)
    assert table["skipped"].tolist() == [0, 1]
    assert np.isfinite(table["cev"]).all()


def test_runs_and_replicates_are_leading_axes(assert_close):
    stacked = models(n=6)
    table = all_to_group(stacked)
    assert table["cev"].shape == (6, 2)
    for run in range(6):
        assert_close(table["cev"][run], all_to_group(stacked[run])["cev"], 1e-12)

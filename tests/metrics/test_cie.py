"""Modal labels and the rows on which two populations differ."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.metrics import cie as module
from evenhand.metrics.cie import cie, modal_labels


@given(st.integers(1, 7), st.integers(1, 20), st.integers(2, 5), st.integers(0, 2**32 - 1))
def test_modal_label_is_the_most_frequent_and_ties_go_low(runs, rows, classes, seed):
    predictions = np.random.default_rng(seed).integers(0, classes, (runs, rows))
    got = modal_labels(predictions, classes)
    for row in range(rows):
        votes = predictions[:, row].tolist()
        assert got[row] == min(range(classes), key=lambda label: (-votes.count(label), label))


def test_blocks_do_not_show(monkeypatch):
    predictions = np.random.default_rng(0).integers(0, 5, (3, 101))
    whole = modal_labels(predictions, 5)
    monkeypatch.setattr(module, "BLOCK_CELLS", 20)
    assert np.array_equal(modal_labels(predictions, 5), whole)


def test_rows_that_changed_their_usual_label():
    base = [[0, 1, 2, 2], [0, 1, 2, 0], [1, 1, 2, 1]]
    other = [[0, 2, 2, 1], [1, 2, 2, 1]]
    found = cie(base, other)
    assert (found.count, found.share, found.indices.tolist()) == (2, 0.5, [1, 3])
    assert cie(base, base).count == 0


def test_one_run_is_its_own_mode():
    assert modal_labels([3, 0, 1]).tolist() == [3, 0, 1]


def test_no_rows_have_no_share():
    found = cie(np.zeros((2, 0), int), np.zeros((3, 0), int))
    assert found.count == 0
    assert np.isnan(found.share)


def test_wrong_input_is_named():
    with pytest.raises(ValueError, match=r"prediction 7 of run 1, row 0 is outside 0..2"):
        modal_labels([[0, 1], [7, 2]], 3)
    with pytest.raises(ValueError, match="2 rows and the alternative runs 3"):
        cie([[0, 1]], [[0, 1, 1]])

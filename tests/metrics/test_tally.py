"""Counting rows into cells: exact in every type, block, thread and device; errors name the row."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from evenhand.metrics import tally as module
from evenhand.metrics.tally import check_codes, tally

G, C = 3, 4


def rows(n: int = 1000, seed: int = 0):
    rng = np.random.default_rng(seed)
    return rng.integers(-1, G, n), rng.integers(0, C, n), rng.integers(0, C, n)


def slow_tally(g, y, p, weights=None):
    table = np.zeros((G + 1, C, C))
    for row in range(len(g)):
        table[g[row], y[row], p[row]] += 1 if weights is None else weights[row]  # index -1 is the last row
    return table


def test_the_table_is_what_counting_by_hand_gives():
    g, y, p = rows()
    assert np.array_equal(tally(g, y, p, G, C, [])[0], slow_tally(g, y, p))


def test_weights_are_summed_in_each_cell():
    g, y, p = rows()
    w = np.arange(len(g)) / 8  # eighths are exact
    assert np.array_equal(tally(g, y, p, G, C, [w])[0], slow_tally(g, y, p, w))


@pytest.mark.parametrize(
    "kind", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", ">i2", ">i4", ">i8"]
)
def test_the_type_of_the_codes_does_not_matter(kind):
    g, y, p = rows()
    g = np.where(g < 0, 0, g) if kind.startswith("u") else g
    expected = slow_tally(g, y, p)
    for chosen in ((True, True, True), (True, False, False), (False, True, False), (False, False, True)):
        cast = [codes.astype(kind) if yes else codes for codes, yes in zip((g, y, p), chosen, strict=True)]
        assert np.array_equal(tally(*cast, G, C, [])[0], expected)


def test_columns_that_do_not_lie_together_in_memory_are_counted_alike():
    g, y, p = rows()
    together = np.stack([g, y, p], axis=1)
    assert np.array_equal(tally(*together.T, G, C, [])[0], slow_tally(g, y, p))


def test_blocks_and_threads_add_up_to_the_whole(monkeypatch):
    g, y, p = rows(10_001)
    expected = slow_tally(g, y, p)
    monkeypatch.setattr(module, "BLOCK", 64)
    monkeypatch.setattr(module, "THREAD_ROWS", 100)
    monkeypatch.setattr(module, "cores", lambda: 3)
    assert np.array_equal(tally(g, y, p, G, C, [])[0], expected)
    w = np.ones(len(g))
    assert np.array_equal(tally(g, y, p, G, C, [w, 2 * w])[1], 2 * expected)


@pytest.mark.parametrize("what", ["label", "prediction", "group"])
def test_a_code_out_of_range_is_named_with_its_row_even_in_a_later_block(monkeypatch, what):
    monkeypatch.setattr(module, "BLOCK", 64)
    g, y, p = rows(1000)
    limit = {"label": C, "prediction": C, "group": G}[what]
    {"label": y, "prediction": p, "group": g}[what][777] = limit
    with pytest.raises(ValueError, match=rf"{what} {limit} in row 777 is outside 0..{limit - 1}"):
        tally(g, y, p, G, C, [])


@pytest.mark.parametrize("wrong", [-2, 3, 9])
def test_a_wrong_group_is_named_with_its_row_and_the_right_range(wrong):
    with pytest.raises(ValueError, match=rf"group {wrong} in row 2 is outside 0..2"):
        tally(np.array([-1, 0, wrong]), np.zeros(3, int), np.zeros(3, int), G, C, [])


@pytest.mark.parametrize("wrong", [-2, 3, 9])
def test_a_wrong_group_in_a_tensor_reads_the_same(wrong):
    zeros = torch.zeros(3, dtype=torch.long)
    with pytest.raises(ValueError, match=rf"group {wrong} in row 2 is outside 0..2"):
        tally(torch.tensor([-1, 0, wrong]), zeros, zeros, G, C, [])


def test_a_negative_label_is_not_an_unknown_one():
    with pytest.raises(ValueError, match="label -1 in row 1"):
        check_codes(np.array([0, -1]), 2, "label")


@pytest.mark.parametrize("wrong", [-1, -2])
def test_a_narrow_type_does_not_hide_a_negative_code_among_many_classes(wrong):
    """-1 in eight bits reads 255, which is a class where there are 300."""
    good, bad = np.array([0, 1, 1], dtype=np.int8), np.array([0, wrong, 1], dtype=np.int8)
    with pytest.raises(ValueError, match=f"label {wrong} in row 1"):
        tally(good, bad, good, 2, 300, [])
    with pytest.raises(ValueError, match="group -2 in row 1"):
        tally(np.array([0, -2, 1], dtype=np.int8), good, good, 300, 2, [])


def test_an_unknown_group_in_a_narrow_type_stays_unknown_among_many_groups():
    g, ones = np.array([0, -1, 1], dtype=np.int8), np.ones(3, dtype=np.int8)
    assert tally(g, ones, ones, 300, 2, [])[0][-1, 1, 1] == 1


def test_a_tensor_is_counted_like_an_array():
    g, y, p = rows()
    w = np.arange(len(g)) / 8
    tensors = [torch.from_numpy(codes) for codes in (g, y, p)]
    assert np.array_equal(tally(*tensors, G, C, [])[0], tally(g, y, p, G, C, [])[0])
    assert np.array_equal(tally(*tensors, G, C, [torch.from_numpy(w)])[0], tally(g, y, p, G, C, [w])[0])


def test_a_long_tensor_is_counted_block_by_block(monkeypatch):
    monkeypatch.setattr(module, "DEVICE_BLOCK", 64)
    g, y, p = rows()
    tensors = [torch.from_numpy(codes) for codes in (g, y, p)]
    assert np.array_equal(tally(*tensors, G, C, [])[0], slow_tally(g, y, p))
    tensors[1][500] = C
    with pytest.raises(ValueError, match=rf"label {C} in row 500"):
        tally(*tensors, G, C, [])


@pytest.mark.gpu
def test_a_tensor_is_counted_on_its_device():
    g, y, p = rows(100_000)
    on_device = [torch.from_numpy(codes).cuda() for codes in (g, y, p)]
    assert np.array_equal(tally(*on_device, G, C, [])[0], tally(g, y, p, G, C, [])[0])
    w = np.arange(len(g)) / 8
    weighted = tally(*on_device, G, C, [torch.from_numpy(w).cuda()])[0]
    assert np.array_equal(weighted, tally(g, y, p, G, C, [w])[0])

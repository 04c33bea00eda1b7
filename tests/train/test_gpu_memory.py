"""A GPU that other programs fill: waited for, and told; one that is simply too small is not."""

import pytest
import torch

from evenhand.train import gpu_memory
from evenhand.train.gpu_memory import (
    WAITS,
    filled_by_others,
    free_for_us,
    hold_at_most,
    let_go,
    with_room,
)
from evenhand.train.parts import room

GPU, CPU = torch.device("cuda"), torch.device("cpu")
GIB = 1 << 30


@pytest.fixture
def gpu(monkeypatch):
    """A GPU of 100 GiB; how much is free and how much is ours may be said."""
    seen = {"free": 0, "ours": 2, "emptied": 0, "slept": []}
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (seen["free"] * GIB, 100 * GIB))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda device: seen["ours"] * GIB)
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: seen.update(emptied=seen["emptied"] + 1))
    monkeypatch.setattr(gpu_memory.time, "sleep", seen["slept"].append)
    return seen


def fails(times: int):
    left = [torch.cuda.OutOfMemoryError("no memory")] * times

    def make() -> str:
        if left:
            raise left.pop()
        return "made"

    return make


@pytest.mark.parametrize(
    ("free", "ours", "filled"),
    [(0, 2, True), (10, 10, True), (5, 93, False), (60, 10, False), (98, 2, False)],
    ids=["full", "nearly", "ours", "our share", "empty"],
)
def test_others_fill_it_if_little_is_free_and_it_is_not_ours(gpu, free, ours, filled):
    gpu.update(free=free, ours=ours)
    assert filled_by_others(GPU) is filled
    assert not filled_by_others(CPU)


@pytest.mark.parametrize("times", range(len(WAITS) + 1))
def test_others_are_waited_for(gpu, times):
    told = []
    assert with_room(fails(times), GPU, lambda: told.append(1)) == "made"
    assert gpu["slept"] == list(WAITS[:times])
    assert len(told) == gpu["emptied"] == times


def test_not_for_ever(gpu):
    with pytest.raises(torch.cuda.OutOfMemoryError):
        with_room(fails(len(WAITS) + 1), GPU, list)


def test_a_gpu_of_our_own_that_is_too_small_is_not_waited_for(gpu):
    gpu["free"] = 95
    with pytest.raises(torch.cuda.OutOfMemoryError):
        with_room(fails(1), GPU, list)
    assert gpu["slept"] == []


def test_a_cpu_has_nothing_to_give_back(gpu):
    let_go(CPU)
    assert gpu["emptied"] == 0
    let_go(GPU)
    assert gpu["emptied"] == 1


def test_several_workers_share_a_gpu(monkeypatch):
    held = []
    monkeypatch.setattr(gpu_memory, "_shares", {})
    monkeypatch.setattr(torch.cuda, "set_per_process_memory_fraction", lambda *told: held.append(told))
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 3)
    for share, device in ((1.0, GPU), (0.1, CPU), (0.1, GPU), (0.2, torch.device("cuda:1"))):
        hold_at_most(share, device)
    assert held == [(0.1, 3), (0.2, 1)]


@pytest.mark.parametrize(
    ("share", "free", "taken", "left"),
    [(1.0, 80, 5, 80), (0.1, 80, 0, 10), (0.1, 80, 7, 3), (0.1, 2, 0, 2), (0.1, 80, 11, 0)],
    ids=["all of it", "a share", "the rest of it", "others hold it", "beyond it"],
)
def test_inputs_are_placed_within_the_share(gpu, monkeypatch, share, free, taken, left):
    """Half of a free GPU is beyond the share of one of nine workers, who would fail for want of memory."""
    monkeypatch.setattr(gpu_memory, "_shares", {})
    monkeypatch.setattr(torch.cuda, "set_per_process_memory_fraction", lambda *told: None)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda device: taken * GIB)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    gpu["free"] = free
    hold_at_most(share, GPU)
    assert free_for_us(GPU) == free_for_us(torch.device("cuda:0")) == left * GIB
    assert free_for_us(torch.device("cuda:1")) == free * GIB
    assert room(GPU) == left * GIB // 2

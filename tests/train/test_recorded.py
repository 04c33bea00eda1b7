"""Recorded work: what is replayed equals what is called, and nothing of the caller's is overwritten."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from evenhand.nets.wrap import as_net
from evenhand.records import Batch
from evenhand.train.recorded import ATTEMPTS, PLAIN_CALLS, SWITCH, Recorded, can_record
from evenhand.train.stack import Stack


class Tape:
    """What a CUDA graph does, on a CPU: work is done again where its inputs lie, into the same results."""

    def __init__(self, work: Callable[[], tuple[Any, ...]]) -> None:
        self.work, self.results = work, work()

    def replay(self) -> None:
        for old, new in zip(self.results, self.work(), strict=True):
            for key, value in new.items():
                old[key].copy_(value)


class OnTape(Recorded):
    def _record(self) -> None:
        self._graph = Tape(lambda: self._function(*self._placed()))
        self._results = self._graph.results


def work(state, batch):
    moved = {"seen": state["seen"] + batch.x.sum(), "still": state["still"]}
    return {"model": (batch.x * batch.y).mean()}, moved, {"row": batch.x * 2}


def given(number: int) -> Batch:
    generator = torch.Generator().manual_seed(number)
    return Batch(torch.rand(4, generator=generator), torch.arange(4), torch.zeros(4))


def test_what_is_replayed_equals_what_is_called():
    recorded = OnTape(work, kept=2)
    plain = taped = {"seen": torch.zeros(()), "still": torch.ones(3)}
    for number in range(3 * PLAIN_CALLS):
        losses, plain, rows = work(plain, given(number))
        replayed, taped, lines = recorded(taped, given(number))
        assert torch.equal(losses["model"], replayed["model"])
        assert torch.equal(plain["seen"], taped["seen"])
        assert torch.equal(rows["row"], lines["row"])
        assert recorded.replays is (number >= PLAIN_CALLS)


def test_what_is_kept_is_the_callers():
    recorded, state, seen = OnTape(work, kept=2), {"seen": torch.zeros(()), "still": torch.ones(3)}, []
    for number in range(2 * PLAIN_CALLS):
        _, state, _ = recorded(state, given(number))
        seen.append((state["seen"], float(state["seen"]), state["still"]))
        state["still"].add_(0)
    assert all(float(tensor) == value for tensor, value, _ in seen)
    assert len({still.data_ptr() for _, _, still in seen}) == len(seen)


def test_inputs_of_another_shape_are_worked_on_plainly():
    recorded = OnTape(work, kept=2)
    state = {"seen": torch.zeros(()), "still": torch.ones(3)}
    for number in range(PLAIN_CALLS + 2):
        recorded(state, given(number))
    short = Batch(*(part[:2] for part in given(0)[:3]))
    assert torch.equal(recorded(state, short)[2]["row"], short.x * 2)
    assert torch.equal(recorded(state, given(5))[2]["row"], given(5).x * 2)


def test_what_cannot_be_recorded_is_called_plainly(monkeypatch):
    class Refusing:
        def __init__(self, *_, **__):
            pass

        def __enter__(self):
            raise RuntimeError("operation not permitted when stream is capturing")

        def __exit__(self, *_):
            return False

    monkeypatch.setattr(torch.cuda, "graph", Refusing)
    monkeypatch.setattr(torch.cuda, "CUDAGraph", object)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    recorded, state = Recorded(work, kept=2), {"seen": torch.zeros(()), "still": torch.ones(3)}
    calls = (ATTEMPTS + 1) * (PLAIN_CALLS + 1)
    for number in range(calls):
        _, state, _ = recorded(state, given(number))
        assert bool(recorded.refused) is (number >= ATTEMPTS * PLAIN_CALLS)
    assert "not permitted" in recorded.refused
    assert not recorded.replays
    assert float(state["seen"]) == pytest.approx(float(sum(given(n).x.sum() for n in range(calls))))


@pytest.fixture
def on_a_gpu():
    """A stack of a network of one's own; that it lies on a CPU is kept from the question."""

    def made(*, own: bool) -> Stack:
        layer = torch.nn.Linear(2, 2)
        net = as_net(torch.nn.Sequential(layer)) if own else layer
        stack = Stack([lambda: {"model": net}], [0], torch.device("cpu"))
        stack.device = torch.device("cuda")
        return stack

    return made


def test_a_module_that_may_draw_is_not_recorded(on_a_gpu, monkeypatch):
    monkeypatch.delenv(SWITCH, raising=False)
    assert can_record(on_a_gpu(own=False))
    assert not can_record(on_a_gpu(own=True))
    monkeypatch.setenv(SWITCH, "0")
    assert not can_record(on_a_gpu(own=False))

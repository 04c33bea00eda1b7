"""Recorded work: what is replayed equals what is called, and nothing of the caller's is overwritten."""

from __future__ import annotations

import warnings
from contextlib import contextmanager, nullcontext

import pytest
import torch
from tests.train.tape import OnTape

from evenhand.nets.wrap import as_net
from evenhand.records import Batch
from evenhand.train import recorded as recorded_module
from evenhand.train.recorded import ATTEMPTS, PLAIN_CALLS, SWITCH, Recorded, can_record
from evenhand.train.stack import Stack
from evenhand.train.waiting import WAITED, noted_waits


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


def test_until_something_is_recorded_inputs_may_change_their_kind():
    """A state comes back in another order of names, and of another type of number, than it was made in."""
    recorded, state, seen = OnTape(work, kept=2), {"still": torch.ones(3), "seen": torch.tensor(0)}, 0.0
    for number in range(PLAIN_CALLS + 3):
        _, state, _ = recorded(state, given(number))
        seen += float(given(number).x.sum())
        assert float(state["seen"]) == pytest.approx(seen)
    assert recorded.replays
    assert recorded.missed == 0


@pytest.fixture
def second_gpu(monkeypatch):
    """A stand-in for the second of two GPUs, the first being the current one; what is done is noted."""
    noted = {"device": [0], "stream": ["default"], "graphs": [], "synchronized": []}

    @contextmanager
    def set_to(name, value):
        noted[name].append(value)
        try:
            yield
        finally:
            noted[name].pop()

    class Graph:
        """Torch's leaves its stream set where the recording failed."""

        def __init__(self, graph, pool, stream, capture_error_mode):
            noted["graphs"].append((pool, stream, capture_error_mode, noted["device"][-1]))

        def __enter__(self):
            noted["stream"].append("side")
            raise RuntimeError("operation not permitted when stream is capturing")

        def __exit__(self, *_):
            raise AssertionError

    @contextmanager
    def stream(own):
        depth = len(noted["stream"])
        try:
            yield
        finally:
            del noted["stream"][depth:]

    device = torch.device("cuda:1")
    monkeypatch.setattr(recorded_module, "_one_gpu", lambda inputs: device)
    monkeypatch.setattr(recorded_module, "_side_stream", lambda own: f"side of {own}")
    monkeypatch.setattr(torch.cuda, "graph", Graph)
    monkeypatch.setattr(torch.cuda, "CUDAGraph", object)
    monkeypatch.setattr(torch.cuda, "device", lambda own: set_to("device", own))
    monkeypatch.setattr(torch.cuda, "stream", stream)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda own: "default")
    monkeypatch.setattr(torch.cuda, "synchronize", noted["synchronized"].append)
    return noted


def test_what_cannot_be_recorded_is_called_plainly(second_gpu):
    recorded, state = Recorded(work, kept=2, pool=7), {"seen": torch.zeros(()), "still": torch.ones(3)}
    calls = (ATTEMPTS + 1) * (PLAIN_CALLS + 1)
    for number in range(calls):
        _, state, _ = recorded(state, given(number))
        assert bool(recorded.refused) is (number >= ATTEMPTS * PLAIN_CALLS)
    assert "not permitted" in recorded.refused
    assert not recorded.replays
    assert float(state["seen"]) == pytest.approx(float(sum(given(n).x.sum() for n in range(calls))))


def test_it_is_recorded_on_the_gpu_of_its_inputs_and_the_stream_is_as_before(second_gpu):
    """On the current GPU nothing would be recorded of work on another, and its first results replayed."""
    recorded, state = Recorded(work, kept=2, pool=7), {"seen": torch.zeros(()), "still": torch.ones(3)}
    for number in range(PLAIN_CALLS + 1):
        recorded(state, given(number))
    own = torch.device("cuda:1")
    assert second_gpu["graphs"] == [(7, "side of cuda:1", "thread_local", own)]
    assert second_gpu["synchronized"] == [own]
    assert (second_gpu["device"], second_gpu["stream"]) == ([0], ["default"])


def test_inputs_elsewhere_than_on_one_gpu_are_not_recorded():
    """A number on the CPU would be recorded as it was."""
    recorded, state = Recorded(work, kept=2), {"seen": torch.zeros(()), "still": torch.ones(3)}
    for number in range(PLAIN_CALLS + 2):
        _, state, _ = recorded(state, given(number))
    assert "one GPU" in recorded.refused
    assert float(state["seen"]) == pytest.approx(float(sum(given(n).x.sum() for n in range(PLAIN_CALLS + 2))))


@pytest.fixture
def in_use(monkeypatch):
    """CUDA in use, as far as torch says, and its mode in which what waits is told."""
    modes = [0]
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_sync_debug_mode", lambda: modes[-1])
    monkeypatch.setattr(torch.cuda, "set_sync_debug_mode", modes.append)
    return modes


def test_what_waits_is_found_out_before_it_is_recorded(in_use, second_gpu):
    def waits(state, batch):
        if in_use[-1] == "warn":
            warnings.warn(WAITED, stacklevel=2)
        return work(state, batch)

    recorded, state = Recorded(waits, kept=2), {"seen": torch.zeros(()), "still": torch.ones(3)}
    for number in range(PLAIN_CALLS + 2):
        _, state, _ = recorded(state, given(number))
        assert bool(recorded.refused) is (number >= PLAIN_CALLS - 1)
    assert "recorded.py:" in recorded.refused
    assert second_gpu["graphs"] == []
    assert in_use == [0, "warn", 0]


@pytest.mark.parametrize("text", ["Synchronization debug mode is a prototype", "something else"])
def test_other_warnings_are_told_as_always(in_use, text):
    expected = pytest.warns(UserWarning, match=text) if text == "something else" else nullcontext()
    with expected, noted_waits() as waits:
        warnings.warn(text, stacklevel=1)
    assert waits == []
    assert in_use[-1] == 0


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

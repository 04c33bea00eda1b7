"""Records between the layers: what they hold, and whose turn it is."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import FrozenInstanceError

import pytest

from evenhand.records import Batch, Needs, NoiseSpec, Out, Phase, Sizes

TURNS = (("model",), ("adversary",), ("model", "adversary"))


def test_all_turns_on_one_batch():
    phase = Phase(turns=TURNS)
    assert all(phase.turn(step, epoch) == TURNS for step in range(3) for epoch in range(3))


def test_a_batch_for_each_turn():
    phase = Phase(turns=TURNS, every="step")
    assert [phase.turn(step, 9) for step in range(4)] == [(TURNS[0],), (TURNS[1],), (TURNS[2],), (TURNS[0],)]


def test_an_epoch_for_each_turn():
    phase = Phase(turns=TURNS, every="epoch")
    assert [phase.turn(5, epoch) for epoch in range(4)] == [
        (TURNS[0],),
        (TURNS[1],),
        (TURNS[2],),
        (TURNS[0],),
    ]


@pytest.mark.parametrize(
    ("every", "expected"),
    [("batch", [10, 10, 10]), ("step", [3, 4, 3]), ("epoch", [5, 0, 5])],
)
def test_how_often_a_player_moves_in_an_epoch(every, expected):
    """Five batches an epoch; the model is in two of three turns."""
    phase = Phase(turns=TURNS, every=every)
    assert [phase.turns_of("model", 5, epoch) for epoch in range(3)] == expected
    counted = [
        sum("model" in turn for step in range(5) for turn in phase.turn(5 * epoch + step, epoch))
        for epoch in range(3)
    ]
    assert counted == expected
    assert phase.turns_of("nobody", 5, 0) == 0


def test_defaults():
    assert Phase() == Phase("train", (("model",),), "batch", None, (), True)
    assert Needs() == Needs(stackable=True, groups=False, cross_gradients=())
    assert Sizes((3,), 2, 1) == ((3,), 2, 1, (), False)
    assert NoiseSpec("normal") == ("normal", (), 0.0, ())
    batch = Batch(1, 2, 3)
    assert (batch.a, batch.index, batch.noise) == (None, None, {})
    assert Out({}, {}).logs == {}


def test_records_are_not_written_to():
    with pytest.raises(FrozenInstanceError):
        Phase().name = "other"
    with pytest.raises(FrozenInstanceError):
        Needs().groups = True
    with pytest.raises(AttributeError):
        Batch(1, 2, 3).x = 4


def test_records_can_be_keys():
    assert len({Phase(), Phase("second"), Phase()}) == 2
    assert len({Sizes((3,), 2, 1), Sizes((3,), 2, 1)}) == 1


def test_records_load_without_torch():
    code = "import evenhand.records, sys; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"

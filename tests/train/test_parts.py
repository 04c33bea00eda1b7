"""Data on the device or streamed: the same batches to the bit; augmentation against the plain way."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest
import torch

from evenhand.data.card import DataCard
from evenhand.data.task import Scaling, Task
from evenhand.errors import InputError
from evenhand.groups import Attribute
from evenhand.nets import NetSpec
from evenhand.train import parts
from evenhand.train.augment import PAD, augmented
from evenhand.train.parts import Part, Resident, Streamed
from evenhand.train.streams import Streams

CPU = torch.device("cpu")


class Decoded:
    """Images that are decoded on demand, which counts who asked for what, and in which thread."""

    def __init__(self, x):
        self.x, self.shape = x, tuple(x.shape[1:])
        self.asked = []

    def __len__(self):
        return len(self.x)

    def take(self, rows):
        self.asked.append((threading.current_thread() is threading.main_thread(), rows.tolist()))
        return self.x[rows]


def channels_task(kit):
    return replace(kit.images(), scaling=Scaling((120.0, 100.0, 80.0), (60.0, 70.0, 80.0)))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_every_way_to_keep_inputs_gives_the_same_numbers(kit, monkeypatch, dtype):
    task = channels_task(kit)
    rows = torch.tensor([[3, 1, 3], [0, 15, 7]])
    resident = Part([task], ["side"], "train", CPU, dtype)
    streamed = Part([task], ["side"], "train", CPU, dtype, resident=False)
    lazy = Part([replace(task, x=Decoded(task.x))], ["side"], "train", CPU, dtype, resident=False)
    loaded = Part([replace(task, x=Decoded(task.x))], ["side"], "train", CPU, dtype)
    monkeypatch.setattr(parts, "MOST_FLOATS", 10)
    bytes_kept = Part([task], ["side"], "train", CPU, dtype)
    assert (resident.scaling, bytes_kept.scaling) == (Scaling(), task.scaling)  # scaled once, or every time
    assert isinstance(resident._inputs, Resident)
    assert isinstance(streamed._inputs, Streamed)
    x, y, g, a = resident.take(rows)
    assert (x.dtype, x.shape) == (dtype, (2, 3, 3, 8, 8))
    places = task.rows("train")[rows]
    mean, deviation = (torch.tensor(v).view(3, 1, 1) for v in ((120.0, 100.0, 80.0), (60.0, 70.0, 80.0)))
    assert torch.equal(x, ((task.x[places].float() - mean) / deviation).to(dtype))
    assert torch.equal(y, task.y[places])
    assert torch.equal(g, torch.as_tensor(task.attributes[0].codes)[places])
    assert torch.equal(a, g[..., None])
    for part in (streamed, lazy, loaded, bytes_kept):
        for one, other in zip(part.take(rows), (x, y, g, a), strict=True):
            assert torch.equal(one, other)


@pytest.mark.parametrize("seeds", [[0], [0, 1, 2]])
def test_streamed_training_equals_resident_training(kit, seeds):
    task = channels_task(kit)
    options = {"net": NetSpec("mlp", widths=(16,)), "batch_size": 8, "augment": "flip"}
    expected = kit.trainer(task, seeds, **options).fit()
    lazy = replace(task, x=Decoded(task.x))
    for one, resident in ((task, False), (lazy, False), (lazy, None)):
        found = kit.trainer(one, seeds, resident=resident, **options).fit()
        for run in range(len(seeds)):
            kit.assert_same(kit.numbers(expected, run), kit.numbers(found, run))
        assert kit.without_time(expected.history) == kit.without_time(found.history)


def test_the_next_batch_is_decoded_while_this_one_is_worked_on(kit):
    task = replace(kit.images(), x=Decoded(kit.images().x))
    trainer = kit.trainer(task, [0], resident=False, batch_size=4, epochs=2)
    trainer.fit()
    batches = [aside for aside, rows in task.x.asked if len(rows) == 4]
    assert len(batches) == 2 * 4  # each was decoded once
    assert batches == [True, False, False, False] * 2  # all but the first of an epoch by the other thread


def test_what_was_decoded_ahead_is_not_taken_for_other_rows(kit):
    part = Part([kit.images()], ["side"], "train", CPU, resident=False)
    part.prefetch(torch.tensor([1, 2]))
    x, *_ = part.take(torch.tensor([2, 1]))
    again, *_ = part.take(torch.tensor([1, 2]))
    assert torch.equal(x.flip(0), again)


def test_an_error_while_decoding_ahead_is_not_lost(kit):
    class Broken(Decoded):
        def take(self, rows):
            if 5 in rows:
                raise InputError("picture 5 is damaged")
            return super().take(rows)

    task = replace(kit.images(), x=Broken(kit.images().x), split={"train": torch.arange(40)})
    with pytest.raises(InputError, match="picture 5 is damaged"):
        kit.trainer(task, [0], resident=False, batch_size=4).fit()


def test_room_is_counted_in_bytes(kit, monkeypatch):
    """16 training images of 192 bytes: 3072 bytes as they are, 12288 as floats."""
    kinds = {}
    for room in (3071, 3072, 12287, 12288):
        monkeypatch.setattr(parts, "room", lambda device, room=room: room)
        for most in (10, 1 << 20):
            monkeypatch.setattr(parts, "MOST_FLOATS", most)
            kinds[room, most] = type(Part([kit.images()], [], "train", CPU)._inputs)
    assert [kinds[room, 10] for room in (3071, 3072, 12288)] == [Streamed, Resident, Resident]
    assert [kinds[room, 1 << 20] for room in (3072, 12287, 12288)] == [Streamed, Streamed, Resident]


def test_tasks_with_their_own_scaling_share_a_stack(kit):
    one, other = kit.images(), replace(kit.images(seed=1), scaling=Scaling(10.0, 3.0))
    part = Part([one, other], ["side"], "train", CPU)
    rows, tasks = torch.tensor([[4, 0], [4, 0]]), torch.tensor([0, 1])
    x, y, _, _ = part.take(rows, tasks)
    for place, task in enumerate((one, other)):
        expected = task.rows("train")[rows[place]]
        assert torch.equal(x[place], task.scaling(task.x[expected]))
        assert torch.equal(y[place], task.y[expected])
    with pytest.raises(InputError, match="do not fit on the device; train them one at a time"):
        Part([one, other], ["side"], "train", CPU, resident=False)


def test_unknown_groups_and_no_groups_at_all(kit):
    task = kit.task(scarcity=0.4)
    part = Part([task], ["a0"], "train", CPU)
    codes = np.asarray(task.attributes[0].codes)[task.rows("train")]
    assert part.g.tolist() == codes.tolist()
    assert (part.g == -1).any()
    nobody = Part([task], [], "train", CPU)
    assert nobody.g.unique().tolist() == [-1]
    assert nobody.a.shape == (96, 0)


def test_small_whole_numbers_are_labels_too(kit):
    """Bytes serve as labels; the losses need them as int64."""
    task = kit.task()
    side = Attribute("a0", ("0", "1"), np.asarray(task.attributes[0].codes).astype(np.int8))
    small = replace(task, y=task.y.to(torch.uint8), attributes=(side,))
    one, other = (kit.trainer(each, [0, 1]).fit() for each in (task, small.check()))
    kit.assert_same(kit.numbers(one, 1), kit.numbers(other, 1))


# -- augmentation --------------------------------------------------------------------------------------------


def plainly(image, kind, numbers):
    """One image flipped, or cut out of a frame of zeros at the drawn place and flipped, by slices."""
    flip, down, right = numbers
    channels, height, width = image.shape
    if kind == "crop-flip":
        frame = torch.zeros(channels, height + 2 * PAD, width + 2 * PAD)
        frame[:, PAD : PAD + height, PAD : PAD + width] = image
        top, left = int(down * (2 * PAD + 1)), int(right * (2 * PAD + 1))
        image = frame[:, top : top + height, left : left + width]
    return image.flip(-1) if flip < 0.5 else image


@pytest.mark.parametrize("kind", ["flip", "crop-flip"])
@pytest.mark.parametrize("shape", [(3, 8, 8), (1, 5, 7)])
def test_augmentation_is_what_it_is_one_image_at_a_time(kind, shape):
    source = torch.Generator().manual_seed(0)
    x = torch.randn(3, 40, *shape, generator=source)
    streams = Streams([0, 1, 2])
    found = augmented(x, kind, streams, 17)
    drawn = streams.uniform("augment", 17, 3 * 40).view(3, 3, 40)
    for run in range(3):
        for row in range(40):
            expected = plainly(x[run, row], kind, drawn[run, :, row].tolist())
            assert torch.equal(found[run, row], expected)
    assert (found != x).flatten(2).any(2).float().mean() > 0.2


def test_crops_reach_every_place_equally_often():
    streams = Streams(range(20))
    x = torch.zeros(20, 500, 1, 1, 1) + 1.0  # one pixel: it is seen where it lies in the frame
    found = augmented(x, "crop-flip", streams, 0)
    assert found.mean() == pytest.approx(1 / 81, abs=0.004)  # the only place of 9 x 9 that shows it


def test_no_augmentation_is_the_input_itself():
    x = torch.ones(1, 2, 3, 4, 4)
    assert augmented(x, "none", Streams([0]), 0) is x


def test_augmentation_of_a_table_is_refused(kit):
    with pytest.raises(
        InputError, match=r"augment='flip' is for images; an input of this task has the shape \(6,\)"
    ):
        kit.trainer(kit.task(), [0], augment="flip")


def test_only_training_rows_are_augmented(kit):
    """With a rate of 0 nothing is learnt, so the validation loss is that of the plain images."""
    options = {"rate": 0.0, "epochs": 1, "batch_size": 8}
    plain, turned = (
        kit.trainer(kit.images(), [0], augment=kind, **options).fit() for kind in ("none", "crop-flip")
    )
    assert plain.history[0]["loss"] == turned.history[0]["loss"]
    assert plain.history[0]["train"] != turned.history[0]["train"]


def test_a_task_without_any_attribute(kit):
    task = Task(
        "bare", kit.task().x, kit.task().y, (), kit.task().split, DataCard("", "", "", ""), ("no", "yes")
    )
    trainer = kit.trainer(task, [0, 1]).fit()
    kit.assert_same(kit.numbers(trainer), kit.numbers(kit.trainer(kit.task(), [0, 1]).fit()))

"""A killed run that goes on equals one that was never killed, to the bit: parameters, state and history."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from evenhand.errors import InputError
from evenhand.methods.erm import ERM
from evenhand.methods.group_dro import GroupDRO
from evenhand.methods.jtt import JTT
from evenhand.methods.staged import with_stages
from evenhand.nets import NetSpec
from evenhand.train.checkpoint import load_tensors, save_tensors

SOURCE = Path(__file__).parents[2] / "src"


class Killed(Exception):
    """What the power cut looks like from inside."""


def killed_after(n_calls):
    """A callback that stops training when it is called for the n-th time."""
    left = [n_calls]

    def tell(progress):
        left[0] -= 1
        if left[0] <= 0:
            raise Killed

    return tell


@pytest.fixture(autouse=True)
def _told_at_every_step(monkeypatch):
    monkeypatch.setattr("evenhand.train.trainer.TOLD_EVERY", 1)


def interrupted(make, file, stops):
    """Train with a checkpoint at every step, killed after so many steps, again and again, then to the end."""
    for stop in stops:
        with pytest.raises(Killed):
            make().fit(killed_after(stop), file, every=0.0)
    return make().fit(None, file, every=0.0)


CASES = {
    "single": {"seeds": [0]},
    "stacked": {"seeds": [0, 1, 2]},
    "dropout and cosine": {
        "seeds": [0, 1], "net": NetSpec("mlp", widths=(16, 16), dropout=0.3), "schedule": "cosine",
    },
    "sgd": {"seeds": [0, 1], "optimizer": "sgd", "weight_decay": 0.01},
    "adadelta": {"seeds": [0], "optimizer": "adadelta", "rate": 1.0},
    "own rates": {"seeds": [0, 1], "rate": (0.01, 0.02), "optimizer": "adamw", "weight_decay": 0.1},
    "group dro": {"seeds": [0, 1], "method": GroupDRO()},
    "two phases": {"seeds": [0, 1], "method": JTT(identify_epochs=2)},
    "one by one in phases": {"seeds": [3], "method": JTT(identify_epochs=1)},
    "head first": {"seeds": [0, 1], "method": [with_stages(ERM(), 2, share) for share in (0.5, 0.1)]},
    "best epoch": {"seeds": [0, 1, 2], "keep": "best", "patience": 1, "rate": 0.2, "watch": ("tpr.gap",)},
    "shared": {"seeds": [4, 5], "share_batches": True},
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_killed_and_resumed_equals_never_killed(kit, tmp_path, name):
    options = dict(CASES[name])
    seeds, method = options.pop("seeds"), options.pop("method", None)
    make = lambda: kit.trainer(kit.task(), seeds, method, **options)  # noqa: E731
    whole = make().fit()
    # 18 steps, or 30 with a phase before: in the first step, between epochs and phases, and in the middle
    resumed = interrupted(make, tmp_path / "c.npz", [1, 5, 1, 7])
    for run in range(len(seeds)):
        kit.assert_same(kit.numbers(whole, run), kit.numbers(resumed, run))
    assert kit.without_time(whole.history) == kit.without_time(resumed.history)
    assert resumed.position.phase == len(resumed.phases)


def test_running_statistics_are_resumed(kit, tmp_path):
    def make():
        net, task = NetSpec("cifar-resnet18"), kit.images(n=24)
        return kit.trainer(task, [0], net=net, batch_size=4, epochs=2, augment="flip", keep="best")

    whole = make().fit()
    resumed = interrupted(make, tmp_path / "c.npz", [1, 2])
    kit.assert_same(kit.numbers(whole), kit.numbers(resumed))
    assert any(name.endswith("running_var") for name in kit.numbers(whole))


@pytest.mark.parametrize("stop", range(1, 13, 2))
def test_any_step_can_be_the_last(kit, tmp_path, stop):
    make = lambda: kit.trainer(kit.task(), [0, 1], JTT(), epochs=1, precision="float64")  # noqa: E731
    whole = make().fit()
    kit.assert_same(kit.numbers(whole, 1), kit.numbers(interrupted(make, tmp_path / "c.npz", [stop]), 1))


def test_a_checkpoint_that_is_seldom_written_is_gone_back_to(kit, tmp_path, monkeypatch):
    """Steps after the last checkpoint are done again, and come out the same."""
    clock = iter(range(100_000))
    monkeypatch.setattr("evenhand.train.trainer.time.monotonic", lambda: next(clock))
    make = lambda: kit.trainer(kit.task(), [0, 1])  # noqa: E731
    whole = make().fit()
    file = tmp_path / "c.npz"
    with pytest.raises(Killed):
        make().fit(killed_after(14), file, every=9.0)
    at = load_tensors(file)[1]["position"]
    assert 0 < at["epoch"] * 6 + at["step"] < 14
    kit.assert_same(kit.numbers(whole), kit.numbers(make().fit(None, file)))


@pytest.mark.parametrize("calls", [1, 3, 7, 8, 14, 15])
def test_a_training_that_is_interrupted_by_hand_loses_no_step(kit, tmp_path, calls):
    """Each step and each epoch's end is told; 7 is the first end. No checkpoint is due by the clock."""
    file, left = tmp_path / "c.npz", [calls]

    def tell(progress):
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt

    make = lambda: kit.trainer(kit.task(), [0, 1], JTT(), keep="best")  # noqa: E731
    whole = make().fit()
    with pytest.raises(KeyboardInterrupt):
        make().fit(tell, file, every=1e9)
    at = load_tensors(file)[1]["position"]
    steps = (at["epochs_before"] + at["epoch"]) * 6 + at["step"]
    assert steps == calls - calls // 7
    resumed = make().fit(None, file)
    kit.assert_same(kit.numbers(whole, 1), kit.numbers(resumed, 1))
    assert kit.without_time(whole.history) == kit.without_time(resumed.history)


def test_what_is_finished_is_not_trained_again(kit, tmp_path, monkeypatch):
    file = tmp_path / "c.npz"
    first = kit.trainer(kit.task(), [0, 1]).fit(None, file)
    monkeypatch.setattr("evenhand.train.step.Step.run", lambda *_: pytest.fail("a step was taken"))
    again = kit.trainer(kit.task(), [0, 1]).fit(None, file)
    for run in range(2):
        kit.assert_same(kit.numbers(first, run), kit.numbers(again, run))
    assert first.history == again.history


CODE = """
import sys, time, torch
from pathlib import Path
from evenhand.data.registry import load
from evenhand.methods.jtt import JTT
from evenhand.nets import NetSpec
from evenhand.train import trainer
from evenhand.train.recipe import Recipe
from evenhand.train.runs import Run

torch.set_num_threads(1)
trainer.TOLD_EVERY = 1
task = load("synthetic", n_train=96, n_validation=40, n_test=8, d=6)
made = trainer.Trainer([Run(JTT(), 0), Run(JTT(), 1)], [task], NetSpec("mlp", widths=(16,), dropout=0.2),
                       Recipe(epochs=4, batch_size=16, keep="best"), protect=["a0"])

def tell(progress):
    time.sleep(float(sys.argv[2]))

made.fit(tell, Path(sys.argv[1]), every=0.0)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs a signal that cannot be caught")
def test_a_process_killed_in_the_middle_of_an_epoch(kit, tmp_path, monkeypatch):
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1"}
    file, calm = tmp_path / "c.npz", tmp_path / "calm.npz"
    with subprocess.Popen([sys.executable, "-c", CODE, str(file), "0.05"], env=environment) as process:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:  # until it is in the second phase, in the middle of an epoch
            if (
                file.exists()
                and (place := load_tensors(file)[1]["position"])["phase"] == 1
                and place["step"] > 1
            ):
                break
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    place = load_tensors(file)[1]["position"]
    assert (place["phase"], place["epoch"]) == (1, 0)
    for target in (file, calm):
        monkeypatch.setattr(sys, "argv", ["", str(target), "0"])
        exec(CODE, {})  # the same, here
    (one, facts), (other, calm_facts) = load_tensors(file), load_tensors(calm)
    kit.assert_same(one, other)
    assert kit.without_time(facts["history"]) == kit.without_time(calm_facts["history"])
    assert facts["position"]["phase"] == 2


# -- the file -----------------------------------------------------------------------------------------------


def test_a_checkpoint_is_no_pickle_and_lies_there_whole(kit, tmp_path):
    file = tmp_path / "deep" / "down" / "c.npz"
    kit.trainer(kit.task(), [0, 1], GroupDRO()).fit(None, file)
    with np.load(file, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    assert all(array.dtype.kind in "fiub" for array in arrays.values())
    assert arrays["parameter/model/layers.0.weight"].shape == (2, 16, 6)
    assert "state/q" in arrays
    assert [path.name for path in file.parent.iterdir()] == ["c.npz"]


def test_a_file_left_half_written_is_harmless(kit, tmp_path):
    file = tmp_path / "c.npz"
    (tmp_path / ".c.npz.123.part").write_bytes(b"half of a checkpoint")
    (tmp_path / f".c.npz.{os.getpid()}.part").write_bytes(b"of a process with this very number")
    make = lambda: kit.trainer(kit.task(), [0])  # noqa: E731
    resumed = interrupted(make, file, [4])
    kit.assert_same(kit.numbers(make().fit()), kit.numbers(resumed))


def test_a_failed_write_leaves_the_old_checkpoint(tmp_path, monkeypatch):
    file = tmp_path / "c.npz"
    save_tensors(file, {"w": torch.ones(2)}, {"n": 1})
    monkeypatch.setattr(
        "evenhand.train.checkpoint.os.fsync", lambda _: (_ for _ in ()).throw(OSError("full"))
    )
    with pytest.raises(OSError, match="full"):
        save_tensors(file, {"w": torch.zeros(2)}, {"n": 2})
    assert load_tensors(file)[1] == {"n": 1}
    assert len(list(tmp_path.iterdir())) == 1


def test_a_new_checkpoint_takes_the_place_of_the_old_at_once(tmp_path, monkeypatch):
    """Until the very last moment, which is one call, the old one can be read."""
    file = tmp_path / "c.npz"
    save_tensors(file, {}, {"n": 1})
    seen = []
    replace_file = os.replace

    def noted(source, target):
        seen.extend((load_tensors(Path(target))[1]["n"], load_tensors(Path(source))[1]["n"]))
        replace_file(source, target)

    monkeypatch.setattr("evenhand.train.checkpoint.os.replace", noted)
    save_tensors(file, {}, {"n": 2})
    assert (seen, load_tensors(file)[1]["n"]) == ([1, 2], 2)


def test_tensors_come_back_as_they_were(tmp_path):
    tensors = {
        "float": torch.tensor([1.5, float("nan"), -0.0]),
        "double": torch.tensor(2.0, dtype=torch.float64),
        "whole": torch.tensor([[1, 2]]),
        "bool": torch.tensor([True]),
        "none": torch.empty(0, 3),
        "view": torch.arange(6.0).view(2, 3).T,
    }
    save_tensors(tmp_path / "c.npz", tensors, {"history": [{"loss": [float("nan"), 0.1]}]})
    found, facts = load_tensors(tmp_path / "c.npz")
    for name, value in tensors.items():
        assert found[name].dtype == value.dtype
        assert torch.equal(found[name].nan_to_num(9), value.nan_to_num(9)), name
    assert repr(facts) == "{'history': [{'loss': [nan, 0.1]}]}"


OTHERS = {
    "seed": {"seeds": [0, 2]},
    "method": {"method": GroupDRO()},
    "number": {"method": JTT(lambda_up=3.0)},
    "recipe": {"rate": 0.011},
    "epochs": {"epochs": 4},
    "activation": {"net": NetSpec("mlp", widths=(16,), activation="tanh")},
    "width": {"net": NetSpec("mlp", widths=(17,))},
    "protected": {"protect": []},
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_checkpoint_of_other_runs_is_refused(kit, tmp_path, name):
    file = tmp_path / "c.npz"
    plain = {"seeds": [0, 1], "method": JTT()}
    make = lambda values: kit.trainer(kit.task(), values.pop("seeds"), values.pop("method"), **values)  # noqa: E731
    make(dict(plain)).fit(None, file)
    with pytest.raises(InputError, match=r"is of other runs .*; name another folder, or delete it"):
        make({**plain, **OTHERS[name]}).fit(None, file)


def test_a_checkpoint_of_other_data_is_refused(kit, tmp_path):
    file, task = tmp_path / "c.npz", kit.task()
    kit.trainer(task, [0]).fit(None, file)
    split = task.split
    moved = {"train": split["validation"].repeat(3)[:96], "validation": split["train"][:40]}
    others = [
        kit.task(seed=1),
        task.with_split(**moved),
        replace(task, y=1 - task.y),
        replace(task, x=task.x + 1.0),
    ]
    for other in others:
        with pytest.raises(InputError, match="is of other runs"):
            kit.trainer(other, [0]).fit(None, file)
    same = replace(task, x=task.x.clone(), y=task.y.clone())
    assert kit.trainer(same, [0]).fit(None, file)


def test_a_network_of_ones_own_is_resumed_in_another_process(kit, tmp_path):
    """Its fingerprint must not hold an address in memory."""
    from evenhand.train.own_net import buildable
    from evenhand.train.resume import fingerprint

    def make(shape, outputs):
        return torch.nn.Linear(6, outputs)

    prints = [fingerprint(kit.trainer(kit.task(), [0], net=buildable(net)))
              for net in (make, lambda shape, outputs: torch.nn.Linear(6, outputs))]  # fmt: skip
    assert prints[0] == prints[1]
    assert "0x" not in prints[0]


@pytest.mark.parametrize(
    "content", [b"", b"not a zip at all", b"PK\x03\x04 and then nothing", b"\x80\x04K\x01."]
)
def test_a_file_of_another_kind_is_refused(kit, tmp_path, content):
    file = tmp_path / "c.npz"
    file.write_bytes(content)
    with pytest.raises(InputError, match="is not a checkpoint of evenhand, or is damaged; delete it"):
        kit.trainer(kit.task(), [0]).fit(None, file)


def test_other_arrays_are_refused(kit, tmp_path):
    one, other = tmp_path / "one.npz", tmp_path / "other.npz"
    with one.open("wb") as file:
        np.save(file, np.ones(3))
    np.savez(other, a=np.ones(3))
    for path in (one, other):
        with pytest.raises(InputError, match="is not a checkpoint"):
            kit.trainer(kit.task(), [0]).fit(None, path)
    save_tensors(other, {}, {"format": 999})
    with pytest.raises(InputError, match="was written by another version"):
        kit.trainer(kit.task(), [0]).fit(None, other)


def test_a_damaged_file_is_refused_wherever_it_is_damaged(kit, tmp_path):
    """Cut off at many places, or with a byte turned over there: an InputError or the same numbers."""
    file = tmp_path / "c.npz"
    make = lambda: kit.trainer(kit.task(), [0], ERM(), epochs=1)  # noqa: E731
    expected = kit.numbers(make().fit(None, file))
    whole = file.read_bytes()
    refused = 0
    for number in range(60):
        place = int(len(whole) * (number + 0.5) / 60)
        turned = bytearray(whole)
        turned[place] ^= 0x55
        for content in (whole[:place], bytes(turned)):
            file.write_bytes(content)
            trainer = make()
            try:
                trainer.fit(None, file)
            except InputError:
                refused += 1
            else:
                kit.assert_same(expected, kit.numbers(trainer))
    assert refused > 90


def test_a_checkpoint_that_lacks_a_tensor_is_refused(kit, tmp_path):
    file = tmp_path / "c.npz"
    kit.trainer(kit.task(), [0]).fit(None, file)
    tensors, facts = load_tensors(file)
    del tensors["parameter/model/layers.1.bias"]
    save_tensors(file, tensors, facts)
    with pytest.raises(InputError, match=r"is damaged: it lacks 'parameter/model/layers.1.bias'"):
        kit.trainer(kit.task(), [0]).fit(None, file)

"""On a GPU: the same random numbers, trainings that go through, and a killed one that goes on."""

from __future__ import annotations

import os

import pytest
import torch

from evenhand.methods.erm import ERM
from evenhand.methods.group_dro import GroupDRO
from evenhand.methods.irm import IRM
from evenhand.methods.jtt import JTT
from evenhand.methods.resample import Resample
from evenhand.nets import NetSpec
from evenhand.records import Out
from evenhand.train.determinism import SMALL, WORKSPACE
from evenhand.train.fit import train_runs
from evenhand.train.gpu_memory import let_go
from evenhand.train.recipe import Recipe
from evenhand.train.recorded import SWITCH
from evenhand.train.runs import Run
from evenhand.train.streams import Streams
from evenhand.train.trainer import Trainer

pytestmark = pytest.mark.gpu
DEVICE = "cuda"
os.environ.setdefault(WORKSPACE, SMALL)  # before CUDA starts, as deterministic mode wants it


@pytest.mark.parametrize("draw", ["bits", "uniform", "fine", "order"])
def test_random_numbers_are_the_same_to_the_bit(draw):
    here, there = (
        getattr(Streams([0, 2**40, -3], device), draw)("order", 7, 1000) for device in ("cpu", DEVICE)
    )
    assert torch.equal(here, there.cpu())


def trained(kit, method, device, seeds=(0, 1, 2), **options):
    recipe = Recipe(**{"epochs": 3, "batch_size": 16, "precision": "float64", "compile": False, **options})
    runs = [Run(method, seed) for seed in seeds]
    net = NetSpec("mlp", widths=(16,), dropout=0.2)
    return train_runs(runs, [kit.task()], net, recipe, protect=["a0"], device=device)


@pytest.mark.parametrize(
    "method",
    [GroupDRO(), GroupDRO(balanced=False), JTT(), Resample("over"), IRM(uniform=True), IRM(anneal_steps=3)],
    ids=str,
)
@pytest.mark.parametrize("seeds", [(0,), (0, 1, 2)], ids=["single", "stacked"])
def test_a_training_ends_where_it_ends_on_the_cpu(kit, method, seeds):
    options = {"patience": 2, "keep": "best", "share_batches": len(seeds) > 1}
    (here,), (there,) = (trained(kit, method, device, seeds, **options) for device in ("cpu", DEVICE))
    for run in range(len(seeds)):
        moved = {name: value.cpu() for name, value in kit.numbers(there, run).items()}
        kit.assert_same(kit.numbers(here, run), moved, 1e-8)


@pytest.mark.parametrize("compile", [False, None], ids=["plain", "as one kernel"])
def test_rates_of_their_own(kit, compile):
    numbers = {"rate": (0.01, 0.02, 0.03), "weight_decay": (0.0, 0.1, 0.0), "clip": (0.1, 0.0, 1.0)}
    rates = numbers | {"compile": compile}
    (here,), (there,) = (trained(kit, GroupDRO(), device, **rates) for device in ("cpu", DEVICE))
    moved = {name: value.cpu() for name, value in kit.numbers(there, 1).items()}
    kit.assert_same(kit.numbers(here, 1), moved, 1e-8)


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="there is one GPU")
def test_a_gpu_that_is_not_the_current_one(kit):
    """Steps are recorded there, and not on the current one, where nothing of them would be."""
    (here,), (there,) = (trained(kit, GroupDRO(), device) for device in ("cpu", "cuda:1"))
    moved = {name: value.cpu() for name, value in kit.numbers(there, 1).items()}
    kit.assert_same(kit.numbers(here, 1), moved, 1e-8)


class Looking(ERM):
    """Its loss waits for the GPU to decide by what it finds."""

    def loss(self, nets, batch, state):
        out = super().loss(nets, batch, state)
        return out if out.losses["model"].item() > 0 else Out({}, state)


def test_a_method_that_looks_is_not_recorded_and_memory_can_be_given_back(kit):
    (here,), (there,) = (trained(kit, Looking(), device, (0,)) for device in ("cpu", DEVICE))
    moved = {name: value.cpu() for name, value in kit.numbers(there).items()}
    kit.assert_same(kit.numbers(here), moved, 1e-8)
    assert torch.cuda.current_stream() == torch.cuda.default_stream()
    let_go(torch.device(DEVICE))


@pytest.mark.filterwarnings("ignore::UserWarning:torch._inductor")  # advice, while it compiles
@pytest.mark.parametrize("compile", [False, True])
def test_recorded_steps_keep_the_batch_statistics_of_plain_ones(kit, monkeypatch, compile):
    """Nothing is counted while a step is recorded, and what replays write is what evaluation reads."""
    ends = []
    for graphs in ("1", "0"):
        monkeypatch.setenv(SWITCH, graphs)
        recipe = Recipe(
            epochs=4, batch_size=8, optimizer="sgd", rate=0.01, compile=compile, deterministic=True
        )
        net = NetSpec("cifar-resnet18")
        trainer = Trainer([Run(ERM(), 0)], [kit.images()], net, recipe, device=DEVICE).fit()
        scores = trainer.scores(trainer.part("test"))[0]
        ends.append({**kit.numbers(trainer), "scores": scores})
        assert {int(value) for name, value in ends[-1].items() if "num_batches" in name} == {8}
    kit.assert_same(*ends, 1e-4)


def test_images_streamed_and_resident(kit):
    ends = []
    for resident in (True, False):
        recipe = Recipe(epochs=2, batch_size=8, augment="crop-flip", compile=False, deterministic=True)
        trainer = Trainer(
            [Run(GroupDRO(), 0)], [kit.images()], NetSpec("convnet", widths=(16, 16)), recipe,
            protect=["side"], device=DEVICE, resident=resident,
        ).fit()  # fmt: skip
        ends.append(kit.numbers(trainer))
    kit.assert_same(ends[0], ends[1])


def test_a_killed_training_goes_on(kit, tmp_path):
    class Killed(Exception):
        pass

    def stop(progress):
        raise Killed

    make = lambda: trained(kit, JTT(), DEVICE)[0]  # noqa: E731
    whole = make()
    recipe, runs, net = whole.recipe, whole.runs, whole.net
    again = lambda tell: train_runs(  # noqa: E731
        runs, [kit.task()], net, recipe, protect=["a0"], device=DEVICE, folder=tmp_path, tell=tell
    )
    with pytest.raises(Killed):
        again(stop)
    (resumed,) = again(None)
    kit.assert_same(kit.numbers(whole, 1), kit.numbers(resumed, 1), 1e-8)

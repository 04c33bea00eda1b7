"""Two trainings are equal to the bit; what prevents it is named; and nothing is left switched on."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import torch

from evenhand.methods.erm import ERM
from evenhand.nets import NetSpec
from evenhand.train.determinism import WORKSPACE, deterministic, obstacles

SOURCE = Path(__file__).parents[2] / "src"


def settings():
    return (
        torch.are_deterministic_algorithms_enabled(),
        torch.is_deterministic_algorithms_warn_only_enabled(),
        torch.backends.cudnn.benchmark,
        torch.utils.deterministic.fill_uninitialized_memory,
        torch.get_float32_matmul_precision(),
        os.environ.get(WORKSPACE),
    )


def digest(trainer, kit):
    found = hashlib.sha256()
    for run in range(trainer.stack.n_runs):
        for value in kit.numbers(trainer, run).values():
            found.update(value.numpy().tobytes())
    return found.hexdigest()


@pytest.mark.parametrize("seeds", [[0], [0, 1, 2]])
def test_two_trainings_in_one_process(kit, seeds):
    net = NetSpec("mlp", widths=(16,), dropout=0.2)
    make = lambda: kit.trainer(kit.task(), seeds, net=net, deterministic=True).fit()  # noqa: E731
    torch.manual_seed(1)
    first = digest(make(), kit)
    torch.manual_seed(2)  # whatever the caller does with torch's generator is his own affair
    assert digest(make(), kit) == first
    assert digest(kit.trainer(kit.task(), [9] * len(seeds), net=net).fit(), kit) != first


CODE = """
import hashlib, sys, torch
from evenhand.data.registry import load
from evenhand.methods.jtt import JTT
from evenhand.nets import NetSpec
from evenhand.train.recipe import Recipe
from evenhand.train.runs import Run
from evenhand.train.trainer import Trainer

torch.set_num_threads(1)
torch.manual_seed(int(sys.argv[1]))
task = load("synthetic", n_train=96, n_validation=40, n_test=8, d=6)
runs = [Run(JTT(), seed) for seed in (0, 1)]
recipe = Recipe(epochs=2, batch_size=16, deterministic=True)
trainer = Trainer(runs, [task], NetSpec("mlp", widths=(16,), dropout=0.2), recipe, protect=["a0"]).fit()
found = hashlib.sha256()
for value in [*trainer.stack.parameters["model"].values(), trainer.state["weights"]]:
    found.update(value.detach().numpy().tobytes())
print(found.hexdigest())
"""


def test_another_process(monkeypatch, capsys):
    """Here and in a process of its own, with other seeds of torch's generator and of Python's hashes."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "7"}
    done = subprocess.run(
        [sys.executable, "-c", CODE, "1"], env=environment, capture_output=True, text=True, check=True
    )
    monkeypatch.setattr(sys, "argv", ["", "2"])
    exec(CODE, {})
    assert capsys.readouterr().out == done.stdout
    assert len(done.stdout.strip()) == 64


def scattered():
    """An operation that has no deterministic form, on any device."""
    return torch.zeros(5).put_(torch.tensor([0, 0]), torch.ones(2))


def test_an_operation_without_a_deterministic_form_is_named_once():
    assert obstacles(lambda: (scattered(), scattered(), torch.ones(2) + 1)) == ["put_"]
    assert obstacles(lambda: torch.ones(3, 3) @ torch.ones(3, 3)) == []


def test_obstacles_hears_nothing_but_determinism():
    def work():
        warnings.warn("something else", stacklevel=1)
        scattered()

    assert obstacles(work) == ["put_"]


def test_training_has_no_obstacle(kit):
    assert obstacles(lambda: kit.trainer(kit.task(), [0, 1], augment="none").fit()) == []
    images = lambda: kit.trainer(  # noqa: E731
        kit.images(n=12), [0], net=NetSpec("cifar-resnet18"), epochs=1, batch_size=4, augment="crop-flip"
    ).fit()
    assert obstacles(images) == []


def test_an_obstacle_stops_deterministic_training(kit):
    class Scattering(ERM):
        def loss(self, nets, batch, state):
            scattered()
            return super().loss(nets, batch, state)

    kit.trainer(kit.task(), [0], Scattering()).fit()
    before = settings()
    with pytest.raises(RuntimeError, match="put_ does not have a deterministic implementation"):
        kit.trainer(kit.task(), [0], Scattering(), deterministic=True).fit()
    assert settings() == before


@pytest.mark.parametrize("mode", [(False, False), (True, True), (True, False)])
def test_settings_are_as_they_were_afterwards(mode):
    before = settings()
    torch.use_deterministic_algorithms(mode[0], warn_only=mode[1])
    torch.backends.cudnn.benchmark = True
    try:
        mine = settings()
        with deterministic():
            assert settings()[:4] == (True, False, False, False)
        assert settings() == mine
        with pytest.raises(KeyError), deterministic():
            raise KeyError
        assert settings() == mine
        with pytest.raises(KeyError):
            obstacles(lambda: {}["nothing"])
        assert settings() == mine
        with deterministic(False):
            assert settings() == mine
    finally:
        torch.use_deterministic_algorithms(before[0], warn_only=before[1])
        torch.backends.cudnn.benchmark = before[2]


def test_a_process_that_has_used_cuda_is_warned(monkeypatch):
    monkeypatch.delenv(WORKSPACE, raising=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    with pytest.warns(UserWarning, match="was not set before CUDA was first used"), deterministic():
        assert os.environ[WORKSPACE] == ":4096:8"


def test_training_leaves_the_settings_alone(kit):
    before = settings()
    kit.trainer(kit.task(), [0], deterministic=True, precision="tf32").fit()
    assert settings() == before

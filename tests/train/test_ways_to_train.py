"""The program that trains one seed in several ways: it disturbs nothing, and sees what is wrong."""

import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from evenhand.methods import ERM
from evenhand.train.checkpoint import save_tensors
from evenhand.train.recipe import Recipe
from evenhand.train.runs import Run
from evenhand.train.trainer import Trainer

TOOLS = Path(__file__).parents[2] / "tools"
RECIPE = Recipe(epochs=2, batch_size=8, optimizer="sgd", rate=0.01, compile=False, precision="bfloat16")
FINE = {
    "worst": 0.01, "rounding": 0.05, "replay": 0.0, "moved": 0.001, "least counted": 8, "most counted": 8,
    "steps": 8, "anew": 0.8, "acc": 0.79,
}  # fmt: skip


@pytest.fixture(scope="module")
def tool():
    sys.path.insert(0, str(TOOLS))
    try:
        return SimpleNamespace(**runpy.run_path(str(TOOLS / "ways_to_train.py")))
    finally:
        sys.path.remove(str(TOOLS))


def trained(kind, kit, tool):
    return kind([Run(ERM(), 0)], [kit.images()], tool.Small(), RECIPE).fit()


def test_training_goes_on_as_if_nobody_had_looked(kit, tool):
    looked, plain = (kit.numbers(trained(kind, kit, tool)) for kind in (tool.Looked, Trainer))
    assert looked.keys() == plain.keys()
    assert all(torch.equal(value, plain[name]) for name, value in looked.items())


def test_a_plain_training_has_its_own_gradients_and_statistics(kit, tool):
    trainer = trained(tool.Looked, kit, tool)
    found = trainer.found() | tool.accuracies(trainer, "model", kit.images())
    assert (trainer.way, found["worst"], found["replay"], found["moved"]) == ("plain", 0.0, 0.0, 0.0)
    assert found["rounding"] > 0  # of bfloat16
    assert found["least counted"] == found["most counted"] == found["steps"]


@pytest.mark.parametrize("wrong", ["gradient", "statistics"])
def test_what_a_step_gets_wrong_is_seen(kit, tool, monkeypatch, wrong):
    """As a kernel would: one parameter's gradient is another, or statistics are not written."""

    class Spoilt(tool.Looked):
        def new_step(self, phase):
            step = super().new_step(phase)
            right = step._computed

            def computed(turn):
                def call(*given):
                    before = {name: value.clone() for name, value in self.stack.buffers().items()}
                    *others, rows = right(turn)(*given)
                    if wrong == "gradient":
                        rows["model"][0] = -rows["model"][0]
                    else:
                        for name, value in self.stack.buffers().items():
                            value.copy_(before[name])
                    return *others, rows

                return call

            step._computed = computed
            return step

    found = trained(Spoilt, kit, tool).found()
    assert tool.suspicious({**FINE, **found})
    assert (found["worst"] > 1.9) == (wrong == "gradient")
    assert (found["moved"] > 0.9) == (wrong == "statistics")


@pytest.mark.parametrize(
    "wrong", [{"worst": 0.3}, {"replay": 0.1}, {"moved": 0.5}, {"least counted": 7}, {"acc": 0.6}]
)
def test_what_rounding_cannot_explain(tool, wrong):
    assert not tool.suspicious(FINE)
    assert tool.suspicious({**FINE, **wrong})


def test_statistics_that_are_young_in_every_way_are_nobodys_fault(tool, tmp_path):
    """After 28 steps on an H200 every way had them; one that is farther behind than plain ones is told."""
    for number, (way, acc, anew) in enumerate(
        [("plain", 0.21, 0.39), ("compiled", 0.20, 0.38), ("both", 0.05, 0.38)]
    ):
        line = {**FINE, "acc": acc, "anew": anew, "way": way, "name": way}
        save_tensors(tmp_path / f"{number}.npz", {"weight": torch.ones(2)}, line)
    assert [line["suspect"] for line in tool.told(tmp_path, [0, 1, 2])] == [False, False, True]

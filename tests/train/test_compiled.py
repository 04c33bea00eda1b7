"""Compiled steps: every stack of a long study is compiled, not only the first few of a process."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
import torch

from evenhand.methods import ERM
from evenhand.nets import NetSpec
from evenhand.train.recipe import Recipe
from evenhand.train.runs import Run
from evenhand.train.trainer import Trainer


def test_a_step_is_compiled_however_many_there_were_before(kit, monkeypatch):
    """Torch gives up on a piece of code that it has compiled so many times, and all steps share theirs."""
    seen = []
    real = torch.compile

    def looked_at(graph, inputs):
        seen.append(graph)
        return graph.forward

    monkeypatch.setattr(torch, "compile", lambda f, **options: real(f, backend=looked_at, **options))
    with torch._dynamo.config.patch(recompile_limit=1):
        for times in (1, 2, 3):
            kit.trainer(kit.task(), [0, 1], epochs=1, compile=True).fit()
            assert len(seen) == times


def test_a_step_that_cannot_be_compiled_is_taken_as_it_is(kit, monkeypatch):
    """A compiler that fails must cost time, not runs; the result is that of a training never compiled."""
    real, tried = torch.compile, []

    def broken(graph, inputs):
        tried.append(graph)
        raise RuntimeError("PassManager::run failed")

    monkeypatch.setattr(torch, "compile", lambda f, **options: real(f, backend=broken, **options))
    with pytest.warns(UserWarning, match="torch could not compile this step: .*takes longer"):
        fallen = kit.trainer(kit.task(), [0, 1], epochs=2, compile=True).fit()
    plain = kit.trainer(kit.task(), [0, 1], epochs=2, compile=False).fit()
    assert len(tried) == 1
    assert torch.equal(fallen.scores(fallen.train), plain.scores(plain.train))


def test_a_step_that_fails_in_its_backward_pass_leaves_batch_statistics_as_they_were(kit, monkeypatch):
    """Compiled code checks how results of kernels are laid out, and asserts it when they are there."""

    class Misplaced(torch.autograd.Function):
        @staticmethod
        def forward(ctx, loss):
            return loss.clone()

        @staticmethod
        def backward(ctx, grad):
            raise AssertionError("expected size 8==8, stride 1==64 at dim=1")

    def compiled(function, **options):
        def call(*given):
            losses, *others = function(*given)
            return {player: Misplaced.apply(loss) for player, loss in losses.items()}, *others

        return call

    recipe = {"epochs": 1, "batch_size": 8, "optimizer": "sgd", "rate": 0.01}
    net, ends = NetSpec("cifar-resnet18"), []
    for wanted in (True, False):
        monkeypatch.setattr(torch, "compile", compiled)
        trainer = Trainer([Run(ERM(), 0)], [kit.images()], net, Recipe(compile=wanted, **recipe))
        with pytest.warns(UserWarning, match="expected size 8==8") if wanted else nullcontext():
            ends.append(kit.numbers(trainer.fit()))
    assert all(torch.equal(value, ends[1][name]) for name, value in ends[0].items())


def test_an_error_of_the_method_is_not_taken_for_one_of_the_compiler(kit, monkeypatch):
    def wrong(*given):
        raise RuntimeError("mine")

    monkeypatch.setattr(torch, "compile", lambda f, **options: wrong)
    with pytest.raises(RuntimeError, match="mine"):
        kit.trainer(kit.task(), [0], epochs=1, compile=True).fit()

"""Compiled steps: every stack of a long study is compiled, not only the first few of a process."""

from __future__ import annotations

import pytest
import torch


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


def test_an_error_of_the_method_is_not_taken_for_one_of_the_compiler(kit, monkeypatch):
    def wrong(*given):
        raise RuntimeError("mine")

    monkeypatch.setattr(torch, "compile", lambda f, **options: wrong)
    with pytest.raises(RuntimeError, match="mine"):
        kit.trainer(kit.task(), [0], epochs=1, compile=True).fit()

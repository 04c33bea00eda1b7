"""Compiled steps: every stack of a long study is compiled, not only the first few of a process."""

from __future__ import annotations

import torch


def test_a_step_is_compiled_however_many_there_were_before(kit, monkeypatch):
    """Torch gives up on a piece of code that it has compiled so many times, and all steps share theirs."""
    seen = []
    real = torch.compile

    def looked_at(graph, inputs):
        seen.append(graph)
        return graph.forward

    monkeypatch.setattr(torch, "compile", lambda f, **options: real(f, backend=looked_at, **options))
    monkeypatch.setattr("torch._dynamo.config.recompile_limit", 1)
    for times in (1, 2, 3):
        kit.trainer(kit.task(), [0, 1], epochs=1, compile=True).fit()
        assert len(seen) == times

"""A CUDA graph on a CPU: operations are written down once, and done again where their tensors lie.

Whatever Python computed meanwhile is as frozen as it is on a GPU: numbers, branches, addresses. So a step
that reads a number which changes from step to step ends elsewhere when it is replayed, and a test sees it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map_only

from evenhand.train import step, trainer
from evenhand.train.recorded import Recorded

WAITS = {"aten::_local_scalar_dense", "aten::nonzero", "aten::masked_select", "aten::_unique2"}  # on a GPU


class Tape(TorchDispatchMode):
    """The operations of what is called inside; `replay` does them again into the same memory."""

    def __init__(self) -> None:
        super().__init__()
        self.operations: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], Any]] = []
        self.before: dict[int, tuple[torch.UntypedStorage, torch.UntypedStorage]] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func._schema.name in WAITS:
            raise RuntimeError(f"{func}: operation not permitted when stream is capturing")
        given = tree_map_only(Tensor, Tensor.detach, (args, kwargs or {}))
        self._remember(given)
        found = func(*args, **(kwargs or {}))
        self.operations.append((func, *given, tree_map_only(Tensor, Tensor.detach, found)))
        return found

    def _remember(self, given: Any) -> None:
        """All that is given: not every operation that writes into it says so (batch statistics)."""
        for own in (leaf.untyped_storage() for leaf in tree_leaves(given) if isinstance(leaf, Tensor)):
            if own.data_ptr() not in self.before:
                self.before[own.data_ptr()] = own, own.clone()

    def undo(self) -> None:
        """Memory as it was: nothing is computed while a GPU records."""
        for own, before in self.before.values():
            own.copy_(before)
        self.before.clear()

    @torch.no_grad()
    def replay(self) -> None:
        for func, args, kwargs, found in self.operations:
            given = tree_map_only(Tensor, Tensor.detach, args)  # some change the shape of what they are given
            again = func(*given, **kwargs)
            if any(part.alias_info is not None for part in func._schema.returns):
                continue  # a view, or what was written into: its memory is there already
            for old, new in zip(tree_leaves(found), tree_leaves(again), strict=True):
                if isinstance(old, Tensor):
                    old.copy_(new)


class OnTape(Recorded):
    """Work that is recorded on a tape; `missed` counts the calls that were not even tried to be recorded."""

    made: list[OnTape] = []  # noqa: RUF012  # of the test that is going on

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.given = self.missed = 0
        self.made.append(self)

    def _take(self, *given: Any) -> bool:
        taken = super()._take(*given)
        self.given, self.missed = self.given + 1, self.missed + (not taken)
        return taken

    def _record(self) -> None:
        tape = Tape()
        try:
            with tape:
                self._results = self._function(*self._placed())
            self._graph = tape
        except RuntimeError as error:
            self.refused = str(error)
        tape.undo()


def on_tape(patch: pytest.MonkeyPatch) -> list[OnTape]:
    """Let steps be recorded on tapes, on a CPU, from here on; the tapes that are made."""
    patch.setattr(trainer, "can_record", lambda stack: True)
    patch.setattr(step, "Recorded", OnTape)
    patch.setattr(torch.cuda, "graph_pool_handle", lambda: (0, 1))
    patch.setattr(OnTape, "made", [])
    return OnTape.made

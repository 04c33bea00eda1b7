"""Work on a GPU that is recorded once and then replayed: a CUDA graph of losses and gradients.

A small network keeps a GPU busy for less time than Python needs to ask for its kernels. What one step asks
for is what the next one asks for, so it is recorded (after a few plain calls, in which torch compiles and
chooses what it will), and replayed as one request. The kernels are the same, in the same order.

What is recorded reads its inputs where they lay then: they are copied there before each replay. Parameters
stay where they are, and optimisers move them in place.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import TreeSpec, tree_flatten, tree_map_only, tree_unflatten

from evenhand.train.own_noise import draws_by_itself
from evenhand.train.stack import Stack
from evenhand.train.waiting import noted_waits

PLAIN_CALLS = 3
ATTEMPTS = 3
SWITCH = "EVENHAND_GRAPHS"  # 0: nothing is recorded


def can_record(stack: Stack) -> bool:
    """Whether steps of these networks are worth recording: on a GPU, if none of them draws by itself."""
    return stack.device.type == "cuda" and not draws_by_itself(stack) and os.environ.get(SWITCH) != "0"


class Recorded:
    """A function of tensors, replayed from its fourth call on; plain where it cannot be recorded.

    `kept` of the results (the first ones) are the caller's; the others are overwritten by the next call of
    this one, or of another one with the same `pool` of memory. A function that waits for the GPU to decide by
    what it finds cannot be recorded, and `refused` says so. What Python computes is recorded as it was:
    numbers that change from call to call must be among the inputs, as tensors.
    """

    def __init__(self, function: Callable[..., tuple[Any, ...]], kept: int, pool: Any = None) -> None:
        self._function, self._kept, self._pool = function, kept, pool
        self._inputs: list[Any] = []
        self._form: TreeSpec | None = None
        self._calls = self._failed = 0
        self._graph: Any = None
        self._results: tuple[Any, ...] = ()
        self.refused = ""

    @property
    def replays(self) -> bool:
        """Whether it is recorded by now."""
        return self._graph is not None

    def __call__(self, *given: Any) -> tuple[Any, ...]:
        """The function's results."""
        leaves, form = tree_flatten(given)
        if self.refused or not self._take(leaves, form):
            return self._function(*given)
        if self._graph is None and self._calls >= PLAIN_CALLS:
            self._record()
        self._calls += 1
        if self._graph is None:
            results = self._called()
        else:
            self._graph.replay()
            results = self._results
        kept = (tree_map_only(Tensor, torch.clone, part) for part in results[: self._kept])
        return *kept, *results[self._kept :]

    def _take(self, leaves: Sequence[Any], form: TreeSpec) -> bool:
        """Copy the inputs to where the recorded work reads them; not if they are of another kind.

        Until something is recorded the kind may change: a state may come back in another order of names.
        """
        if form == self._form and all(map(_alike, self._inputs, leaves)):
            for own, leaf in zip(self._inputs, leaves, strict=True):
                if isinstance(own, Tensor) and own is not leaf:
                    own.copy_(leaf)
            return True
        if self._graph is not None:
            return False
        self._form, self._calls = form, 0
        self._inputs = [leaf.detach().clone() if isinstance(leaf, Tensor) else leaf for leaf in leaves]
        return True

    def _placed(self) -> Any:
        assert self._form is not None
        return tree_unflatten(self._inputs, self._form)

    def _called(self) -> tuple[Any, ...]:
        """The function's results, plainly; in the last call before it is recorded waits are looked out for.

        Recording what waits would fail, and torch does not get over it: memory stays taken, and older
        versions can give none back from then on.
        """
        if self._calls != PLAIN_CALLS:
            return self._function(*self._placed())
        with noted_waits() as waits:
            results = self._function(*self._placed())
        if waits:
            self.refused = f"it waits for the GPU, at {waits[0]}"
        return results

    def _record(self) -> None:
        """Record the function; nothing is computed meanwhile, so that nothing has to be undone."""
        device = _one_gpu(self._inputs)
        if device is None:  # a number on the CPU would be recorded as it is now
            self.refused = "its inputs do not all lie on one GPU"
            return
        graph = torch.cuda.CUDAGraph()
        try:
            # A stream of another GPU than the work's would record nothing. Other threads of this process may
            # use the GPU meanwhile. The stream of before is set here once more: torch forgets it on failure.
            with (
                torch.cuda.device(device),
                torch.cuda.stream(torch.cuda.current_stream(device)),
                torch.cuda.graph(graph, self._pool, _side_stream(device), capture_error_mode="thread_local"),
            ):
                self._results = self._function(*self._placed())
            self._graph = graph
        except RuntimeError as error:
            torch.cuda.synchronize(device)
            self._results, self._calls, self._failed = (), 0, self._failed + 1
            if self._failed == ATTEMPTS:  # libraries that are loaded meanwhile can spoil one, not all of them
                self.refused = str(error) or type(error).__name__


@cache
def _side_stream(device: torch.device) -> torch.cuda.Stream:
    """The stream that work on a GPU is recorded on: one for all, because memory is kept for each stream."""
    return torch.cuda.Stream(device)  # type: ignore[no-untyped-call]


def _one_gpu(inputs: Sequence[Any]) -> torch.device | None:
    """The GPU that all tensors lie on, if there is one."""
    devices = {leaf.device for leaf in inputs if isinstance(leaf, Tensor)}
    return devices.pop() if len(devices) == 1 and all(each.type == "cuda" for each in devices) else None


def _alike(own: Any, given: Any) -> bool:
    """Whether a recorded input can be overwritten by what is given."""
    if not isinstance(own, Tensor):
        return type(own) is type(given) and bool(own == given)
    return (
        isinstance(given, Tensor)
        and own.shape == given.shape
        and own.dtype == given.dtype
        and own.device == given.device
        and not given.requires_grad
    )

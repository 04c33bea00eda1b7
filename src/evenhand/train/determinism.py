"""Deterministic mode: two runs are equal to the bit, and whatever prevents it is named.

`deterministic()` switches torch to kernels that add in a fixed order and puts everything back afterwards.
`obstacles()` runs a function under torch's own check and says which operation has no deterministic form.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

WORKSPACE = "CUBLAS_WORKSPACE_CONFIG"
SMALL = ":4096:8"
_memory: Any = torch.utils.deterministic  # its switch is made by the module's class, which has no types


def before_cuda() -> None:
    """Set how cuBLAS works, unless somebody has: for a process that will be deterministic later on."""
    os.environ.setdefault(WORKSPACE, SMALL)


@contextmanager
def deterministic(on: bool = True) -> Iterator[None]:
    """Inside, operations without a deterministic form raise and cuDNN does not choose by timing.

    cuBLAS reads its workspace setting when CUDA starts, so on a GPU it must be set before the first use of
    CUDA in the process; it is set here if it is not (and stays set), and a process that has already used CUDA
    is warned.
    """
    if not on:
        yield
        return
    if torch.cuda.is_available() and WORKSPACE not in os.environ:
        if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
            warnings.warn(
                f"{WORKSPACE} was not set before CUDA was first used: results may differ in the last bits; "
                f"start Python with {WORKSPACE}={SMALL}",
                stacklevel=3,
            )
        before_cuda()
    before = (
        torch.are_deterministic_algorithms_enabled(),
        torch.is_deterministic_algorithms_warn_only_enabled(),
        torch.backends.cudnn.benchmark,
        _memory.fill_uninitialized_memory,
    )
    torch.use_deterministic_algorithms(True)
    torch.backends.cudnn.benchmark = False
    # Filling fresh memory with NaN guards against kernels that read it before writing; every kernel we call
    # writes first, and the fill costs a pass over memory for each allocation.
    _memory.fill_uninitialized_memory = False
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before[0], warn_only=before[1])
        torch.backends.cudnn.benchmark = before[2]
        _memory.fill_uninitialized_memory = before[3]


def obstacles(work: Callable[[], object]) -> list[str]:
    """The operations of `work` that have no deterministic form on their device, as torch names them.

    >>> obstacles(lambda: torch.ones(3).cumsum(0))
    []
    """
    before = torch.are_deterministic_algorithms_enabled()
    only_warned = torch.is_deterministic_algorithms_warn_only_enabled()
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            work()
    finally:
        torch.use_deterministic_algorithms(before, warn_only=only_warned)
    texts = [str(entry.message) for entry in caught]
    names = [text.split(" does not have a deterministic")[0] for text in texts if "deterministic" in text]
    return list(dict.fromkeys(names))

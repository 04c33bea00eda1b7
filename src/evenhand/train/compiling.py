"""Whether a step is worth compiling: it takes half a minute, and spares the longer the more is left to do."""

from __future__ import annotations

import torch

LONG = 1000  # steps on a GPU
# Steps of runs where they are recorded, which spares most of the waiting by itself. Measured on an H200 with
# `convnet`, batches of 128: compiling takes 16 to 26 s and spares 0.2 ms of a step of a run
# (benchmarks/convnet_stack.py).
LONG_RECORDED = 100_000


def is_worth_compiling(device: torch.device, steps: int, runs: int, *, recorded: bool) -> bool:
    """For so many steps of so many runs side by side; a CPU waits for numbers, not for Python.

    >>> is_worth_compiling(torch.device("cuda"), 20_000, 12, recorded=True)
    True
    >>> is_worth_compiling(torch.device("cuda"), 2_000, 12, recorded=True)
    False
    """
    if device.type != "cuda":
        return False
    return steps * runs >= LONG_RECORDED if recorded else steps >= LONG

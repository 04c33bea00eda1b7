"""The memory of a GPU that several programs share: giving back what is kept, and seeing what others hold."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import TypeVar

import torch

MUCH = 1 / 8  # of all memory
WAITS = (5.0, 20.0, 60.0)  # seconds until work is tried again that found the GPU filled by others

Made = TypeVar("Made")

_shares: dict[int, float] = {}  # of each GPU, where this program may hold a part only


def hold_at_most(share: float, device: torch.device) -> None:
    """Let this program hold no more than a share of a GPU's memory: it then gives back what it only keeps."""
    if device.type == "cuda" and share < 1:
        number = _number(device)
        torch.cuda.set_per_process_memory_fraction(share, number)
        _shares[number] = share


def _number(device: torch.device) -> int:
    return torch.cuda.current_device() if device.index is None else device.index


def free_for_us(device: torch.device) -> int:
    """Bytes of a GPU that this program can still fill: what is free, and not beyond its share."""
    free, total = torch.cuda.mem_get_info(device)
    share = _shares.get(_number(device))
    if share is None:
        return int(free)
    return max(0, min(int(free), int(share * total) - torch.cuda.memory_allocated(device)))


def let_go(device: torch.device) -> None:
    """Give back what torch keeps of a GPU's memory for later: other programs may want it now."""
    if device.type == "cuda":
        gc.collect()
        torch.cuda.empty_cache()


def filled_by_others(device: torch.device) -> bool:
    """Whether little of a GPU's memory is free and other programs hold much, so that waiting may help.

    Where much is free, this program has met its own share, and would meet it again.
    """
    if device.type != "cuda":
        return False
    free, total = torch.cuda.mem_get_info(device)
    others = total - free - torch.cuda.memory_reserved(device)
    return free < MUCH * total and others > MUCH * total


def with_room(make: Callable[[], Made], device: torch.device, told: Callable[[], None]) -> Made:
    """What `make` gives; where others fill the GPU it is tried again, thrice. `told` before each wait."""
    for wait in WAITS:
        try:
            return make()
        except torch.cuda.OutOfMemoryError:
            if not filled_by_others(device):
                raise
        let_go(device)  # not while the error is handled: all that it came through would be kept
        told()
        time.sleep(wait)
    return make()

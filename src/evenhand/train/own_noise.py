"""Random numbers of modules of one's own, which draw from torch's generators (nn.Dropout does).

Networks here are fed their noise. A module from elsewhere draws by itself: what it draws must follow from the
run's seed and the step all the same, or a run could neither be repeated nor gone on with.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256

import torch

from evenhand.nets.wrap import Wrapped
from evenhand.train.stack import Stack


def draws_by_itself(stack: Stack) -> bool:
    """Whether a module of one's own is among the networks: it may draw."""
    return any(isinstance(template, Wrapped) for template in stack.templates.values())


@contextmanager
def own_noise(stack: Stack, seed: int, step: int) -> Iterator[None]:
    """Torch's generators are set by seed and step inside, and are as before afterwards.

    Nothing happens where no module draws by itself: it takes some microseconds.
    """
    if not draws_by_itself(stack):
        yield
        return
    devices = [stack.device] if stack.device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(int.from_bytes(sha256(f"{seed}/{step}".encode()).digest()[:8]))
        yield

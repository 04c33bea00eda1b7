"""Random numbers of modules of one's own, which draw from torch's generators (nn.Dropout does).

Networks here are fed their noise. A module from elsewhere draws by itself, or a method's own network beside
the model: what it draws must follow from the run's seed and the step all the same, or a run could neither be
repeated nor gone on with.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from weakref import WeakKeyDictionary

import torch
from torch import nn
from torch.nn.modules.dropout import _DropoutNd

from evenhand.nets.wrap import Wrapped
from evenhand.train.stack import Stack

DRAW = (_DropoutNd, nn.RReLU, nn.FractionalMaxPool2d, nn.FractionalMaxPool3d)
MAY_DRAW = (nn.MultiheadAttention, nn.RNNBase)  # if their `dropout` is not 0

_known: WeakKeyDictionary[Stack, bool] = WeakKeyDictionary()  # it is asked at every step


def draws_by_itself(stack: Stack) -> bool:
    """Whether a module of one's own is among the networks, which may draw, or a layer of torch that does."""
    if stack not in _known:
        parts = [part for template in stack.templates.values() for part in template.modules()]
        _known[stack] = any(map(_may_draw, parts))
    return _known[stack]


def _may_draw(part: nn.Module) -> bool:
    return isinstance(part, (Wrapped, *DRAW)) or (isinstance(part, MAY_DRAW) and part.dropout > 0)


@contextmanager
def own_noise(stack: Stack, seed: int, step: int) -> Iterator[None]:
    """Torch's generators, of the CPU and the GPU in use, are set by seed and step inside, and are as before.

    Nothing happens where no module draws by itself: it takes some microseconds.
    """
    if not draws_by_itself(stack):
        yield
        return
    devices = [stack.device] if stack.device.type == "cuda" else []
    number = int.from_bytes(sha256(f"{seed}/{step}".encode()).digest()[:8])
    with torch.random.fork_rng(devices=devices):
        torch.default_generator.manual_seed(number)  # torch.manual_seed would set all GPUs, and for good
        for device in devices:
            with torch.cuda.device(device):
                torch.cuda.manual_seed(number)
        yield

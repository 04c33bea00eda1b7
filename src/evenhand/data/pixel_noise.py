"""Random bytes for pixels as a pure function of (seed, image, place), by whole numbers alone.

Every device gives the same bytes, and any block of images can be drawn without the others.

The mixer is a 32-bit multiply-xorshift finaliser (constants found by C. Wellons' search for low bias).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

FIRST = 0x7FEB352D
SECOND = 0x846CA68B - (1 << 32)  # as a signed number


def pixel_bytes(seed: Sequence[int], images: range, n: int, device: torch.device | str = "cpu") -> Tensor:
    """`[len(images), n]` bytes, uint8: those of an image depend on its number and the seed alone.

    `n` must be a multiple of 4; `seed` is whole numbers of at least 0, as numpy's generators take them.

    >>> few = pixel_bytes((123, 0), range(2, 4), 8)
    >>> torch.equal(few, pixel_bytes((123, 0), range(5), 8)[2:4])
    True
    """
    numbers = torch.arange(images.start, images.stop, dtype=torch.int32, device=device)
    keys = mixed(mixed(numbers) ^ key_of(seed))  # no two images share a key: both steps are bijections
    places = mixed(torch.arange(1, n // 4 + 1, dtype=torch.int32, device=device))
    return mixed(keys[:, None] ^ places).view(torch.uint8)


def key_of(seed: Sequence[int]) -> int:
    """A signed 32-bit number for a seed; numpy mixes its parts."""
    return int(np.random.SeedSequence(list(seed)).generate_state(1).view(np.int32)[0])


def mixed(x: Tensor) -> Tensor:
    """The bits of whole numbers (int32) scrambled, in place: a pass over memory less for each step."""
    shifted = (x >> 16).bitwise_and_(0xFFFF)
    x.bitwise_xor_(shifted).mul_(FIRST)
    torch.bitwise_right_shift(x, 15, out=shifted)
    x.bitwise_xor_(shifted.bitwise_and_(0x1FFFF)).mul_(SECOND)
    torch.bitwise_right_shift(x, 16, out=shifted)
    return x.bitwise_xor_(shifted.bitwise_and_(0xFFFF))

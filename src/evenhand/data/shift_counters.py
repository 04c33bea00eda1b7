"""Random numbers for shifts as a pure function of (seed, stream, row, place): no generator, no order.

A row is given the same numbers in any batch, in any stack and on any device: a shifted test set is one test
set. The bits are made of whole numbers alone (`evenhand.data.pixel_noise` has the mixer); two rows of one
seed have different keys, because every step from row to key is a bijection of 32 bits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from evenhand.data.pixel_noise import FIRST, key_of, mixed
from evenhand.errors import InputError

HALF = 1 << 31


@dataclass(frozen=True)
class Counters:
    """The random numbers of some rows: `keys [N]`, one for each row.

    >>> few, all = Counters.of(7, "noise", torch.tensor([4])), Counters.of(7, "noise", torch.arange(9))
    >>> torch.equal(few.normal(5)[0], all.normal(5)[4])
    True
    """

    keys: Tensor

    @classmethod
    def of(cls, seed: int, stream: str, rows: Tensor) -> Counters:
        """The numbers of the rows with these ids `[N]`, on their device; a stream is a use of the seed."""
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise InputError(f"the seed of a shift must be a whole number of at least 0, not {seed!r}")
        key = key_of((seed, int.from_bytes(stream.encode(), "big")))
        rows = rows.to(torch.int64)
        low = mixed((rows & 0xFFFFFFFF).to(torch.int32))
        high = (rows >> 32).to(torch.int32)  # 0 for all but absurd ids, and then nothing changes
        return cls(mixed(low.bitwise_xor_(high.mul_(FIRST)).bitwise_xor_(key)))

    def bits(self, n: int) -> Tensor:
        """Whole numbers `[N, n]`, spread evenly over int32; those of a place do not depend on `n`."""
        places = mixed(torch.arange(1, n + 1, dtype=torch.int32, device=self.keys.device))
        return mixed(self.keys[:, None] ^ places)

    def uniform(self, n: int) -> Tensor:
        """Numbers within (0, 1), `[N, n]`, float32, in the middle of 2^23 steps: symmetric about a half."""
        return ((self.bits(n) >> 9) & 0x7FFFFF).to(torch.float32).add_(0.5).mul_(2.0**-23)

    def fine(self, n: int) -> Tensor:
        """Numbers within (0, 1), `[N, n]`, float64, in the middle of 2^32 steps."""
        return self.bits(n).to(torch.float64).add_(HALF + 0.5).mul_(2.0**-32)

    def below(self, p: float, n: int) -> Tensor:
        """Whether each of `[N, n]` events of probability p happens; what happens at p happens at more."""
        least = round(p * (1 << 32)) - HALF
        return self.bits(n) < least if least < HALF else self.keys.new_ones((len(self.keys), n)).bool()

    def normal(self, n: int) -> Tensor:
        """Numbers of mean 0 and deviation 1, `[N, n]`, float32 (Box and Muller 1958), two of each pair."""
        pairs = self.uniform(2 * ((n + 1) // 2)).view(len(self.keys), -1, 2)
        radius = pairs[..., 0].log().mul_(-2).sqrt_()
        angle = pairs[..., 1] * (2 * math.pi)
        return torch.stack([radius * angle.cos(), radius * angle.sin()], -1).flatten(1)[:, :n]

"""Random numbers as a pure function of (seed, stream, step, place): every run has its own, on any device.

A stack of runs must not share a generator: what a run draws would depend on its neighbours. Two thousand
generators are slow. So numbers are made by mixing bits of a counter, all runs at once: no state to save for a
resumed run, the same bits on every device, and any step can be drawn without the steps before it.

The mixer is a 32-bit multiply-xorshift finaliser (constants found by C. Wellons' search for low bias). A
place's counter is mixed first and the run's key is then put in by xor, so that two keys give unrelated
sequences and not one sequence shifted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from evenhand.errors import InputError
from evenhand.records import NoiseSpec

FIRST = 0x7FEB352D
SECOND = 0x846CA68B - (1 << 32)  # as a signed number
HALF = 1 << 31
UNIT = 2.0**-24


def mix(x: Tensor) -> Tensor:
    """Scramble the bits of whole numbers (int32); a bijection.

    >>> mix(torch.arange(3, dtype=torch.int32)).tolist()
    [0, 1753845952, -787275391]
    """
    x = x ^ ((x >> 16) & 0xFFFF)
    x = x * FIRST
    x = x ^ ((x >> 15) & 0x1FFFF)
    x = x * SECOND
    return x ^ ((x >> 16) & 0xFFFF)


def name_code(name: str) -> int:
    """A number for the name of a stream: the same in every process."""
    code = 2166136261
    for letter in name.encode():
        code = ((code ^ letter) * 16777619) & 0xFFFFFFFF
    return code


def _signed(value: int) -> int:
    value &= 0xFFFFFFFF
    return value - (1 << 32) if value >= HALF else value


def checked_seed(seed: int) -> int:
    """The seed itself, if it has at most 64 bits: a longer one would be cut and equal another.

    >>> checked_seed(2**64)
    Traceback (most recent call last):
    evenhand.errors.InputError: the seed 18446744073709551616 is not within -2^63 .. 2^64 - 1
    """
    if not -(1 << 63) <= seed < 1 << 64:
        raise InputError(f"the seed {seed} is not within -2^63 .. 2^64 - 1")
    return seed


class Streams:
    """The random numbers of R runs, each from its own seed.

    >>> both, alone = Streams([3, 8]), Streams([8])
    >>> torch.equal(both.uniform("order", 5, 4)[1], alone.uniform("order", 5, 4)[0])
    True
    """

    def __init__(self, seeds: Sequence[int], device: torch.device | str = "cpu") -> None:
        halves = [[_signed(checked_seed(seed)), _signed(seed >> 32)] for seed in seeds]
        words = torch.tensor(halves, dtype=torch.int32, device=device)
        self._roots = mix(mix(words[:, 0]) ^ (words[:, 1] + 1))
        self.device = self._roots.device
        self._keys: dict[str, Tensor] = {}
        self._places: dict[int, Tensor] = {}

    def bits(self, stream: str, step: int, n: int) -> Tensor:
        """Whole numbers `[R, n]`, spread evenly over int32."""
        if stream not in self._keys:
            self._keys[stream] = mix(self._roots ^ _signed(name_code(stream)))
        if n not in self._places:
            self._places[n] = mix(torch.arange(1, n + 1, dtype=torch.int32, device=self.device))
        keys = mix(self._keys[stream] ^ _signed(step))
        return mix(self._places[n] ^ keys[:, None])

    def uniform(self, stream: str, step: int, n: int) -> Tensor:
        """Numbers in [0, 1), `[R, n]`, on a grid of 2^-24."""
        return ((self.bits(stream, step, n) >> 8) & 0xFFFFFF).to(torch.float32) * UNIT

    def fine(self, stream: str, step: int, n: int) -> Tensor:
        """Numbers in [0, 1), `[R, n]`, in float64 on a grid of 2^-32: to pick one of very many things."""
        return (self.bits(stream, step, n).to(torch.float64) + HALF) * 2.0**-32

    def normal(self, stream: str, step: int, n: int) -> Tensor:
        """Numbers of mean 0 and deviation 1, `[R, n]` (Box and Muller)."""
        both = self.uniform(stream, step, 2 * n)
        radius = torch.sqrt(-2 * torch.log1p(-both[:, :n]))
        return radius * torch.cos(2 * math.pi * both[:, n:])

    def keep(self, stream: str, step: int, n: int, p: float) -> Tensor:
        """A dropout mask `[R, n]`: 0 with probability p, else 1/(1-p)."""
        kept = self.bits(stream, step, n) >= _signed_threshold(p)
        return kept.to(torch.float32) * (1 / (1 - p) if p < 1 else 0.0)

    def order(self, stream: str, step: int, n: int) -> Tensor:
        """A permutation of 0 .. n-1 for each run, `[R, n]`."""
        return torch.argsort(self.bits(stream, step, n), dim=1, stable=True)

    def draw(self, spec: NoiseSpec, stream: str, step: int, rows: int) -> Tensor:
        """What a network or method asked for: `[R, rows, *shape]`."""
        n = rows * math.prod(spec.shape)
        if spec.kind == "permutation":
            return self.order(stream, step, rows)
        if spec.kind == "keep":
            found = self.keep(stream, step, n, spec.p)
        else:
            found = self.normal(stream, step, n) if spec.kind == "normal" else self.uniform(stream, step, n)
        return found.view(-1, rows, *spec.shape)


def _signed_threshold(p: float) -> int:
    """Below this signed number lie a share p of all int32 numbers."""
    return max(-HALF, min(HALF - 1, round(p * (1 << 32)) - HALF))

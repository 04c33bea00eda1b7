"""Flows: networks that turn inputs into as many numbers of a known density, and back.

    log p(x) = log N(z; 0, I) + log|det dz/dx|,   z = flow(x)

A flow is called as `flow(x) -> (z [B, d], log_det [B])` and `flow(z, inverse=True) -> x`. It keeps no batch
statistics and draws nothing: it stacks.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.func import functional_call

from evenhand.errors import InputError
from evenhand.nets.convnet import image_shape
from evenhand.nets.flow_coupling import Coupling, MaskedCoupling
from evenhand.nets.flow_layers import ActNorm, Chain, Invertible, Mixing, Squeeze


class Flow(nn.Module):
    """What all flows share: one call for both directions, in the precision of what is given.

    Float64 inputs are computed in float64 whatever the parameters are, and give float64: for inverses that
    are exact also where numbers inside are large, as of a table with rare columns.
    """

    stackable = True

    def forward(self, x: Tensor, *, inverse: bool = False) -> Any:
        """`(z, log_det)` of inputs, or the inputs of `z`."""
        held = {**dict(self.named_parameters()), **dict(self.named_buffers())}
        if any(value.dtype != x.dtype for value in held.values()):
            cast_to = {name: value.to(x.dtype) for name, value in held.items()}
            return functional_call(self, cast_to, (x,), {"inverse": inverse})
        return self.decode(x) if inverse else self.encode(x)

    @abstractmethod
    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """`z [B, d]` and `log|det dz/dx| [B]`."""

    @abstractmethod
    def decode(self, z: Tensor) -> Tensor:
        """The inputs that `encode` makes z of."""


class ImageFlow(Flow):
    """Levels of (2x2 pixels into channels, blocks), after each but the last of which half is factored out.

    A block is an invertible 1x1 convolution and an affine coupling whose network has `width` channels, with
    an ActNorm before them if `norm`. z has what was factored out first in front and what went through all
    levels last. Kehrenberg et al. 2020 have 3 levels of 32 blocks of width 512 for 64 pixels.

    >>> _ = torch.manual_seed(0)
    >>> flow, x = ImageFlow((3, 16, 16), levels=2, blocks=1, width=8), torch.rand(2, 3, 16, 16)
    >>> z, log_det = flow(x)
    >>> z.shape, log_det.shape, torch.allclose(flow(z, inverse=True), x, atol=1e-5)
    (torch.Size([2, 768]), torch.Size([2]), True)
    """

    def __init__(
        self,
        input_shape: Sequence[int],
        *,
        levels: int = 3,
        blocks: int = 4,
        width: int = 32,
        norm: bool = False,
    ) -> None:
        super().__init__()
        shape = checked_levels(input_shape, levels)
        self.levels, self.shapes = nn.ModuleList(), list[tuple[int, int, int]]()  # of each level's rows
        for _ in range(levels):
            channels, height, other = shape[0] * 4, shape[1] // 2, shape[2] // 2
            inner = [layer for _ in range(blocks) for layer in _block(channels, width, norm)]
            self.levels.append(Chain([Squeeze(), *inner]))
            self.shapes.append((channels, height, other))
            shape = channels - channels // 2, height, other

    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """`z` and `log|det dz/dx|`: factoring out only puts numbers aside."""
        aside: list[Tensor] = []
        total = x.new_zeros(len(x))
        for level in self.levels:
            if aside:
                x = aside.pop()
            x, log_det = level(x)
            total = total + log_det
            half = x.shape[1] // 2
            aside += [x[:, :half], x[:, half:]]
        return torch.cat([part.flatten(1) for part in aside], 1), total

    def decode(self, z: Tensor) -> Tensor:
        """The images: the last level's numbers come back first, and are joined with those put aside."""
        sizes = [channels // 2 * height * width for channels, height, width in self.shapes]
        *parts, x = torch.split(z, [*sizes, z.shape[1] - sum(sizes)], 1)
        aside = list(parts)
        for level, shape in zip(reversed(list(self.levels)), reversed(self.shapes), strict=True):
            whole = torch.cat([aside.pop(), x.flatten(1)], 1).view(len(z), *shape)
            x = cast(Invertible, level).inverse(whole)
        return x


class TableFlow(Flow):
    """Blocks of an invertible mixing of all columns and a coupling in which every other column moves.

    Columns take turns: those that stay in one block move in the next.

    >>> _ = torch.manual_seed(0)
    >>> flow, x = TableFlow(5, blocks=2, width=8), torch.randn(4, 5)
    >>> z, log_det = flow(x)
    >>> z.shape, torch.allclose(flow(z, inverse=True), x, atol=1e-5)
    (torch.Size([4, 5]), True)
    """

    def __init__(self, d: int, *, blocks: int = 4, width: int = 32, norm: bool = False) -> None:
        super().__init__()
        layers: list[Invertible] = []
        for number in range(blocks):
            mask = (torch.arange(d) + number) % 2
            layers += [*([ActNorm(d)] if norm else []), Mixing(d), MaskedCoupling(mask, width)]
        self.chain = Chain(layers)

    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """`z` and `log|det dz/dx|`."""
        z, log_det = self.chain(x)
        return z, log_det

    def decode(self, z: Tensor) -> Tensor:
        """The rows of the table."""
        return self.chain.inverse(z)


def flow_of(input_shape: Sequence[int], *, levels: int, blocks: int, width: int, norm: bool = False) -> Flow:
    """The flow for inputs of this shape; `levels` are of images only.

    >>> how = {"levels": 1, "blocks": 1, "width": 4}
    >>> type(flow_of((3, 8, 8), **how)).__name__, type(flow_of((7,), **how)).__name__
    ('ImageFlow', 'TableFlow')
    """
    if len(input_shape) == 1:
        return TableFlow(input_shape[0], blocks=blocks, width=width, norm=norm)
    return ImageFlow(input_shape, levels=levels, blocks=blocks, width=width, norm=norm)


def log_normal(z: Tensor) -> Tensor:
    """`log N(z; 0, I)` of each row.

    >>> round(log_normal(torch.zeros(1, 2)).exp().item() * 2 * math.pi, 6)
    1.0
    """
    return -(z.square() + math.log(2 * math.pi)).flatten(1).sum(1) / 2


def nll_per_dimension(z: Tensor, log_det: Tensor) -> Tensor:
    """`-log p(x) / d` of each row: what a flow is trained by, in nats.

    >>> round(nll_per_dimension(torch.zeros(1, 3), torch.zeros(1)).item(), 4)
    0.9189
    """
    return -(log_normal(z) + log_det) / z[0].numel()


def checked_levels(input_shape: Sequence[int], levels: int) -> tuple[int, int, int]:
    """Channels, height and width; `InputError` where a side cannot be halved so many times.

    >>> checked_levels((1, 28, 28), 3)
    Traceback (most recent call last):
    evenhand.errors.InputError: a flow of 3 levels halves sides 3 times, which those of 28 by 28 pixels cannot
    be; use levels=2
    """
    channels, height, width = image_shape(input_shape)
    most = next(n for n in range(64) if math.gcd(height, width) % 2 ** (n + 1))
    if levels > most:
        raise InputError(
            f"a flow of {levels} levels halves sides {levels} times, which those of {height} by {width} "
            f"pixels cannot be; use {f'levels={most}' if most else 'images with even sides'}"
        )
    return channels, height, width


def _block(channels: int, width: int, norm: bool) -> list[Invertible]:
    return [*([ActNorm(channels)] if norm else []), Mixing(channels), Coupling(channels, width)]

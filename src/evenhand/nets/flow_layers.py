"""Invertible layers without a network inside: a mixing of channels, pixels into channels, scale and shift.

`forward(x)` gives `(y, log|det dy/dx| [B])` and `inverse(y)` gives x back. Its sign is that of the
change of variables, `log p(x) = log p(y) + log|det|`; the code of the authors of null-sampling carries the
negative. Nothing here keeps batch statistics, so all of it stacks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor, nn


class Invertible(nn.Module, ABC):
    """A map of rows onto rows that can be undone, and how much it stretches each of them."""

    stackable = True

    @abstractmethod
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """`y` and `log|det dy/dx|` of each row `[B]`."""

    @abstractmethod
    def inverse(self, y: Tensor) -> Tensor:
        """The x that `forward` makes y of."""


class Chain(Invertible):
    """One layer after the other; determinants multiply, so that their logarithms add up.

    >>> x = torch.rand(2, 3, 4, 4)
    >>> y, log_det = Chain([Squeeze(), Mixing(12)])(x)
    >>> y.shape, log_det.abs().max().item() < 1e-4
    (torch.Size([2, 12, 2, 2]), True)
    """

    def __init__(self, layers: Sequence[Invertible]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The last layer's rows, and the sum over the layers."""
        total = x.new_zeros(len(x))
        for layer in self.layers:
            x, log_det = layer(x)
            total = total + log_det
        return x, total

    def inverse(self, y: Tensor) -> Tensor:
        """The layers undone, last one first."""
        for layer in reversed(self.layers):
            y = cast(Invertible, layer).inverse(y)
        return y


class Mixing(Invertible):
    """An invertible 1x1 convolution `y = W x` in LU form.

    `W = P (tril(L, -1) + I) (triu(U, 1) + diag(sign exp(log_s)))`.

    `log|det| = places * sum(log_s)`, whatever L and U (Kingma and Dhariwal, Glow, NeurIPS 2018): training can
    not make W singular. P and the signs stay as they are; W begins as a random rotation. Rows of a table
    `[B, C]` are images of one place. As a product and not a convolution it is fast in a stack too.

    >>> layer, x = Mixing(4), torch.rand(2, 4, 3, 3)
    >>> y, log_det = layer(x)
    >>> torch.allclose(layer.inverse(y), x, atol=1e-6), log_det.shape
    (True, torch.Size([2]))
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self._take_apart(torch.linalg.qr(torch.randn(channels, channels))[0])

    @classmethod
    def of(cls, weight: Tensor) -> Mixing:
        """The layer of a given W, in its type.

        >>> weight = torch.tensor([[0.0, 2.0], [1.0, 1.0]])
        >>> Mixing.of(weight).weight().tolist()
        [[0.0, 2.0], [1.0, 1.0]]
        """
        layer = cls(len(weight))
        layer._take_apart(weight)
        return layer

    def _take_apart(self, weight: Tensor) -> None:
        permutation, lower, upper = torch.linalg.lu(weight.detach())
        diagonal = upper.diagonal()
        # frozen parameters, not buffers: every run of a stack has its own
        self.permutation = nn.Parameter(permutation, requires_grad=False)
        self.sign = nn.Parameter(diagonal.sign(), requires_grad=False)
        self.log_scale = nn.Parameter(diagonal.abs().log())
        self.lower, self.upper = nn.Parameter(lower.tril(-1)), nn.Parameter(upper.triu(1))

    def weight(self) -> Tensor:
        """W `[C, C]`."""
        lower, upper = self._triangles()
        return self.permutation @ lower @ upper

    def _triangles(self) -> tuple[Tensor, Tensor]:
        one = torch.ones_like(self.log_scale)
        lower = self.lower.tril(-1) + torch.diag_embed(one)
        return lower, self.upper.triu(1) + torch.diag_embed(self.sign * self.log_scale.exp())

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Every place multiplied by W."""
        places = x[0, 0].numel()
        return _multiplied(self.weight(), x), (places * self.log_scale.sum()).expand(len(x))

    def inverse(self, y: Tensor) -> Tensor:
        """Every place multiplied by `U^-1 L^-1 P'`: small matrices, for which 64 bits cost little."""
        lower, upper = (part.to(torch.float64) for part in self._triangles())
        turned = self.permutation.to(torch.float64).mT
        half = torch.linalg.solve_triangular(lower, turned, upper=False, unitriangular=True)
        return _multiplied(torch.linalg.solve_triangular(upper, half, upper=True).to(y.dtype), y)


class Squeeze(Invertible):
    """Each 2x2 pixels of a channel become one place of four channels: `[B, C, H, W]` to `[B, 4C, H/2, W/2]`.

    >>> x = torch.arange(4.0).view(1, 1, 2, 2)
    >>> Squeeze()(x)[0].flatten().tolist(), torch.equal(Squeeze().inverse(Squeeze()(x)[0]), x)
    ([0.0, 1.0, 2.0, 3.0], True)
    """

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The same numbers in other places: the determinant is 1 but for its sign."""
        rows, channels, height, width = x.shape
        fine = x.reshape(rows, channels, height // 2, 2, width // 2, 2)
        coarse = fine.permute(0, 1, 3, 5, 2, 4).reshape(rows, 4 * channels, height // 2, width // 2)
        return coarse, x.new_zeros(rows)

    def inverse(self, y: Tensor) -> Tensor:
        """The pixels where they were."""
        rows, channels, height, width = y.shape
        fine = y.reshape(rows, channels // 4, 2, 2, height, width).permute(0, 1, 4, 2, 5, 3)
        return fine.reshape(rows, channels // 4, 2 * height, 2 * width)


class ActNorm(Invertible):
    """`y = x exp(log_scale) + shift` for each channel, undone by `x = (y - shift) / exp(log_scale)`.

    It begins as the identity; `fitted` has the values at which a batch comes out with mean 0 and deviation 1
    (Kingma and Dhariwal 2018). The inverse of the authors of null-sampling returns what it was given.

    >>> x = 3 + 2 * torch.randn(50, 4, 2, 2)
    >>> layer = ActNorm.fitted(x)
    >>> y, _ = layer(x)
    >>> bool(y.mean((0, 2, 3)).abs().max() < 1e-5), torch.allclose(layer.inverse(y), x, atol=1e-5)
    (True, True)
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.log_scale, self.shift = (nn.Parameter(torch.zeros(channels)) for _ in range(2))

    @classmethod
    def fitted(cls, x: Tensor) -> ActNorm:
        """The layer that gives every channel of these rows mean 0 and (sample) deviation 1."""
        values = x.detach().transpose(0, 1).flatten(1)
        layer = cls(len(values)).to(x)
        layer.log_scale.data = -values.std(1).log()
        layer.shift.data = -values.mean(1) * layer.log_scale.exp()
        return layer

    def _along(self, x: Tensor) -> tuple[Tensor, Tensor]:
        shape = (-1, *[1] * (x.ndim - 2))
        return self.log_scale.exp().view(shape), self.shift.view(shape)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Scaled and shifted."""
        scale, shift = self._along(x)
        return x * scale + shift, (x[0, 0].numel() * self.log_scale.sum()).expand(len(x))

    def inverse(self, y: Tensor) -> Tensor:
        """Shifted back, then scaled back."""
        scale, shift = self._along(y)
        return (y - shift) / scale


def _multiplied(weight: Tensor, x: Tensor) -> Tensor:
    """W x for the channels of every place of `x [B, C, ...]`."""
    return torch.einsum("oc,bcp->bop", weight, x.flatten(2) if x.ndim > 2 else x[..., None]).view(x.shape)

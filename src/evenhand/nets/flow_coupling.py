"""Affine couplings: one part of a row stays as it is and says how the rest is scaled and shifted.

    y_kept = x_kept,   y_rest = x_rest * scale(x_kept) + shift(x_kept),   log|det| = sum log scale

(Dinh et al., Density estimation using Real NVP, ICLR 2017.) The networks inside need not be invertible. Their
last layers begin with zeros, so that a coupling begins as the identity.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from evenhand.errors import InputError
from evenhand.nets.flow_layers import Invertible
from evenhand.nets.layers import Linear, convolution
from evenhand.nets.names import no_such
from evenhand.nets.products import TAPS, weights_of

Layer = TypeVar("Layer", bound=nn.Module)
NARROW = 64  # channels up to which products are taken: they hold nine times the numbers; stacks are narrow

SCALES: dict[str, Callable[[Tensor], Tensor]] = {
    "bounded": lambda raw: torch.sigmoid(raw) + 0.5,  # within 0.5 and 1.5: no coupling can undo precision
    "exp": torch.exp,
    "sigmoid": lambda raw: torch.sigmoid(raw + 2.0),
    "none": torch.ones_like,
}


def scale_of(name: str) -> Callable[[Tensor], Tensor]:
    """How a scale is made of what a network gives: "bounded" is `sigmoid(raw) + 0.5`.

    >>> scale_of("bounded")(torch.tensor([-50.0, 0.0, 50.0])).tolist()
    [0.5, 1.0, 1.5]
    """
    if name not in SCALES:
        raise InputError(no_such("there is no scale of a coupling", name, tuple(SCALES), "There are"))
    return SCALES[name]


class Coupling(Invertible):
    """The first half of an image's channels stays; three convolutions scale and shift the rest by it.

    The network is 3x3, 1x1, 3x3 with ReLU and `width` channels between; it gives raw scales, then shifts. Of
    an odd number of channels C, `C - round(C / 2)` stay: 3 of 5, 1 of 3 (halves are rounded to even).

    >>> layer, x = Coupling(5, width=8), torch.rand(2, 5, 4, 4)
    >>> y, log_det = layer(x)
    >>> layer.kept, torch.equal(y, x), log_det.tolist()
    (3, True, [0.0, 0.0])
    """

    def __init__(self, channels: int, width: int = 32, *, scale: str = "bounded") -> None:
        super().__init__()
        moved = round(channels / 2)
        self.kept, self.scale = channels - moved, scale_of(scale)
        self.first = convolution(self.kept, width, 3, padding=1, init="default")
        self.inner = convolution(width, width, 1, init="default")
        self.last = _from_zero(convolution(width, 2 * moved, 3, padding=1, init="default"))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The rest scaled and shifted, behind what stays."""
        kept, rest = x[:, : self.kept], x[:, self.kept :]
        scale, shift = self._told(kept)
        return torch.cat([kept, rest * scale + shift], 1), scale.log().flatten(1).sum(1)

    def inverse(self, y: Tensor) -> Tensor:
        """What stays says the same of scale and shift again."""
        kept, rest = y[:, : self.kept], y[:, self.kept :]
        scale, shift = self._told(kept)
        return torch.cat([kept, (rest - shift) / scale], 1)

    def _told(self, kept: Tensor) -> tuple[Tensor, Tensor]:
        by_products = kept.is_cuda and self.inner.out_channels <= NARROW
        found = self._by_products(kept) if by_products else self._by_convolutions(kept)
        raw, shift = found.chunk(2, 1)
        return self.scale(raw), shift

    def _by_convolutions(self, h: Tensor) -> Tensor:
        found: Tensor = self.last(F.relu(self.inner(F.relu(self.first(h)))))
        return found

    def _by_products(self, h: Tensor) -> Tensor:
        """The same as products, which a stack on a GPU is faster as; a CPU is slower."""
        h = F.relu(blurred(h.permute(0, 2, 3, 1), *weights_of(self.first)))
        weight, bias = weights_of(self.inner)
        h = F.relu(h @ weight[:, :, 0, 0].mT + bias)
        return blurred(h, *weights_of(self.last)).permute(0, 3, 1, 2)


class MaskedCoupling(Invertible):
    """Columns of a table where `mask` is 1 stay; two perceptrons that see only these move the rest.

    Scales: linear, tanh, linear; shifts: linear, ReLU, linear; each with `width` units between.

    >>> layer, x = MaskedCoupling(torch.tensor([1.0, 0.0, 1.0]), width=4), torch.rand(2, 3)
    >>> y, log_det = layer(x)
    >>> torch.equal(y, x), torch.equal(layer.inverse(y), x)
    (True, True)
    """

    def __init__(self, mask: Tensor, width: int = 32, *, scale: str = "bounded") -> None:
        super().__init__()
        d = len(mask)
        # a frozen parameter, not a buffer: what a run has learnt is then told alike alone and in a stack
        self.mask = nn.Parameter(mask.to(torch.get_default_dtype()), requires_grad=False)
        self.scale = scale_of(scale)
        self.scale_first, self.scale_last = Linear(d, width), _from_zero(Linear(width, d))
        self.shift_first, self.shift_last = Linear(d, width), _from_zero(Linear(width, d))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The rest scaled and shifted."""
        scale, shift = self._told(x)
        return x * scale + shift, scale.log().sum(1)

    def inverse(self, y: Tensor) -> Tensor:
        """What stays says the same of scale and shift again."""
        scale, shift = self._told(y)
        return (y - shift) / scale

    def _told(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """1 and 0 for the columns that stay."""
        kept, moves = x * self.mask, 1 - self.mask
        scale = self.scale(self.scale_last(torch.tanh(self.scale_first(kept))))
        shift = self.shift_last(F.relu(self.shift_first(kept)))
        return scale * moves + self.mask, shift * moves


def blurred(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """`conv2d(padding=1)` of `x [B, H, W, C]` with a weight `[O, C, 3, 3]` as one product: `[B, H, W, O]`.

    >>> x, weight, bias = torch.rand(2, 5, 4, 3), torch.rand(6, 3, 3, 3), torch.rand(6)
    >>> expected = F.conv2d(x.permute(0, 3, 1, 2), weight, bias, padding=1)
    >>> torch.allclose(blurred(x, weight, bias).permute(0, 3, 1, 2), expected, atol=1e-5)
    True
    """
    _, height, width, channels = x.shape
    padded = F.pad(x, (0, 0, 1, 1, 1, 1))
    seen = [padded[:, down : down + height, right : right + width] for down, right in TAPS]
    matrix = weight.permute(2, 3, 1, 0).reshape(9 * channels, len(weight))
    return torch.cat(seen, -1) @ matrix + bias


def _from_zero(layer: Layer) -> Layer:
    """The layer with all parameters 0."""
    for parameter in layer.parameters():
        nn.init.zeros_(parameter)
    return layer

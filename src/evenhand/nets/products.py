"""Convolutions as matrix products, which is what a stack of them is fast as on a GPU.

Those of an autoencoder have kernels of 4 x 4, a stride of 2 and a padding of 1, so that a side is halved or
doubled; those of `convnet` have kernels of 3 x 3 (`thinned`), and its norms go with them. vmap turns
a convolution into one with a group for each run, for which a GPU has no good kernel: the convolutions of 120
autoencoders on batches of 64 images (32 x 32), forwards and backwards, take 34 ms on an H200 in that form and
18 ms in this one, compiled, in float32.

Images have their channels last. Neighbouring pixels 2 x 2 become one place with four times the channels; a
kernel of 4 x 4 then looks at 2 x 2 places, and four shifted pictures side by side are the matrix to multiply.
"""

from __future__ import annotations

from itertools import product
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

SHIFTS = tuple(product((0, 1), (0, 1)))
TAPS = tuple(product(range(3), range(3)))


def halved(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """`conv2d(stride=2, padding=1)` of `x [B, H, W, C]` with a weight `[O, C, 4, 4]`: `[B, H/2, W/2, O]`.

    >>> x, weight, bias = torch.rand(2, 6, 8, 3), torch.rand(5, 3, 4, 4), torch.rand(5)
    >>> expected = F.conv2d(x.permute(0, 3, 1, 2), weight, bias, stride=2, padding=1)
    >>> torch.allclose(halved(x, weight, bias).permute(0, 3, 1, 2), expected, atol=1e-5)
    True
    """
    rows, height, width, channels = x.shape
    outputs, places = weight.shape[0], (height // 2, width // 2)
    coarse = F.pad(x, (0, 0, 1, 1, 1, 1)).reshape(rows, places[0] + 1, 2, places[1] + 1, 2, channels)
    coarse = coarse.permute(0, 1, 3, 2, 4, 5).reshape(rows, places[0] + 1, places[1] + 1, 4 * channels)
    seen = [coarse[:, down : down + places[0], right : right + places[1]] for down, right in SHIFTS]
    matrix = weight.reshape(outputs, channels, 2, 2, 2, 2).permute(2, 4, 3, 5, 1, 0)
    found = torch.cat(seen, -1).reshape(-1, 16 * channels) @ matrix.reshape(16 * channels, outputs)
    return (found + bias).reshape(rows, *places, outputs)


def doubled(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """`conv_transpose2d(stride=2, padding=1)` of `x [B, H, W, C]`, weight `[C, O, 4, 4]`: `[B, 2H, 2W, O]`.

    >>> x, weight, bias = torch.rand(2, 3, 4, 6), torch.rand(6, 5, 4, 4), torch.rand(5)
    >>> expected = F.conv_transpose2d(x.permute(0, 3, 1, 2), weight, bias, stride=2, padding=1)
    >>> torch.allclose(doubled(x, weight, bias).permute(0, 3, 1, 2), expected, atol=1e-5)
    True
    """
    rows, height, width, channels = x.shape
    outputs = weight.shape[1]
    matrix = weight.reshape(channels, outputs, 2, 2, 2, 2).permute(0, 2, 4, 3, 5, 1)
    spread = x.reshape(-1, channels) @ matrix.reshape(channels, 16 * outputs)
    spread = spread.reshape(rows, height, width, 4, 4 * outputs)
    shifted = [
        F.pad(spread[:, :, :, place], (0, 0, right, 1 - right, down, 1 - down))
        for place, (down, right) in enumerate(SHIFTS)
    ]
    coarse = sum(shifted[1:], shifted[0]).reshape(rows, height + 1, width + 1, 2, 2, outputs)
    fine = coarse.permute(0, 1, 3, 2, 4, 5).reshape(rows, 2 * height + 2, 2 * width + 2, outputs)
    return fine[:, 1:-1, 1:-1] + bias


def thinned(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """`conv2d(stride=2, padding=1)` of `x [B, H, W, C]` with a weight `[O, C, 3, 3]`: every other place.

    >>> x, weight, bias = torch.rand(2, 7, 8, 3), torch.rand(5, 3, 3, 3), torch.rand(5)
    >>> expected = F.conv2d(x.permute(0, 3, 1, 2), weight, bias, stride=2, padding=1)
    >>> torch.allclose(thinned(x, weight, bias).permute(0, 3, 1, 2), expected, atol=1e-5)
    True
    """
    rows, height, width, channels = x.shape
    outputs, places = weight.shape[0], (-(-height // 2), -(-width // 2))
    padded = F.pad(x, (0, 0, 1, 1, 1, 1))
    last = tuple(2 * number - 1 for number in places)
    seen = [padded[:, down : down + last[0] : 2, right : right + last[1] : 2] for down, right in TAPS]
    matrix = weight.permute(2, 3, 1, 0).reshape(9 * channels, outputs)
    found = torch.cat(seen, -1).reshape(-1, 9 * channels) @ matrix
    return (found + bias).reshape(rows, *places, outputs)


def normalised(x: Tensor, groups: int, weight: Tensor, bias: Tensor, eps: float) -> Tensor:
    """`group_norm` of `x [B, H, W, C]`, channels last.

    >>> x, weight, bias = torch.rand(2, 4, 4, 6), torch.rand(6), torch.rand(6)
    >>> expected = F.group_norm(x.permute(0, 3, 1, 2), 3, weight, bias, 1e-5)
    >>> torch.allclose(normalised(x, 3, weight, bias, 1e-5).permute(0, 3, 1, 2), expected, atol=1e-5)
    True
    """
    parts = x.reshape(x.shape[0], -1, groups, x.shape[-1] // groups)
    variance, mean = torch.var_mean(parts, (1, 3), correction=0, keepdim=True)
    scaled = ((parts - mean) * torch.rsqrt(variance + eps)).reshape(x.shape)
    return scaled * weight + bias


def weights_of(layer: nn.Module) -> tuple[Tensor, Tensor]:
    """Weight and bias of a layer, for the functions above."""
    return cast(Tensor, layer.weight), cast(Tensor, layer.bias)

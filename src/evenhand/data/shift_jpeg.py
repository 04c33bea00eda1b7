"""JPEG compression and back: colours, halves, 8 x 8 cosine transforms, rounding; no coding of bits.

What is lost is lost by the rounding of the transforms' coefficients to multiples of a table (ITU-T T.81,
annex K), scaled by quality as the Independent JPEG Group's library does, and by storing colours at half size.
All but the transforms is done in whole numbers, by that library's own rounding.
"""

from __future__ import annotations

import math
from functools import cache

import torch
import torch.nn.functional as functional
from torch import Tensor

from evenhand.data.shift_counters import Counters

SIDE = 8
TIE = 1e-3  # ties go up on every device, whatever the last bits of the transform are
LUMINANCE = (
    (16, 11, 10, 16, 24, 40, 51, 61), (12, 12, 14, 19, 26, 58, 60, 55), (14, 13, 16, 24, 40, 57, 69, 56),
    (14, 17, 22, 29, 51, 87, 80, 62), (18, 22, 37, 56, 68, 109, 103, 77), (24, 35, 55, 64, 81, 104, 113, 92),
    (49, 64, 78, 87, 103, 121, 120, 101), (72, 92, 95, 98, 112, 100, 103, 99),
)  # fmt: skip
CHROMINANCE = (
    (17, 18, 24, 47, 99, 99, 99, 99), (18, 21, 26, 66, 99, 99, 99, 99), (24, 26, 56, 99, 99, 99, 99, 99),
    (47, 66, 99, 99, 99, 99, 99, 99), *((99,) * SIDE,) * 4,
)  # fmt: skip


def jpeg(x: Tensor, severity: float, draws: Counters) -> Tensor:
    """Images after JPEG of quality 100 (1 - s); three channels are red, green, blue, others are each grey."""
    quality = max(1, round(100 * (1 - severity)))
    height, width = x.shape[-2:]
    pixels = _padded((x * 255).round().to(torch.int32), 2 * SIDE)
    if x.shape[1] != 3:
        return _rounded(pixels, LUMINANCE, quality)[..., :height, :width].to(x.dtype) / 255
    y, colours = _to_luminance(pixels)
    y = _rounded(y, LUMINANCE, quality)[..., :height, :width]
    colours = _rounded(_halved(colours), CHROMINANCE, quality)
    colours = _doubled(colours[..., : (height + 1) // 2, : (width + 1) // 2])[..., :height, :width]
    return _to_rgb(y, colours - 128).to(x.dtype) / 255


def table(base: tuple[tuple[int, ...], ...], quality: int) -> list[list[int]]:
    """The steps of the 64 coefficients at a quality of 1 to 100; the standard's own tables are quality 50.

    >>> table(LUMINANCE, 50)[0][:3], table(LUMINANCE, 10)[0][:3], table(LUMINANCE, 100)[0][:3]
    ([16, 11, 10], [80, 55, 50], [1, 1, 1])
    """
    percent = 5000 // quality if quality < 50 else 200 - 2 * quality
    return [[min(255, max(1, (step * percent + 50) // 100)) for step in row] for row in base]


def _rounded(values: Tensor, base: tuple[tuple[int, ...], ...], quality: int) -> Tensor:
    """Bytes `[N, C, 8h, 8w]` to coefficients, rounded, and back to bytes (int32)."""
    n, channels, height, width = values.shape
    cosines = _cosines(values.device)
    steps = torch.tensor(table(base, quality), dtype=torch.float32, device=values.device)
    blocks = values.view(n, channels, height // SIDE, SIDE, width // SIDE, SIDE).transpose(3, 4)
    found = _both_ways(blocks.to(torch.float32) - 128, cosines) / steps
    found = found.sign() * (found.abs() + 0.5 + TIE).floor() * steps
    pixels = (_both_ways(found, cosines.T.contiguous()) + 128.5 + TIE).floor().clamp_(0, 255)
    return pixels.to(torch.int32).transpose(3, 4).reshape(n, channels, height, width)


def _both_ways(blocks: Tensor, matrix: Tensor) -> Tensor:
    """The product matrix · block · matrixᵀ, entry by entry: a GPU may round products of matrices to tf32."""
    down, right = torch.zeros_like(blocks), torch.zeros_like(blocks)
    for k in range(SIDE):
        down.addcmul_(matrix[:, k, None], blocks[..., k, None, :])
    for k in range(SIDE):
        right.addcmul_(down[..., k, None], matrix[:, k])
    return right


@cache
def _cosines(device: torch.device) -> Tensor:
    """The orthogonal matrix of the cosine transform of 8 numbers (DCT-II)."""
    scale = [math.sqrt((1 if k == 0 else 2) / SIDE) for k in range(SIDE)]
    rows = [[scale[k] * math.cos(math.pi * k * (2 * i + 1) / 16) for i in range(SIDE)] for k in range(SIDE)]
    return torch.tensor(rows, dtype=torch.float32, device=device)


def _padded(x: Tensor, multiple: int) -> Tensor:
    """Edge pixels repeated until both sides are multiples."""
    for dimension in (-2, -1):
        size = x.shape[dimension]
        place = torch.arange(-(-size // multiple) * multiple, device=x.device).clamp_(max=size - 1)
        x = x.index_select(dimension, place)
    return x


def _to_luminance(rgb: Tensor) -> tuple[Tensor, Tensor]:
    """Y `[N, 1, H, W]`, and Cb and Cr `[N, 2, H, W]`, in 16-bit fixed point."""
    red, green, blue = rgb.unbind(1)
    y = (19595 * red + 38470 * green + 7471 * blue + 32768) >> 16
    cb = (-11059 * red - 21709 * green + 32768 * blue + (128 << 16) + 32767) >> 16
    cr = (32768 * red - 27439 * green - 5329 * blue + (128 << 16) + 32767) >> 16
    return y[:, None], torch.stack([cb, cr], 1)


def _to_rgb(y: Tensor, colours: Tensor) -> Tensor:
    """Bytes of red, green and blue (int32) from Y and the two colours about 0."""
    cb, cr = colours.unbind(1)
    red = (91881 * cr + 32768) >> 16
    green = (-22554 * cb - 46802 * cr + 32768) >> 16
    blue = (116130 * cb + 32768) >> 16
    return (y + torch.stack([red, green, blue], 1)).clamp(0, 255)


def _halved(x: Tensor) -> Tensor:
    """The mean of each 2 x 2 pixels; ties go down and up in turn."""
    total = x[..., ::2, ::2] + x[..., 1::2, ::2] + x[..., ::2, 1::2] + x[..., 1::2, 1::2]
    return (total + 1 + torch.arange(total.shape[-1], device=x.device, dtype=torch.int32) % 2) >> 2


def _doubled(x: Tensor) -> Tensor:
    """Twice the size, each pixel 9/16, 3/16, 3/16 and 1/16 of its nearest four; ties up and down in turn."""
    large = functional.interpolate(x.to(torch.float32), scale_factor=2, mode="bilinear", align_corners=False)
    bias = 8 - torch.arange(large.shape[-1], device=x.device, dtype=torch.int32) % 2
    return ((16 * large).round().to(torch.int32) + bias) >> 4

"""Blur: by a Gaussian, and along a straight way. Pixels are added up tap by tap, entry by entry.

A convolution or a product of matrices would add in an order that depends on the batch, and a GPU might round
to tf32; a loop over the few dozen taps does neither, and is limited by memory like they are.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from evenhand.data.shift_counters import Counters

REACH = 4.0  # deviations at which a Gaussian is cut off
WAYS = ((0, 1), (1, 1), (1, 0), (1, -1))  # steps down and right: level, diagonal, upright, diagonal


def blur(x: Tensor, severity: float, draws: Counters) -> Tensor:
    """A Gaussian of deviation s times the shorter side, cut off at 4 deviations; edge pixels go on outside.

    >>> spot = torch.zeros(1, 1, 9, 9).index_fill_(2, torch.tensor(4), 1.0)
    >>> round(float(blur(spot, 1 / 9, Counters(torch.zeros(1)))[0, 0, 4, 0]), 4)
    0.3989
    """
    sigma = severity * min(x.shape[-2:])
    reach = int(REACH * sigma + 0.5)
    weights = [math.exp(-0.5 * (tap / sigma) ** 2) for tap in range(-reach, reach + 1)]
    weights = [weight / sum(weights) for weight in weights]
    for dimension in (-2, -1):
        x = _along(x, dimension, weights)
    return x


def _along(x: Tensor, dimension: int, weights: list[float]) -> Tensor:
    """The weighted sum of neighbours along one dimension; beyond the edge the edge pixel is seen."""
    size, reach = x.shape[dimension], len(weights) // 2
    place = torch.arange(-reach, size + reach, device=x.device).clamp_(0, size - 1)
    wide = x.index_select(dimension, place)
    out = torch.zeros_like(x)
    for tap, weight in enumerate(weights):
        out.add_(wide.narrow(dimension, tap, size), alpha=weight)
    return out


def motion_blur(x: Tensor, severity: float, draws: Counters) -> Tensor:
    """The mean along a way of s times the shorter side, level, upright or diagonal by chance in each image.

    A way of length l pixels is l + 1 pixels long with the one it begins at; the two at its ends count by the
    part of them that is covered.
    """
    way = (draws.uniform(1)[:, 0] * len(WAYS)).to(torch.int64)
    steps = torch.tensor(WAYS, device=x.device)[way]
    length = 1 + severity * min(x.shape[-2:]) / steps.abs().sum(1).to(x.dtype).sqrt()
    reach = math.ceil(severity * min(x.shape[-2:]) / 2)
    out = torch.zeros_like(x)
    for tap in range(-reach, reach + 1):
        weight = ((length + 1) / 2 - abs(tap)).clamp(0, 1) / length
        out += weight[:, None, None, None] * _moved(x, steps * tap)
    return out


def _moved(x: Tensor, steps: Tensor) -> Tensor:
    """Each image moved by its own whole number of pixels, `steps [N, 2]`, edges going on."""
    n, _, height, width = x.shape
    down = torch.arange(height, device=x.device) + steps[:, :1]
    right = torch.arange(width, device=x.device) + steps[:, 1:]
    image = torch.arange(n, device=x.device)[:, None, None]
    moved = x.movedim(1, -1)[image, down.clamp(0, height - 1)[:, :, None], right.clamp(0, width - 1)[:, None]]
    return moved.movedim(-1, 1)

"""What happens to pictures: contrast, brightness, coarse pixels, a covered place. Pixels are in [0, 1].

The kinds follow the common corruptions of Hendrycks and Dietterich (2019, Benchmarking neural network
robustness to common corruptions and perturbations), with severities in shares, so that images of 28 pixels
and of 224 are harmed alike.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as functional
from torch import Tensor

from evenhand.data.shift_counters import Counters

GREY = 0.5


def contrast(x: Tensor, severity: float, draws: Counters) -> Tensor:
    """Contrast lowered: m + (1 - s)(x - m), m the mean of each channel of each image.

    >>> contrast(torch.tensor([[[[0.0, 1.0]]]]), 0.5, Counters(torch.zeros(1))).tolist()
    [[[[0.25, 0.75]]]]
    """
    mean = x.mean((-2, -1), keepdim=True)
    return mean + (1 - severity) * (x - mean)


def brightness(x: Tensor, severity: float, draws: Counters) -> Tensor:
    """Light added: x + s; who calls cuts at white."""
    return x + severity


def pixelate(x: Tensor, severity: float, draws: Counters) -> Tensor:
    """Each block of b x b pixels becomes its mean, b = s times the shorter side; the last are cut."""
    height, width = x.shape[-2:]
    side = max(1, round(severity * min(height, width)))
    means = functional.avg_pool2d(x, side, ceil_mode=True)
    return means.repeat_interleave(side, -2).repeat_interleave(side, -1)[..., :height, :width]


def occlusion(x: Tensor, severity: float, draws: Counters) -> Tensor:
    """A grey square of a share s of the area, at a random place of each image, within it."""
    side = math.sqrt(severity * x.shape[-2] * x.shape[-1])
    chance = draws.uniform(2)
    rows = _covered(x.shape[-2], round(side), chance[:, 0])
    columns = _covered(x.shape[-1], round(side), chance[:, 1])
    return torch.where(rows[:, None, :, None] & columns[:, None, None, :], GREY, x)


def _covered(size: int, side: int, chance: Tensor) -> Tensor:
    """Which of `size` pixels in a line lie under a cover of `side`, `[N, size]`, every place as likely."""
    side = min(side, size)
    first = (chance * (size - side + 1)).floor()[:, None]
    place = torch.arange(size, device=chance.device)
    return (place >= first) & (place < first + side)

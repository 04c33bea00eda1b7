"""Noise on every entry: Gaussian, uniform, impulses, shot noise, lost entries.

S4 (Equalized Robustness: Towards Sustainable Fairness under Distributional Shifts, 2022) adds Gaussian and
uniform noise of one deviation to the scaled features of tables, at test time only. Images are in [0, 1] here;
who calls keeps them there.
"""

from __future__ import annotations

import math
from functools import lru_cache

import torch
from torch import Tensor

from evenhand.data.shift_counters import Counters

LEVELS = 256
MANY_PHOTONS = 1e4  # so many at white that a Poisson number is as good as a normal one
EXTREME = 3.0  # deviations of a scaled column: where a broken entry of a table lands


def gaussian(x: Tensor, severity: float, draws: Counters) -> Tensor:
    """Noise of deviation s: x + N(0, s²), independent on every entry."""
    return x + severity * _like(draws.normal(x[0].numel()), x)


def uniform(x: Tensor, severity: float, draws: Counters) -> Tensor:
    """Noise of deviation s: x + U(-√3 s, √3 s), independent on every entry."""
    return x + (2 * math.sqrt(3) * severity) * _like(draws.uniform(x[0].numel()) - 0.5, x)


def feature_dropout(x: Tensor, severity: float, draws: Counters) -> Tensor:
    """Each entry becomes 0, the mean of a z-scored column, with probability s."""
    return torch.where(draws.below(severity, x[0].numel()).view_as(x), 0.0, x)


def impulse(x: Tensor, severity: float, draws: Counters) -> Tensor:
    """Each entry becomes its low or its high extreme with probability s/2 each, each channel for itself.

    Of images that is black and white (salt and pepper), of tables 3 deviations below and above the mean.
    """
    low, high = (0.0, 1.0) if x.ndim == 4 else (-EXTREME, EXTREME)
    chance = draws.fine(x[0].numel()).view_as(x)
    # lows grow from one end and highs from the other: what is hit at a severity is hit at all greater ones
    return torch.where(chance < severity / 2, low, torch.where(chance > 1 - severity / 2, high, x))


def shot_noise(x: Tensor, severity: float, draws: Counters) -> Tensor:
    """Poisson(x/s²) s², the counting of 1/s² photons at white; x is taken at the 256 levels of a byte.

    The numbers are found by inverting the distribution functions of the 256 levels, which lie one behind the
    other in one sorted table: level + P(count <= k). The table is made on the CPU: every device has the same.
    """
    photons = 1 / severity**2
    if photons > MANY_PHOTONS:
        return x + severity * x.sqrt() * _like(draws.normal(x[0].numel()), x)
    level = (x * (LEVELS - 1)).round()
    table = _poisson(photons).to(x.device)
    chance = level.to(torch.float64) + draws.fine(x[0].numel()).view_as(x)
    place = torch.searchsorted(table, chance)
    counts = place - level.to(torch.int64) * (len(table) // LEVELS)
    return counts.to(x.dtype) * severity**2


@lru_cache(maxsize=8)
def _poisson(photons: float) -> Tensor:
    """The numbers level + P(count <= k), k = 0 .. K-1, of all levels, `[256 K]`, never decreasing."""
    most = math.ceil(photons + 9 * math.sqrt(photons) + 20)
    k = torch.arange(1, most + 1, dtype=torch.float64)
    level = torch.arange(LEVELS, dtype=torch.float64)[:, None]
    mean = level * (photons / (LEVELS - 1))
    below = torch.special.gammaincc(k.expand(LEVELS, -1), mean.expand(-1, most)).clamp_max(1.0)
    below[:, -1] = 1.0
    return torch.cummax((level + below).flatten(), 0)[0]  # sorted whatever the last bits are


def _like(numbers: Tensor, x: Tensor) -> Tensor:
    return numbers.view_as(x).to(x.dtype)

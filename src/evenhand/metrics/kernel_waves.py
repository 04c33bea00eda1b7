"""Sums of Gaussian kernels over all pairs of points, from waves instead of pairs.

A Gaussian is a sum of cosines: with a step s and points in a range of length L, for every distance in it

    exp(-d^2 / (2 sigma^2)) = sum over m of (s sigma / sqrt(2 pi)) exp(-(s m sigma)^2 / 2) cos(s m d)

up to images of the Gaussian 2 pi / s away (Poisson's sum) and waves too short to matter. Both are left out
below the last digit of a float64, so the result is exact to rounding, in n waves instead of n^2 pairs. Since
cos(u - v) = cos u cos v + sin u sin v, a quadratic form in the kernel is a sum of squares.

>>> x = torch.tensor([0.0, 1.0, 7.0], dtype=torch.float64)
>>> ones = torch.ones(3, 1, dtype=torch.float64)
>>> pairs = summed_kernel(x[:, None] - x, (1.0, 2.0)).sum()
>>> bool((forms_by_waves(x, ones, (1.0, 2.0)) - pairs).abs() < 1e-14)
True
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor

FAR = 9.0  # deviations that a gap between points may keep
REACH = 8.7  # deviations after which a Gaussian is below the last digit of a float64
LARGEST = 1e12  # deviations from 0: where a float64 is coarser than its kernels, gaps cannot be cut down
NUMBERS_AT_ONCE = {"cpu": 1 << 19, "cuda": 1 << 26}


def summed_kernel(distances: Tensor, sigmas: Sequence[float]) -> Tensor:
    """The kernels of distances, summed: one exponential and squarings where each sigma is twice the last.

    >>> summed_kernel(torch.zeros(2), (4.0, 8.0, 16.0)).tolist()
    [3.0, 3.0]
    """
    ordered = sorted(sigmas, reverse=True)
    if any(wide != 2 * narrow for wide, narrow in pairwise(ordered)):
        return torch.stack([(-((distances / sigma) ** 2) / 2).exp() for sigma in ordered]).sum(0)
    power = (-((distances / ordered[0]) ** 2) / 2).exp()
    total = power
    for _ in ordered[1:]:  # at half the sigma the kernel is its own fourth power
        power = power.square().square()
        total = total + power
    return total


def waves_needed(values: Tensor, sigmas: Sequence[float]) -> float:
    """How many waves stand for the kernels of these points; no number will do for NaN, or beyond LARGEST."""
    if values.numel() == 0 or not bool((values.abs() <= LARGEST * max(sigmas)).all()):
        return math.inf
    return _many(_step(drawn_together(values, sigmas), sigmas), sigmas)


def forms_by_waves(values: Tensor, weights: Tensor, sigmas: Sequence[float]) -> Tensor:
    """The form w' K w for each column of weights `[N, T]`, K the kernels of values `[..., N]`: `[..., T]`."""
    values = drawn_together(values, sigmas)
    step = _step(values, sigmas)
    values = values - (values.amax() + values.amin()) / 2  # smaller angles, smaller rounding
    found = torch.zeros((*values.shape[:-1], weights.shape[1]), dtype=values.dtype, device=values.device)
    every = step * torch.arange(_many(step, sigmas) + 1, device=values.device).to(values.dtype)
    at_once = max(1, NUMBERS_AT_ONCE["cuda" if values.is_cuda else "cpu"] // values.numel())
    for first in range(0, len(every), at_once):
        frequencies = every[first : first + at_once]
        angles = frequencies[:, None] * values[..., None, :]
        squares = (angles.cos() @ weights).square() + (angles.sin() @ weights).square()
        found += (_heights(frequencies, step, sigmas)[:, None] * squares).sum(-2)
    return found


def drawn_together(values: Tensor, sigmas: Sequence[float]) -> Tensor:
    """Points with every gap that no kernel reaches across cut down to that reach: one far point costs little.

    >>> drawn_together(torch.tensor([0.0, 1e6, 1.0]), (1.0,)).tolist()
    [0.0, 10.0, 1.0]
    """
    ordered, order = values.sort(dim=-1)
    excess = (ordered.diff(dim=-1) - FAR * max(sigmas)).clamp(min=0).cumsum(-1)
    ordered = torch.cat([ordered[..., :1], ordered[..., 1:] - excess], dim=-1)
    return ordered.gather(-1, order.argsort(dim=-1))


def _step(values: Tensor, sigmas: Sequence[float]) -> float:
    """Between two waves: so that images of the kernel stay out of the range of the points."""
    length = float((values.amax() - values.amin()).item())
    return 2 * math.pi / (length + REACH * max(sigmas))


def _many(step: float, sigmas: Sequence[float]) -> int:
    return math.ceil(REACH / (min(sigmas) * step))


def _heights(frequencies: Tensor, step: float, sigmas: Sequence[float]) -> Tensor:
    """How much of each wave the kernels have; one and its mirror count together, except the constant."""
    each = [sigma * (-((sigma * frequencies) ** 2) / 2).exp() for sigma in sigmas]
    twice = 2 - (frequencies == 0).to(frequencies.dtype)
    return twice * torch.stack(each).sum(0) * (step / math.sqrt(2 * math.pi))

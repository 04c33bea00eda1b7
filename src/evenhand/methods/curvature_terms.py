"""Curvature matching inside a mini-batch: how far apart the groups' curvatures are, cheap enough to train on.

    L_cm = mean over pairs of groups of MMD^2({C(x_i): g_i = a}, {C(x_i): g_i = b})

C is the one-shot estimate of `metrics.curvature`, MMD^2 the biased form of `metrics.mmd`. A pair counts if
both groups have two rows in the batch; where none does L_cm is 0 with zero gradient. S4 has two groups, one
pair; the mean over pairs is ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from evenhand.methods.terms import mask_of
from evenhand.metrics.curvature import Loss, one_shot
from evenhand.metrics.mmd import KERNELS

FEWEST = 2  # rows of a group in a batch


def curvature_gap(
    loss_of: Loss, x: Tensor, g: Tensor, n_groups: int, *, h: float | Tensor = 1.0, kernels: str = "default"
) -> Tensor:
    """L_cm of a batch; `loss_of` gives the losses of its rows without dropout; groups of -1 are masked.

    >>> x, g = torch.tensor([[0.5], [0.6], [3.0], [3.1]]), torch.tensor([0, 0, 1, 1])
    >>> curved = curvature_gap(lambda x: x[:, 0] ** 4, x, g, 2)
    >>> even = curvature_gap(lambda x: x[:, 0] ** 2, x, g, 2)
    >>> bool(curved > 1), round(even.item(), 6)
    (True, 0.0)
    """
    curvatures = one_shot(loss_of, in_columns(x), h)
    return discrepancy(curvatures, mask_of(g, n_groups, curvatures.dtype), KERNELS[kernels])


def in_columns(x: Tensor) -> Tensor:
    """The same rows, one beside the other in memory: our networks read them so.

    The gradient of a product lies in memory as its factor did, and a kernel that meets two layouts is many
    times slower.
    """
    return x.mT.contiguous().mT if x.ndim == 2 else x


def discrepancy(values: Tensor, mask: Tensor, sigmas: Sequence[float]) -> Tensor:
    """Mean MMD^2 over the pairs of groups of `values [B]`, given by `mask [B, G]`; differentiable once.

    >>> values, mask = torch.tensor([0.0, 0.0, 1e6, 1e6]), mask_of(torch.tensor([0, 0, 1, 1]), 2)
    >>> discrepancy(values, mask, (1.0, 2.0)).item()
    4.0
    """
    fixed = values.detach()
    value, slope = distance_and_slope(fixed, mask, sigmas)
    return value + (values - fixed) @ slope


def distance_and_slope(values: Tensor, mask: Tensor, sigmas: Sequence[float]) -> tuple[Tensor, Tensor]:
    """The same and its derivative for each value `[B]`, which has a closed form.

    So nothing of size B x B is kept, or gone through backwards.
    """
    counts = mask.sum(0)
    means = mask / counts.clamp(min=1)  # a column for each group: its product is the group's mean
    compared = means @ _pairs(counts >= FEWEST, mask.dtype)
    sums = kernel_sums(values, means, sigmas)
    slope = 2 * (compared * (sums.slope_of_centre - values[:, None] * sums.slope)).sum(-1)
    return (compared * sums.kernel).sum(), slope


class KernelSums(NamedTuple):
    """Sums over rows j, `[B, G]` each, T being the kernels over their sigma^2: K w, T w and T (c w)."""

    kernel: Tensor
    slope: Tensor
    slope_of_centre: Tensor


def kernel_sums(values: Tensor, weights: Tensor, sigmas: Sequence[float]) -> KernelSums:
    """The kernels of all pairs of `values [B]`, summed over one row of each with `weights [B, G]`.

    >>> found = kernel_sums(torch.zeros(2), torch.ones(2, 1), (1.0, 2.0))
    >>> found.kernel.flatten().tolist(), found.slope.flatten().tolist()
    ([4.0, 4.0], [2.5, 2.5])
    """
    wide, *narrower = sorted(sigmas, reverse=True)
    power = values[:, None] - values
    power = power.mul_(power).mul_(-0.5 / wide**2).exp_()
    kernel, slopes = power.clone(), power / wide**2
    for sigma in narrower:  # in place: fresh memory of this size costs more than the arithmetic
        power, wide = _to_the(power, (wide / sigma) ** 2), sigma
        kernel, slopes = kernel.add_(power), slopes.add_(power, alpha=1 / sigma**2)
    lines = weights.mT  # kernels are symmetric, and a product of few rows is faster than one of few columns
    both = (torch.cat([lines, lines * values]) @ slopes).mT
    return KernelSums((lines @ kernel).mT, *both.chunk(2, dim=1))


def _to_the(power: Tensor, exponent: float) -> Tensor:
    """A power in place; the fourth, of a kernel half as wide, by squaring twice."""
    if exponent != 4:
        return power.pow_(exponent)
    power = power.mul_(power)
    return power.mul_(power)


def _pairs(counted: Tensor, dtype: torch.dtype) -> Tensor:
    """The `A [G, G]` with which sum_ab A_ab m_a' K m_b is the mean MMD^2 over pairs of counted groups.

    >>> _pairs(torch.tensor([True, False, True]), torch.float32).tolist()
    [[1.0, 0.0, -1.0], [0.0, 0.0, 0.0], [-1.0, 0.0, 1.0]]
    """
    there = counted.to(dtype)
    n = there.sum()
    pairs = (n * (n - 1) / 2).clamp(min=1)
    return (torch.diag(there) * n - there[:, None] * there) / pairs

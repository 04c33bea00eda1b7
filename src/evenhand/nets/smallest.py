"""The smallest of n sizes, and how many they are when a share of them goes: what pruning decides by."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

MANY = 1_000_000  # sizes that are not sorted


def kept_largest(sizes: Tensor, share: float | Tensor, old: Tensor | None = None) -> Tensor:
    """Which of n sizes are kept `[n]` when this share of them goes: the nearest whole number, never all.

    Ranks decide and not a threshold, so that equal sizes do not change the number; what `old` had taken away
    goes first. Nothing is data-dependent but the ranks: it can be vmapped, with a share for each run.

    >>> kept_largest(torch.tensor([3.0, 1.0, 1.0, 2.0, 5.0]), 0.45).tolist()
    [True, False, False, True, True]
    """
    order = sizes if old is None else torch.where(old, sizes, -1.0)
    number = pruned_number(share, len(sizes))
    if len(sizes) > MANY and isinstance(number, int) and sizes.device.type == "cpu":
        kept = _all_but_smallest(order, number)
    else:
        kept = torch.argsort(torch.argsort(order, stable=True), stable=True) >= number
    return kept if old is None else kept & old


def _all_but_smallest(sizes: Tensor, number: int) -> Tensor:
    """The same without sorting, which takes five times as long for 20 million weights.

    >>> _all_but_smallest(torch.tensor([3.0, 1.0, 1.0, 2.0, 1.0]), 2).tolist()  # of equal ones the first go
    [True, False, False, True, True]
    """
    if number == 0:
        return torch.ones_like(sizes, dtype=torch.bool)
    sizes = sizes.nan_to_num(nan=math.inf, posinf=math.inf)  # sorted, NaN comes last
    edge = sizes.kthvalue(number).values
    equal = sizes == edge
    left = number - (sizes < edge).sum()  # how many of the equal ones go
    return ~(sizes < edge) & ~(equal & (equal.cumsum(0) <= left))


def pruned_number(share: float | Tensor, n: int) -> Any:
    """How many of n go, as a whole number or a tensor of one.

    >>> pruned_number(0.45, 64), pruned_number(1.0, 8), int(pruned_number(torch.tensor(0.45), 10))
    (29, 7, 5)
    """
    number = nearest(exact(share) * n)
    return number.clamp(max=n - 1) if isinstance(number, Tensor) else min(int(number), n - 1)


def nearest(value: Any) -> Any:
    """The nearest whole number, halves upwards; a half that rounding has moved a little is still a half."""
    return torch.floor(value + 0.5001) if isinstance(value, Tensor) else math.floor(value + 0.5001)


def exact(value: Any) -> Any:
    """A share as it was written: 0.45 in 32 bits is not 0.45, and a run alone must prune as in a stack."""
    if isinstance(value, Tensor):
        return torch.round(value.to(torch.float64) * 1e6) / 1e6
    return round(value, 6)

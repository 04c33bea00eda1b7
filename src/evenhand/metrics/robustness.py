"""Equalized Robustness: how differently curved the loss is around the rows of different groups.

    Delta ER = MMD^2( C(x) of the rows of one group, C(x) of the rows of another )

C is the curvature of the loss for the inputs (`evenhand.metrics.curvature`), MMD^2 the distance between the
two samples (`evenhand.metrics.mmd`). 0 means that both groups have the same curvatures; with five kernels it
is at most 10. It says nothing of how large curvatures are: two groups that are equally fragile have 0.

Citation: Equalized Robustness: Towards Sustainable Fairness under Distributional Shifts (S4).

>>> found = delta_er(torch.tensor([0.0, 0.0, 1e6, 1e6, 5.0]), torch.tensor([0, 0, 1, 1, -1]), n_groups=2)
>>> found.value, found.unknown
(10.0, 1)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import combinations

import numpy as np
import torch
from torch import Tensor

from evenhand.arrays import FloatArray, IntArray
from evenhand.errors import InputError
from evenhand.metrics.mmd import KERNELS, forms

FEWEST = 2  # rows that a group must have
PAIRS_AT_ONCE = 256


@dataclass(frozen=True)
class ER:
    """The distances between groups: `pairs [G, G]`, and what is read off them; undefined is NaN.

    `means` and `medians` are the curvatures of each group; `reasons` says by group why one has no distance.
    """

    pairs: FloatArray
    sizes: IntArray
    means: FloatArray
    medians: FloatArray
    unknown: int  # rows of no known group, which belong to no distance
    reasons: Mapping[int, str]

    @property
    def maximum(self) -> float:
        """The largest distance between two groups."""
        return max(self._defined().values(), default=np.nan)

    @property
    def mean(self) -> float:
        """The mean distance over pairs of groups."""
        found = self._defined()
        return float(np.mean(list(found.values()))) if found else np.nan

    @property
    def value(self) -> float:
        """Delta ER: the distance between two groups, the largest one between more."""
        return self.maximum

    @property
    def decided_by(self) -> tuple[int, int] | None:
        """The two groups that are farthest apart; None where no distance is defined."""
        found = self._defined()
        return max(found, key=lambda pair: found[pair], default=None)

    def _defined(self) -> dict[tuple[int, int], float]:
        pairs = combinations(range(len(self.pairs)), 2)
        return {pair: float(self.pairs[pair]) for pair in pairs if not np.isnan(self.pairs[pair])}


def delta_er(
    curvatures: Tensor, group_ids: Tensor, n_groups: int, kernels: str | Sequence[float] = "default"
) -> ER:
    """The distances between the groups' curvatures `[N]`; a group id of -1 is not known.

    kernels: "narrow", "default", "wide", or the sigmas themselves. A group has no distance if it has fewer
    than two rows, or a curvature that is not finite: the network's training went astray there.
    """
    values, g = curvatures.detach().to(torch.float64), group_ids.to(curvatures.device)
    if values.ndim != 1 or values.shape != g.shape:
        raise InputError(
            f"curvatures and group ids must be one a row, not {tuple(values.shape)} and {tuple(g.shape)}"
        )
    member = g[:, None] == torch.arange(n_groups, device=g.device)
    sizes = member.sum(0).cpu().numpy()
    reasons = _reasons(sizes, (member & ~values.isfinite()[:, None]).sum(0).tolist())
    own = [values[member[:, group]] for group in range(n_groups)]
    return ER(
        _pairs(values, member, [group for group in range(n_groups) if group not in reasons], kernels),
        sizes,
        np.array([v.mean().item() if len(v) else np.nan for v in own]),
        np.array([v.quantile(0.5).item() if len(v) else np.nan for v in own]),
        int((g < 0).sum()),
        reasons,
    )


def sigmas_of(kernels: str | Sequence[float]) -> tuple[float, ...]:
    """The sigmas of a set of kernels by its name, or those that are given.

    >>> sigmas_of("wid")
    Traceback (most recent call last):
    evenhand.errors.InputError: there are no kernels 'wid', only narrow, default, wide; did you mean 'wide'?
    """
    if isinstance(kernels, str):
        if kernels in KERNELS:
            return KERNELS[kernels]
        near = get_close_matches(kernels, KERNELS, n=1)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        raise InputError(f"there are no kernels {kernels!r}, only {', '.join(KERNELS)}{hint}")
    wrong = InputError(f"the sigmas of kernels are positive numbers, at least one; not {kernels!r}")
    try:
        found = tuple(float(sigma) for sigma in kernels)
    except (TypeError, ValueError):
        raise wrong from None
    if not found or not all(0 < sigma < np.inf for sigma in found):
        raise wrong
    return found


def _reasons(sizes: IntArray, lost: Sequence[int]) -> dict[int, str]:
    found = {}
    for group, (n, astray) in enumerate(zip(sizes.tolist(), lost, strict=True)):
        if n < FEWEST:
            found[group] = f"a distance needs {FEWEST} rows of a group, and it has {n}"
        elif astray:
            found[group] = f"the curvature of {astray} of {n} rows is no finite number"
    return found


def _pairs(
    values: Tensor, member: Tensor, usable: Sequence[int], kernels: str | Sequence[float]
) -> FloatArray:
    """Distances `[G, G]`, NaN in the rows and columns of groups that have none."""
    sigmas = sigmas_of(kernels)
    found = np.full((member.shape[1],) * 2, np.nan)
    found[usable, usable] = 0.0
    rows = member[:, usable].any(1)  # rows of other groups are in no distance
    values, weights = values[rows], member[rows].to(torch.float64)
    weights = weights / weights.sum(0).clamp(min=1)
    places = list(combinations(usable, 2))
    for start in range(0, len(places), PAIRS_AT_ONCE):
        first, second = (list(side) for side in zip(*places[start : start + PAIRS_AT_ONCE], strict=True))
        apart = forms(values, weights[:, first] - weights[:, second], sigmas).clamp(min=0).cpu().numpy()
        found[first, second] = found[second, first] = apart
    return found

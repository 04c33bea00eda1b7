"""Run: what distinguishes one training from another in a stack; and what a stack of them has in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import torch
from torch import Tensor

from evenhand.errors import InputError
from evenhand.methods.base import Method, float_fields


@dataclass(frozen=True)
class Run:
    """One training: its method with concrete numbers, its seeds, and which of the stack's tasks it is for.

    `seed` serves initial weights, batch order and noise; each may have one of its own, so that a source of
    variance can be switched on alone.

    >>> Run(None, seed=3, order_seed=7).seeds
    (3, 7, 3)
    """

    method: Method
    seed: int = 0
    task: int = 0
    weight_seed: int | None = None
    order_seed: int | None = None
    noise_seed: int | None = None

    @property
    def seeds(self) -> tuple[int, int, int]:
        """Seeds for weights, order and noise."""
        own = (self.weight_seed, self.order_seed, self.noise_seed)
        weights, order, noise = (self.seed if seed is None else seed for seed in own)
        return weights, order, noise


def protect_of_each(protect: Sequence[str | Sequence[str]], n_tasks: int) -> list[tuple[str, ...]]:
    """The attributes that each task of a stack protects: one list of names serves all, or each has its own.

    >>> protect_of_each(["sex"], 2), protect_of_each([("sex",), ("race",)], 2)
    ([('sex',), ('sex',)], [('sex',), ('race',)])
    """
    names = [name for name in protect if isinstance(name, str)]
    if len(names) == len(protect):
        return [tuple(names)] * n_tasks
    if names or len(protect) != n_tasks:
        raise InputError(
            f"what is protected must be a list of attributes, or one such list for each of {n_tasks} tasks"
        )
    return [tuple(each) for each in protect]


def common_method(runs: Sequence[Run]) -> tuple[Method, tuple[str, ...]]:
    """The method of a stack, and which of its fields are numbers that may differ from run to run."""
    first = runs[0].method
    names = float_fields(first)
    for run in runs:
        if type(run.method) is not type(first):
            raise InputError("runs of one stack must have one method")
        for item in fields(first):
            if item.name not in names and getattr(run.method, item.name) != getattr(first, item.name):
                raise InputError(f"runs of one stack must agree in '{item.name}': only numbers may differ")
    return first, names


def stacked_numbers(
    runs: Sequence[Run], names: Sequence[str], device: torch.device, dtype: torch.dtype
) -> dict[str, Tensor]:
    """The numbers of all runs, `[R]` for each field."""
    return {
        name: torch.tensor([float(getattr(run.method, name)) for run in runs], dtype=dtype, device=device)
        for name in names
    }

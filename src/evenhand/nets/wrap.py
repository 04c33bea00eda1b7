"""as_net: a module of one's own, seen as the networks here are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn

from evenhand.errors import InputError
from evenhand.nets.base import Features, Net


class Wrapped(Net):
    """Any module that returns logits, or logits and features; without features the second item is None."""

    def __init__(self, module: nn.Module, n_features: int, stackable: bool) -> None:
        super().__init__()
        self.module = module
        self.n_features, self.stackable = n_features, stackable
        self.head_parts = tuple(f"module.{part}" for part in getattr(module, "head_parts", ()))

    def forward(
        self, x: Tensor, noise: Mapping[str, Tensor] | None = None, taps: tuple[str, ...] = ()
    ) -> tuple[Tensor, Features]:
        """What the module gives for `x`, as a pair."""
        if taps:
            raise InputError(
                f"a module of one's own has no points to tap, but {', '.join(taps)} were asked for"
            )
        result: Any = self.module(x)
        if isinstance(result, Tensor):
            return result, None
        if isinstance(result, (tuple, list)) and len(result) == 2:
            return result[0], result[1]
        raise InputError(
            f"the module {type(self.module).__name__} returned a {type(result).__name__}; it should return "
            "logits, or the pair (logits, features)"
        )


def as_net(module: nn.Module, n_features: int | None = None, *, stackable: bool = False) -> Net:
    """The module as a `Net`: one of ours as it is, another wrapped.

    `n_features` is the width of its features if it returns them. Say `stackable=True` of a module that keeps
    no batch statistics, draws no random numbers and can be vmapped. Dropout inside such a module follows its
    own `train()` and `eval()`.

    >>> import torch
    >>> net = as_net(nn.Sequential(nn.Flatten(), nn.Linear(4, 2)))
    >>> logits, features = net(torch.zeros(3, 2, 2))
    >>> logits.shape, features
    (torch.Size([3, 2]), None)
    """
    return module if isinstance(module, Net) else Wrapped(module, n_features or 0, stackable)

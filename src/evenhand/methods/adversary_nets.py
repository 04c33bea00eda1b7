"""The small networks that adversaries are: perceptrons on features, one or one for each class."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from evenhand.errors import InputError
from evenhand.nets.head import Head

BENDS = ("leaky", "leaky-0.2", "relu")  # what stands between the layers
_OPTIONS: dict[str, dict[str, Any]] = {
    "leaky": {"activation": "leaky_relu", "slope": 0.01},
    "leaky-0.2": {"activation": "leaky_relu", "slope": 0.2},
    "relu": {"activation": "relu"},
}


def adversary(inputs: int, outputs: int, width: int, depth: int, bend: str) -> Head:
    """A perceptron of so many hidden layers with a linear end and Xavier's weights; depth 0 is linear.

    >>> [tuple(layer.weight.shape) for layer in adversary(17, 1, width=32, depth=2, bend="leaky").body.layers]
    [(32, 17), (32, 32), (1, 32)]
    """
    return Head(inputs, outputs, (width,) * depth, init="xavier", **_OPTIONS[bend])


class ClassAdversaries(nn.Module):
    """An adversary for each class: outputs `[B, classes, groups]` for features `z [B, ...]`.

    >>> nets = ClassAdversaries(2, 16, 3, width=32, depth=1, bend="relu")
    >>> nets(torch.zeros(8, 16)).shape
    torch.Size([8, 2, 3])
    """

    stackable = True

    def __init__(self, n_classes: int, inputs: int, outputs: int, width: int, depth: int, bend: str) -> None:
        super().__init__()
        self.heads = nn.ModuleList(adversary(inputs, outputs, width, depth, bend) for _ in range(n_classes))

    def forward(self, z: Tensor) -> Tensor:
        """What the adversary of each class makes of every row."""
        return torch.stack([head(z) for head in self.heads], dim=1)


def checked_width(n_features: int, name: str) -> int:
    """The width of a network's features, itself; `InputError` where it has none to show an adversary.

    >>> checked_width(0, "cfair")
    Traceback (most recent call last):
    evenhand.errors.InputError: the method 'cfair' has an adversary on the network's features, and this
    network gives none; use one of ours, or wrap yours with as_net(module, n_features=...)
    """
    if not n_features:
        raise InputError(
            f"the method '{name}' has an adversary on the network's features, and this network gives none; "
            "use one of ours, or wrap yours with as_net(module, n_features=...)"
        )
    return n_features

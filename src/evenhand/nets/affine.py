"""A ReLU network layer by layer, for computations that know a shorter way than calling it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import torch.nn.functional as F
from torch import Tensor, nn

from evenhand.nets.mlp import MLP


class Affine(NamedTuple):
    """`W a + b` for what the layer before gives, and whether a ReLU follows."""

    weight: Tensor
    bias: Tensor
    bends: bool


def affine_layers(module: nn.Module, parameters: Mapping[str, Tensor]) -> tuple[Affine, ...] | None:
    """The layers of a ReLU perceptron with these parameters in place of its own; None for other networks.

    >>> net = MLP(5, 2, blocks=((7, 6), (4,)))
    >>> [layer.bends for layer in affine_layers(net, dict(net.named_parameters()))]
    [True, False, True, False]
    >>> affine_layers(MLP(5, 2, activation="tanh"), {})
    """
    if type(module) is not MLP or module.activate is not F.relu_:
        return None
    return tuple(
        Affine(parameters[f"layers.{n - 1}.weight"], parameters[f"layers.{n - 1}.bias"], n in module.active)
        for n in range(1, len(module.layers) + 1)
    )

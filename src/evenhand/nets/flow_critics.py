"""Critics: several small residual networks side by side that read the same numbers, and their renewal."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
import torch.nn.functional as F
from torch import Tensor, nn

FIRST, SECOND = 0x7FEB352D, 0x846CA68B - (1 << 32)  # C. Wellons' 32-bit mixer, as signed numbers


class Critics(nn.Module):
    """Outputs `[K, B, outputs]` of K networks for `z [B, inputs]`: linear, residual blocks, linear.

    A block is `h + W2 relu(W1 relu(h))`, all of `width` units. Weights are Xavier-uniform, biases begin at 0.
    The numbers of all K lie in one tensor a layer, `[K, out, in]`, so that K products are one.

    >>> Critics(3, 20, 2, width=8)(torch.zeros(5, 20)).shape
    torch.Size([3, 5, 2])
    """

    stackable = True

    def __init__(self, number: int, inputs: int, outputs: int, *, width: int = 64, blocks: int = 1) -> None:
        super().__init__()
        sizes = [(inputs, width), *[(width, width)] * (2 * blocks), (width, outputs)]
        self.weights = nn.ParameterList(torch.empty(number, after, before) for before, after in sizes)
        self.biases = nn.ParameterList(torch.zeros(number, after) for _, after in sizes)
        for weight in self.weights:
            nn.init.uniform_(weight, -bound_of(weight), bound_of(weight))

    def forward(self, z: Tensor) -> Tensor:
        """What each network makes of every row."""
        h = self._first(z)
        for place in range(1, len(self.weights) - 1, 2):
            h = h + self._layer(place + 1, F.relu(self._layer(place, F.relu(h))))
        return self._layer(len(self.weights) - 1, F.relu(h))

    def _first(self, z: Tensor) -> Tensor:
        """All K read the same z: one tall product, whose gradient is summed alike alone and in a stack."""
        weight = self.weights[0]
        tall: Tensor = (weight.flatten(0, 1) @ z.mT.contiguous()).view(*weight.shape[:2], len(z))
        return tall.mT.add(self.biases[0][:, None])

    def _layer(self, place: int, h: Tensor) -> Tensor:
        found: Tensor = h @ self.weights[place].mT + self.biases[place][:, None]
        return found


def bound_of(weight: Tensor) -> float:
    """The largest weight `[K, out, in]` of Glorot and Bengio (2010): `sqrt(6 / (in + out))`; 0 of biases.

    >>> bound_of(torch.zeros(3, 2, 4)), bound_of(torch.zeros(3, 2))
    (1.0, 0.0)
    """
    return math.sqrt(6 / sum(weight.shape[-2:])) if weight.ndim == 3 else 0.0


def renewed(parameters: Mapping[str, Tensor], which: Tensor, keys: Tensor) -> dict[str, Tensor]:
    """The parameters of `Critics` with those networks begun anew that `which [K]` names.

    New weights are a function of `keys [K]` (in [0, 1)), network, layer and place: nothing is drawn here, and
    a run's are the same alone and in a stack.

    >>> parameters = dict(Critics(2, 3, 2, width=4).named_parameters())
    >>> after = renewed(parameters, torch.tensor([True, False]), torch.tensor([0.3, 0.9]))
    >>> [torch.equal(after["weights.0"][k], parameters["weights.0"][k]) for k in (0, 1)]
    [False, True]
    """
    seeds = (keys * (1 << 24)).to(torch.int32)
    found = {}
    for layer, (name, old) in enumerate(parameters.items()):
        fresh = bound_of(old) * (2 * _uniform(seeds, layer, old) - 1)
        chosen = which.view(-1, *[1] * (old.ndim - 1))
        found[name] = torch.where(chosen, fresh, old)
    return found


def _uniform(seeds: Tensor, layer: int, like: Tensor) -> Tensor:
    """Numbers in [0, 1) in the shape of a parameter `[K, ...]`."""
    size = like[0].numel()
    places = _mixed(torch.arange(1, size + 1, dtype=torch.int32, device=like.device))
    order = torch.arange(len(seeds), dtype=torch.int32, device=like.device)
    roots = _mixed(_mixed(seeds + 1) ^ (1000 * layer + order))
    bits = _mixed(places ^ roots[:, None])
    return (((bits >> 8) & 0xFFFFFF).to(like.dtype) * 2.0**-24).view(like.shape)


def _mixed(x: Tensor) -> Tensor:
    """Whole numbers (int32) scrambled, a bijection; products wrap around."""
    x = (x ^ ((x >> 16) & 0xFFFF)) * FIRST
    x = (x ^ ((x >> 15) & 0x1FFFF)) * SECOND
    return x ^ ((x >> 16) & 0xFFFF)

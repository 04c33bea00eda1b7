"""The sparsity report: how many filters and weights of each layer of a network are zero."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.parametrize import ParametrizationList

from evenhand.nets.prunable import is_matrix

HEAD = ("layer", "filters", "zero", "weights", "zero", "share")


class LayerSparsity(NamedTuple):
    """The weights of one layer and how many are zero; a filter, the weights of an output, if all of them are.

    `filters` are the outputs of the layer, whatever its kind: channels of a convolution, units of a linear
    one.
    """

    name: str
    filters: int
    zero_filters: int
    weights: int
    zero_weights: int

    @property
    def share(self) -> float:
        """The share of the weights that are zero."""
        return self.zero_weights / self.weights if self.weights else math.nan


class Sparsity(NamedTuple):
    """The report: a line for each layer that has a matrix or a kernel, and the sum."""

    layers: tuple[LayerSparsity, ...]

    @property
    def total(self) -> LayerSparsity:
        """All layers together."""
        columns = list(zip(*(layer[1:] for layer in self.layers), strict=True)) or [(0,)] * 4
        return LayerSparsity("all", *(sum(column) for column in columns))

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values."""
        lines = [layer._asdict() | {"share": layer.share} for layer in (*self.layers, self.total)]
        return {"layers": lines[:-1], "total": lines[-1]}

    def __str__(self) -> str:
        lines = [(*map(str, layer), f"{layer.share:.4f}") for layer in (*self.layers, self.total)]
        widths = [max(map(len, column)) for column in zip(HEAD, *lines, strict=True)]
        return "\n".join(_line(line, widths) for line in (HEAD, *lines))


def sparsity(module: nn.Module) -> Sparsity:
    """Count the zeros of a network, layer by layer.

    >>> from evenhand.nets.pruning import apply_masks, filter_masks
    >>> net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.Conv2d(4, 8, 3), nn.Flatten(), nn.Linear(8, 2))
    >>> print(sparsity(apply_masks(net, filter_masks(net, 0.25))))
    layer  filters  zero  weights  zero   share
    0            4     0       36     0  0.0000
    1            8     2      288    72  0.2500
    3            2     0       16     0  0.0000
    all         14     2      340    72  0.2118
    """
    return Sparsity(tuple(_counted(name, weight) for name, weight in _weights(module)))


def _weights(module: nn.Module) -> Iterator[tuple[str, Tensor]]:
    """The weights of the layers, shared ones once; also where a layer makes them when they are read."""
    seen: set[int] = set()
    for name, part in module.named_modules():
        for key, weight in _matrices(part):
            if id(weight) not in seen:
                if isinstance(weight, nn.Parameter):
                    seen.add(id(weight))
                yield name if key == "weight" else f"{name}.{key}".lstrip("."), weight.detach()


def _matrices(part: nn.Module) -> list[tuple[str, Tensor]]:
    """What a layer has of matrices and kernels: its `weight`, or such as attention and recurrence have."""
    if isinstance(part, ParametrizationList):  # of what a weight is made, which its layer tells
        return []
    weight = getattr(part, "weight", None)
    found = {"weight": weight} if isinstance(weight, Tensor) else dict(part.named_parameters(recurse=False))
    return [(name, value) for name, value in found.items() if is_matrix(part, value)]


@torch.no_grad()
def _counted(name: str, weight: Tensor) -> LayerSparsity:
    zero = weight.flatten(1) == 0
    return LayerSparsity(name, len(zero), int(zero.all(1).sum()), zero.numel(), int(zero.sum()))


def _line(cells: tuple[str, ...], widths: list[int]) -> str:
    first, *rest = (
        cell.ljust(width) if place == 0 else cell.rjust(width)
        for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return "  ".join([first, *rest]).rstrip()

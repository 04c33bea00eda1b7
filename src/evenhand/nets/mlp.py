"""Multi-layer perceptrons: the plain one, and those of the studies, in blocks with a linear end."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import cast

import torch.nn.functional as F
from torch import Tensor, nn

from evenhand.errors import InputError
from evenhand.nets.base import Net, Points, checked_split
from evenhand.nets.layers import Linear, activation_of, checked_dropout
from evenhand.records import NoiseSpec


class MLP(Net):
    """Linear layers with an activation, and dropout if wanted, after each hidden one; inputs are flattened.

    `widths=(100, 64)` is inputs-100-64-outputs. `blocks=((100, 64), (32,))` is an encoder inputs-100-64 and a
    head 64-32-outputs, with activation and dropout inside the blocks only: what an encoder ends with is
    linear. Features are the last hidden layer, or what the last encoder ends with; `split=1` takes them after
    the first layer, "layer0" being the input. `legacy_activation` puts the activation after the last layer of
    every block as well, outputs included.

    >>> net = MLP(102, 2, blocks=((100, 64), (32,)), dropout=0.25)
    >>> [tuple(layer.weight.shape) for layer in net.layers]
    [(100, 102), (64, 100), (32, 64), (2, 32)]
    >>> net.split, net.n_features, net.noise()["dropout1"].p
    ('layer2', 64, 0.25)
    """

    stackable = True

    def __init__(
        self,
        inputs: int | Sequence[int],
        outputs: int,
        widths: Sequence[int] = (64, 64),
        *,
        blocks: Sequence[Sequence[int]] | None = None,
        activation: str = "relu",
        slope: float = 0.01,
        dropout: float = 0.0,
        init: str = "default",
        legacy_activation: bool = False,
        split: int | str | None = None,
    ) -> None:
        super().__init__()
        hidden, ends = _plan(widths, blocks)
        n_inputs = inputs if isinstance(inputs, int) else math.prod(inputs)
        self.sizes = (n_inputs, *hidden, outputs)
        self.layers = nn.ModuleList(Linear(a, b, init=init) for a, b in pairwise(self.sizes))
        # a layer's result is nobody else's, so that it may be overwritten: a fifth of the time of a stack
        self.activate = F.relu_ if activation == "relu" else activation_of(activation, slope)
        inside = frozenset(range(1, len(hidden) + 1)) - ends
        self.active = inside | ends | {len(hidden) + 1} if legacy_activation else inside
        self.dropout = checked_dropout(dropout)
        self.dropped = inside if dropout else frozenset()
        self.splits = tuple(f"layer{number}" for number in range(len(hidden) + 1))
        default = max(ends) if ends else len(hidden)
        chosen = default if split is None else split
        self.split = checked_split(f"layer{chosen}" if isinstance(chosen, int) else chosen, self.splits)
        self.n_features = self.sizes[self.splits.index(self.split)]

    def noise(self) -> dict[str, NoiseSpec]:
        """A mask `[width]` for each hidden layer that is thinned: "dropout1" is for the first layer."""
        return {
            f"dropout{number}": NoiseSpec("keep", (self.sizes[number],), self.dropout)
            for number in sorted(self.dropped)
        }

    def forward(
        self, x: Tensor, noise: Mapping[str, Tensor] | None = None, taps: tuple[str, ...] = ()
    ) -> tuple[Tensor, Tensor | tuple[Tensor, ...]]:
        """Logits `[B, outputs]` and features `[B, n_features]` for `x [B, ...]`."""
        points = Points(self, taps)
        h = points.at("layer0", x.flatten(1)).mT  # rows stand as columns: what is made is then contiguous
        for number, layer in enumerate(self.layers, 1):
            h = cast(Linear, layer).columns(h)
            if number in self.active:
                h = self.activate(h)
            if noise is not None and number in self.dropped:
                h = h * noise[f"dropout{number}"].mT
            points.at(f"layer{number}", h.mT)
        return h.mT, points.features()


def _plan(widths: Sequence[int], blocks: Sequence[Sequence[int]] | None) -> tuple[list[int], frozenset[int]]:
    """The hidden widths, and the numbers of the layers that end an encoder block (from 1)."""
    if blocks is None:
        return list(widths), frozenset()
    if not blocks or not all(blocks[:-1]):
        raise InputError(
            f"blocks={blocks!r} has an encoder without a width; only the head, the last, may be empty"
        )
    *encoders, head = blocks
    ends, depth = [], 0
    for block in encoders:
        depth += len(block)
        ends.append(depth)
    return [*(width for block in encoders for width in block), *head], frozenset(ends)


def s3_mlp(
    inputs: int | Sequence[int],
    outputs: int,
    *,
    width: int = 32,
    latent: int = 16,
    slope: float = 0.01,
    legacy_activation: bool = False,
    split: int | str | None = None,
) -> MLP:
    """Encoder inputs-w-w-16 and head 16-w-w-outputs of the CI-MNIST study, LeakyReLU, Xavier weights.

    The study's code also activates what the encoder and the head end with: `legacy_activation=True`.

    >>> s3_mlp(3072, 2).sizes
    (3072, 32, 32, 16, 32, 32, 2)
    """
    blocks = ((width, width, latent), (width, width))
    return MLP(
        inputs, outputs, blocks=blocks, activation="leaky_relu", slope=slope, init="xavier",
        legacy_activation=legacy_activation, split=split,
    )  # fmt: skip


def s4_mlp(
    inputs: int | Sequence[int], outputs: int, *, dropout: float = 0.25, split: int | str | None = None
) -> MLP:
    """Encoder inputs-100-64 and head 64-32-outputs of the equalized-robustness study, ReLU and dropout.

    >>> s4_mlp(102, 2).sizes
    (102, 100, 64, 32, 2)
    """
    return MLP(inputs, outputs, blocks=((100, 64), (32,)), dropout=dropout, split=split)

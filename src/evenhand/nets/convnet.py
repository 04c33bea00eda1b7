"""Small convolutional networks that stack: one for images of 28 to 64 pixels, and the CI-MNIST study's."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import ClassVar, cast

import torch
from torch import Tensor, nn

from evenhand.errors import InputError
from evenhand.nets.base import Net, Points, checked_split
from evenhand.nets.layers import Linear, activation_of, checked_dropout, convolution
from evenhand.nets.mlp import MLP
from evenhand.nets.products import normalised, thinned, weights_of
from evenhand.records import NoiseSpec


class ConvNet(Net):
    """3x3 convolutions with stride 2, each followed by group normalisation and activation; mean; linear.

    Group normalisation (Wu and He 2018) looks at one image at a time: it keeps nothing from batch to batch,
    so many such networks can be trained as a stack. Features are the pooled vector, as wide as the last
    convolution, or one of "conv1", ... `[B, C, H, W]`.

    >>> net = ConvNet((3, 32, 32), 10, widths=(16, 32))
    >>> net.splits, net.n_features
    (('conv1', 'conv2', 'pooled'), 32)
    """

    stackable = True
    products: ClassVar[bool] = True  # where they are compiled for a GPU; benchmarks compare

    def __init__(
        self,
        input_shape: Sequence[int],
        outputs: int,
        *,
        widths: Sequence[int] = (32, 64, 128, 128),
        activation: str = "relu",
        slope: float = 0.01,
        dropout: float = 0.0,
        init: str = "default",
        split: str = "pooled",
    ) -> None:
        super().__init__()
        channels, height, width = image_shape(input_shape)
        self.convolutions = nn.ModuleList(
            convolution(a, b, 3, stride=2, padding=1, init=init) for a, b in pairwise((channels, *widths))
        )
        self.norms = nn.ModuleList(nn.GroupNorm(math.gcd(8, width), width) for width in widths)
        self.followed_by = {f"convolutions.{place}": f"norms.{place}" for place in range(len(widths))}
        self.activate = activation_of(activation, slope)
        self.last = Linear(widths[-1], outputs, init=init)
        self.dropout = checked_dropout(dropout)
        self.splits = (*(f"conv{number}" for number in range(1, len(widths) + 1)), "pooled")
        self.maps = self.splits[:-1]
        self.split = checked_split(split, self.splits)
        place = self.splits.index(split)
        area = math.prod(-(-side // 2 ** (place + 1)) for side in (height, width))
        self.n_features = widths[-1] if split == "pooled" else widths[place] * area

    def noise(self) -> dict[str, NoiseSpec]:
        """A mask for the pooled vector where there is dropout."""
        size = self.last.weight.shape[1]
        return {"dropout": NoiseSpec("keep", (size,), self.dropout)} if self.dropout else {}

    def forward(
        self, x: Tensor, noise: Mapping[str, Tensor] | None = None, taps: tuple[str, ...] = ()
    ) -> tuple[Tensor, Tensor | tuple[Tensor, ...]]:
        """Logits `[B, outputs]` and features for `x [B, channels, height, width]`."""
        points = Points(self, taps)
        # uncompiled, the nine shifted pictures are written to memory, which takes longer, and much of it
        by_products = x.is_cuda and self.products and torch.compiler.is_compiling()
        z = self._by_products(x, points) if by_products else self._by_convolutions(x, points)
        if noise is not None and self.dropout:
            z = z * noise["dropout"]
        return self.last(points.at("pooled", z)), points.features()

    def _by_convolutions(self, x: Tensor, points: Points) -> Tensor:
        """The pooled vector."""
        for number, (convolve, normalise) in enumerate(zip(self.convolutions, self.norms, strict=True), 1):
            x = points.at(f"conv{number}", self.activate(normalise(convolve(x))))
        return x.mean((-2, -1))

    def _by_products(self, x: Tensor, points: Points) -> Tensor:
        """The same as products, channels last: what a compiled stack on a GPU is faster as."""
        x = x.permute(0, 2, 3, 1)
        for number, (convolve, norm) in enumerate(zip(self.convolutions, self.norms, strict=True), 1):
            x = thinned(x, *weights_of(convolve))
            groups, eps = cast(nn.GroupNorm, norm).num_groups, cast(nn.GroupNorm, norm).eps
            x = self.activate(normalised(x, groups, *weights_of(norm), eps))
            x = points.at(f"conv{number}", x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
        return x.mean((1, 2))


class S3CNN(Net):
    """The convolutional baseline of the CI-MNIST study, for images of 32 pixels.

    Convolutions 3-32-64-64 (4x4, stride 2) and 64-256 (4x4) down to one place, 1x1 to 16 features, then
    16-32-32-outputs; LeakyReLU between layers, Xavier weights. Inputs in [-1, 1] are mapped to [0, 1] as
    the study does. Its code passed True where the slope goes, 1.0: all activations among the convolutions are
    the identity there, and `legacy_linear=True` repeats it.

    >>> S3CNN((3, 32, 32), 2).n_features
    16
    """

    stackable = True
    splits = ("latent",)
    split = "latent"

    def __init__(
        self,
        input_shape: Sequence[int],
        outputs: int,
        *,
        width: int = 32,
        latent: int = 16,
        slope: float = 0.01,
        legacy_linear: bool = False,
    ) -> None:
        super().__init__()
        channels, height, other = image_shape(input_shape)
        if {height // 8, other // 8} != {4}:
            raise InputError(
                f"'s3-cnn' reads images of 32 by 32 pixels, not {height} by {other}; use 'convnet'"
            )
        halving = [
            convolution(a, b, 4, stride=2, padding=1, init="xavier")
            for a, b in pairwise((channels, 32, 64, 64))
        ]
        ending = [convolution(64, 256, 4, init="xavier"), convolution(256, latent, 1, init="xavier")]
        self.trunk = nn.ModuleList([*halving, *ending])
        self.activate = activation_of("identity" if legacy_linear else "leaky_relu", slope)
        self.classifier = MLP(
            latent, outputs, (width, width), activation="leaky_relu", slope=slope, init="xavier"
        )
        self.n_features = latent

    def forward(
        self, x: Tensor, noise: Mapping[str, Tensor] | None = None, taps: tuple[str, ...] = ()
    ) -> tuple[Tensor, Tensor | tuple[Tensor, ...]]:
        """Logits `[B, outputs]` and the latent code `[B, 16]` for `x [B, channels, 32, 32]` in [-1, 1]."""
        points = Points(self, taps)
        h = (x + 1) / 2
        *convolutions, last = self.trunk
        for convolve in convolutions:
            h = self.activate(convolve(h))
        latent = points.at("latent", last(h).flatten(1))
        return self.classifier(latent)[0], points.features()


def image_shape(input_shape: Sequence[int]) -> tuple[int, int, int]:
    """Channels, height and width; `InputError` where the inputs are no images."""
    if len(input_shape) != 3:
        raise InputError(f"images have the shape (channels, height, width), not {tuple(input_shape)}")
    channels, height, width = input_shape
    return channels, height, width

"""Residual networks for small images: CIFAR ResNet-18 and ResNet-32x4."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch.nn.functional as F
from torch import Tensor, nn

from evenhand.errors import InputError
from evenhand.nets.base import Net, Points, checked_split
from evenhand.nets.convnet import image_shape
from evenhand.nets.layers import Linear, convolution
from evenhand.nets.names import no_such

NORMS = ("batch", "group")


def normalisation(kind: str, width: int) -> nn.Module:
    """Batch normalisation, or group normalisation, which keeps no statistics and therefore stacks."""
    if kind not in NORMS:
        raise InputError(no_such("there is no normalisation", kind, NORMS, "There are"))
    return nn.BatchNorm2d(width) if kind == "batch" else nn.GroupNorm(math.gcd(32, width), width)


class BasicBlock(nn.Module):
    """Two 3x3 convolutions beside a short cut, which is a 1x1 convolution where the shape changes."""

    def __init__(self, inputs: int, outputs: int, stride: int, norm: str, init: str) -> None:
        super().__init__()
        self.conv1 = convolution(inputs, outputs, 3, stride=stride, padding=1, bias=False, init=init)
        self.norm1 = normalisation(norm, outputs)
        self.conv2 = convolution(outputs, outputs, 3, padding=1, bias=False, init=init)
        self.norm2 = normalisation(norm, outputs)
        self.shortcut = nn.Sequential()
        if stride != 1 or inputs != outputs:
            self.shortcut.append(convolution(inputs, outputs, 1, stride=stride, bias=False, init=init))
            self.shortcut.append(normalisation(norm, outputs))

    def forward(self, x: Tensor) -> Tensor:
        """`[B, outputs, H / stride, W / stride]` for `x [B, inputs, H, W]`."""
        h = F.relu(self.norm1(self.conv1(x)))
        return F.relu(self.norm2(self.conv2(h)) + self.shortcut(x))


class CifarResNet(Net):
    """A 3x3 stem without pooling, stages of basic blocks, each but the first halving the image, mean, linear.

    Split points are "f0" (the stem), "f1" ... (the stages, `[B, C, H, W]`) and last the pooled vector, which
    is the default. norm="batch" keeps running statistics, so such a network is trained by itself;
    norm="group" stacks (He et al. 2016; Wu and He 2018).
    """

    def __init__(
        self,
        input_shape: Sequence[int],
        outputs: int,
        *,
        stem: int,
        widths: Sequence[int],
        blocks: int,
        norm: str = "batch",
        init: str = "default",
        split: str | None = None,
    ) -> None:
        super().__init__()
        channels, height, width = image_shape(input_shape)
        self.stem = convolution(channels, stem, 3, padding=1, bias=False, init=init)
        self.norm = normalisation(norm, stem)
        self.stages = nn.ModuleList()
        for number, (inputs, size) in enumerate(zip((stem, *widths), widths, strict=False)):
            first = BasicBlock(inputs, size, 2 if number else 1, norm, init)
            others = (BasicBlock(size, size, 1, norm, init) for _ in range(blocks - 1))
            self.stages.append(nn.Sequential(first, *others))
        self.last = Linear(widths[-1], outputs)
        self.stackable = norm == "group"
        self.splits = tuple(f"f{number}" for number in range(len(widths) + 2))
        self.maps = self.splits[:-1]
        self.split = checked_split(self.splits[-1] if split is None else split, self.splits)
        place = self.splits.index(self.split)
        area = math.prod(-(-side // 2 ** max(place - 1, 0)) for side in (height, width))
        self.n_features = (stem * area, *(size * area for size in widths), widths[-1])[place]

    def forward(
        self, x: Tensor, noise: Mapping[str, Tensor] | None = None, taps: tuple[str, ...] = ()
    ) -> tuple[Tensor, Tensor | tuple[Tensor, ...]]:
        """Logits `[B, outputs]` and features for `x [B, channels, height, width]`."""
        points = Points(self, taps)
        h = points.at("f0", F.relu(self.norm(self.stem(x))))
        for number, stage in enumerate(self.stages, 1):
            h = points.at(f"f{number}", stage(h))
        pooled = points.at(self.splits[-1], h.mean((-2, -1)))
        return self.last(pooled), points.features()


def cifar_resnet18(
    input_shape: Sequence[int],
    outputs: int,
    *,
    norm: str = "batch",
    init: str = "default",
    split: str | None = None,
) -> CifarResNet:
    """ResNet-18 for 32 pixels: stem 64, four stages 64-128-256-512 of two blocks; 11,173,962 parameters.

    >>> cifar_resnet18((3, 32, 32), 10, split="f3").n_features
    16384
    """
    widths = (64, 128, 256, 512)
    return CifarResNet(
        input_shape, outputs, stem=64, widths=widths, blocks=2, norm=norm, init=init, split=split
    )


def resnet32x4(
    input_shape: Sequence[int],
    outputs: int,
    *,
    norm: str = "batch",
    init: str = "kaiming",
    split: str | None = None,
) -> CifarResNet:
    """ResNet-32x4: stem 32, three stages 64-128-256 of five blocks, weights drawn by fan-out.

    Taps for distillation: "f0" the stem, "f1", "f2", "f3" the stages, "f4" the pooled vector.

    >>> resnet32x4((3, 32, 32), 100).splits
    ('f0', 'f1', 'f2', 'f3', 'f4')
    """
    widths = (64, 128, 256)
    return CifarResNet(
        input_shape, outputs, stem=32, widths=widths, blocks=5, norm=norm, init=init, split=split
    )

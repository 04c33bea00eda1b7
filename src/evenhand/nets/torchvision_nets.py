"""ResNet-18, -34 and -50 for large images, built by torchvision (the extra `vision`)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from evenhand.errors import InputError
from evenhand.nets.base import Net, Points, checked_split
from evenhand.nets.convnet import image_shape
from evenhand.nets.layers import Linear, checked_dropout
from evenhand.nets.names import no_such
from evenhand.nets.weights import FILES, find_weights
from evenhand.records import NoiseSpec

HEADS = ("linear", "wang")


class TorchvisionResNet(Net):
    """A ResNet of torchvision (He et al. 2016) with outputs of one's own.

    Split points: "conv4" and "conv5", what its last two stages give `[B, C, H, W]`, and "pooled" `[B, C]`.
    head="wang" is C-C, ReLU, dropout, outputs (Wang et al. 2020); dropout with head="linear" thins the
    pooled vector. pretrained=True or "v1" are the ImageNet weights that the published studies used, "v2" the
    newer ones of ResNet-50; a file that is not at hand is an error, never random weights.
    """

    splits = ("conv4", "conv5", "pooled")
    maps = ("conv4", "conv5")

    def __init__(
        self,
        input_shape: Sequence[int],
        outputs: int,
        *,
        name: str,
        pretrained: bool | str = False,
        head: str = "linear",
        dropout: float = 0.0,
        split: str = "pooled",
    ) -> None:
        super().__init__()
        channels, height, width = image_shape(input_shape)
        if channels != 3:
            raise InputError(f"'{name}' reads images of 3 channels, not of {channels}")
        if head not in HEADS:
            raise InputError(no_such("there is no head", head, HEADS, "There are"))
        self.split = checked_split(split, self.splits)
        self.body = _body(name, pretrained)
        size = self.body.fc.in_features
        self.body.fc = nn.Identity()
        self.hidden = Linear(size, size) if head == "wang" else None
        self.last = Linear(size, outputs)
        self.head_parts = ("last",) if self.hidden is None else ("hidden", "last")
        self.dropout = checked_dropout(dropout)
        self.size = size
        self.n_features = size if split == "pooled" else _stage_width(split, size, height, width)

    def noise(self) -> dict[str, NoiseSpec]:
        """A mask for what the last layer reads, where there is dropout."""
        return {"dropout": NoiseSpec("keep", (self.size,), self.dropout)} if self.dropout else {}

    def forward(
        self, x: Tensor, noise: Mapping[str, Tensor] | None = None, taps: tuple[str, ...] = ()
    ) -> tuple[Tensor, Tensor | tuple[Tensor, ...]]:
        """Logits `[B, outputs]` and features for `x [B, 3, height, width]`."""
        points, body = Points(self, taps), self.body
        h = body.maxpool(F.relu(body.bn1(body.conv1(x))))
        h = points.at("conv4", body.layer3(body.layer2(body.layer1(h))))
        h = points.at("conv5", body.layer4(h)).mean((-2, -1))
        if self.hidden is not None:
            h = F.relu(self.hidden(points.at("pooled", h)))
        if noise is not None and self.dropout:
            h = h * noise["dropout"]
        if self.hidden is None:
            points.at("pooled", h)
        return self.last(h), points.features()


def _stage_width(split: str, size: int, height: int, width: int) -> int:
    """Channels times places of a stage's output: each of its convolutions with stride 2 rounds up."""
    channels, reduction = (size // 2, 16) if split == "conv4" else (size, 32)
    return channels * math.prod(-(-side // reduction) for side in (height, width))


def _body(name: str, pretrained: bool | str) -> Any:
    """Torchvision's network, with the published weights in it if they are wanted."""
    wanted = "v1" if pretrained is True else pretrained
    if wanted and (name, wanted) not in FILES:
        known = [version for net, version in FILES if net == name]
        raise InputError(no_such(f"'{name}' has no pretrained weights", wanted, known, "It has"))
    try:
        from torchvision import models
    except (ImportError, RuntimeError) as error:  # RuntimeError: a build for another torch
        raise InputError(
            f"'{name}' is built by torchvision, which cannot be imported ({error}); "
            "install the one that fits torch: pip install 'evenhand[vision]'"
        ) from error
    body = getattr(models, name)(weights=None)
    if wanted:
        path = find_weights(FILES[name, str(wanted)])
        body.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
    return body

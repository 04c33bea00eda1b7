"""Augmentation on the device, for all rows at once, from the run's own stream."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from evenhand.train.streams import Streams

PAD = 4


def augmented(x: Tensor, kind: str, streams: Streams, step: int) -> Tensor:
    """Images `[R, B, C, H, W]` flipped, or cropped out of a padded frame and flipped.

    >>> x = torch.arange(16.0).view(1, 1, 1, 4, 4)
    >>> augmented(x, "crop-flip", Streams([0]), 0).shape
    torch.Size([1, 1, 1, 4, 4])
    """
    if kind == "none":
        return x
    runs, rows, _, height, width = x.shape
    drawn = streams.uniform("augment", step, 3 * rows).view(runs, 3, rows)
    columns = torch.arange(width, device=x.device).expand(runs, rows, width)
    columns = torch.where(drawn[:, 0, :, None] < 0.5, columns.flip(-1), columns)
    lines = torch.arange(height, device=x.device).expand(runs, rows, height)
    images = x.flatten(0, 1)
    if kind == "crop-flip":
        images = functional.pad(images, (PAD, PAD, PAD, PAD))
        shift = (drawn[:, 1:] * (2 * PAD + 1)).to(torch.int64)
        lines, columns = lines + shift[:, 0, :, None], columns + shift[:, 1, :, None]
    place = torch.arange(runs * rows, device=x.device).view(-1, 1, 1)
    line, column = lines.flatten(0, 1)[:, :, None], columns.flatten(0, 1)[:, None]
    picked = images.permute(0, 2, 3, 1)[place, line, column]
    return picked.permute(0, 3, 1, 2).view(x.shape)

"""CIFAR-10: small photographs of ten kinds of things, 32 x 32."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from evenhand.data.cache import Progress
from evenhand.data.card import DataCard
from evenhand.data.cifar10_files import CLASSES, FORMS, Pictures, read_cifar10
from evenhand.data.halves import halves
from evenhand.data.splits import as_split, cut
from evenhand.data.task import Scaling, Task

CITATION = "Krizhevsky. Learning Multiple Layers of Features from Tiny Images. Technical report, 2009."
LICENCE = "none stated by the author; the rights in the images are unclear (80 Million Tiny Images)"

BLOCK = 4096  # images counted at once


def cifar10(
    form: str | None = None, *, validation: float = 0.0, seed: int = 0, progress: Progress | None = None
) -> Task:
    """The ten classes, scaled by mean and deviation of each channel of the training images.

    `form`: "official" (the binary archive, downloaded if there is a network), "lossless-4k" or "jpeg75" (see
    `FORMS`); without it the official archive, and never another form unasked. `validation` of the training
    images, drawn by `seed`, are for validation; by default there is no such part.
    """
    pictures = read_cifar10(form, progress)
    split = training_split(pictures.n_train, len(pictures.y), validation, seed)
    light = pictures.x.flatten(1).sum(1, dtype=torch.int64).numpy()
    train, classes, levels = split["train"].numpy(), pictures.y.numpy(), ("dark", "bright")
    knobs = {"form": pictures.form, "validation": validation, "seed": seed}
    notes = (
        "CIFAR-10 has no protected attribute. `brightness` (cut at the median of the training images) and "
        "`brightness_in_class` (of those of its class) are measured on the picture, to try a method out.",
    )
    return Task(
        name="cifar10",
        x=pictures.x,
        y=pictures.y,
        attributes=(
            halves("brightness", levels, light, train),
            halves("brightness_in_class", levels, light, train, classes),
        ),
        split=split,
        card=card("CIFAR-10", pictures, notes, knobs),
        classes=CLASSES,
        scaling=channel_scaling(pictures.x, split["train"]),
    )


def training_split(n_train: int, n_rows: int, validation: float, seed: int) -> dict[str, Tensor]:
    """The first `n_train` rows for training, drawn if some are for validation; the others for test."""
    order = np.arange(n_rows)
    if validation:
        order[:n_train] = np.random.default_rng(seed).permutation(n_train)
    return as_split(cut(order, n_train, validation))


def channel_scaling(x: Tensor, rows: Tensor) -> Scaling:
    """Mean and standard deviation of each channel over the given images, exact: from counts of the 256 bytes.

    >>> channel_scaling(torch.tensor([[[[0, 2]]], [[[7, 7]]]], dtype=torch.uint8), torch.tensor([0]))
    Scaling(shift=(1.0,), scale=(1.0,))
    """
    counts = torch.zeros(x.shape[1], 256, dtype=torch.float64)
    for block in torch.split(rows, BLOCK):
        for channel, found in enumerate(counts):
            found += torch.bincount(x[block, channel].flatten(), minlength=256)
    values = torch.arange(256, dtype=torch.float64)
    n = counts.sum(1)
    mean = counts @ values / n
    variance = (counts * (values - mean[:, None]) ** 2).sum(1) / n
    return Scaling(tuple(mean.tolist()), tuple(variance.sqrt().tolist()))


def card(title: str, pictures: Pictures, notes: tuple[str, ...], knobs: Mapping[str, object]) -> DataCard:
    """The card of CIFAR-10 or of a task made from it."""
    return DataCard(
        title=title,
        about="Colour photographs of ten kinds of things, 32 x 32 pixels.",
        origin=f"{FORMS[pictures.form]} (www.cs.toronto.edu/~kriz/cifar.html)",
        licence=LICENCE,
        citation=CITATION,
        target="kind of thing, ten classes",
        notes=notes,
        files=pictures.files,
        knobs=knobs,
    )

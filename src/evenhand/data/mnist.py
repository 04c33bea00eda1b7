"""MNIST: handwritten digits, 28 x 28, ten classes."""

from __future__ import annotations

import numpy as np
import torch

from evenhand.arrays import Array
from evenhand.data.cache import Progress
from evenhand.data.card import DataCard
from evenhand.data.halves import halves
from evenhand.data.mnist_files import Digits, Part, read_digits
from evenhand.data.task import Scaling, Task

CITATION = (
    "LeCun, Bottou, Bengio, Haffner. Gradient-based learning applied to document recognition. "
    "Proceedings of the IEEE 86 (1998) 2278-2324."
)
LICENCE = "CC BY-SA 3.0 (LeCun, Cortes)"
TITLES = {"packaged": "the packaged part of MNIST", "full": "MNIST"}
ORIGIN = {
    "packaged": "in the package: the first 14,000 training images and every fifth test image of MNIST",
    "full": "MNIST, 60,000 training and 10,000 test images",
}


def mnist(part: Part = "packaged", *, progress: Progress | None = None) -> Task:
    """The digits as a task: images uint8 `[N, 1, 28, 28]`, trained on in [0, 1].

    Full: train[0:50000] for training, train[50000:60000] for validation, the test file for test. Packaged:
    12,000, 2,000 and 2,000. Nothing is drawn at random. The attributes are measured on the picture: how much
    ink it has, cut at the median of all training images (`ink`) or of those of its digit (`ink_in_class`).

    >>> task = mnist()
    >>> task.input_shape, {name: len(rows) for name, rows in task.split.items()}
    ((1, 28, 28), {'train': 12000, 'validation': 2000, 'test': 2000})
    >>> [attribute.levels for attribute in task.attributes]
    [('light', 'heavy'), ('light', 'heavy')]
    """
    digits = read_digits(part, progress)
    parts = digits.parts()
    x = np.concatenate([images for images, _ in parts.values()])
    y = np.concatenate([labels for _, labels in parts.values()])
    ends = np.cumsum([len(labels) for _, labels in parts.values()])
    split = {
        name: torch.arange(end - len(parts[name][1]), end)
        for name, end in zip(parts, ends.tolist(), strict=True)
    }
    train = split["train"].numpy()
    ink = x.sum(axis=(1, 2), dtype=np.int64)
    levels = ("light", "heavy")
    return Task(
        name="mnist",
        x=torch.from_numpy(np.ascontiguousarray(x)).unsqueeze(1),
        y=torch.from_numpy(y.astype(np.int64)),
        attributes=(halves("ink", levels, ink, train), halves("ink_in_class", levels, ink, train, y)),
        split=split,
        card=_card(part, digits, ink[train]),
        classes=tuple(str(digit) for digit in range(10)),
        scaling=Scaling(0.0, 255.0),
    )


def _card(part: str, digits: Digits, ink: Array) -> DataCard:
    share = float(np.median(ink)) / (255 * 28 * 28)
    return DataCard(
        title=TITLES[part],
        about="Grey images of handwritten digits, 28 x 28 pixels; the digit is the class.",
        origin=ORIGIN[part],
        licence=LICENCE,
        citation=CITATION,
        target="digit, 0 to 9",
        notes=(
            "MNIST has no protected attribute and nothing is known of the writers. `ink` and `ink_in_class` "
            "are measured on the picture: they serve to try a method out and say nothing about people.",
            f"`ink` is heavy where the mean grey value is above {share:.4f}, the median of the training "
            "images; it depends on the digit (most ones are light). `ink_in_class` uses each digit's median.",
        ),
        files=digits.files,
        knobs={"part": part},
    )

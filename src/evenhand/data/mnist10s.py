"""MNIST-10S: digits of which half of the classes are mostly coloured and the other half mostly gray.

What CIFAR-10S (Wang et al. 2020) does with photographs, done with the digits that are in the package: the
studies of its techniques can be run by anyone, in minutes.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from evenhand.arrays import Array
from evenhand.data.cache import Progress
from evenhand.data.card import DataCard
from evenhand.data.cifar10 import channel_scaling, training_split
from evenhand.data.cifar10s import COLOUR, DOMAINS, GRAY, check_skew, gray_of_training, to_gray
from evenhand.data.mnist import CITATION as MNIST_CITATION
from evenhand.data.mnist import LICENCE, ORIGIN, TITLES
from evenhand.data.mnist_files import Digits, read_digits
from evenhand.data.splits import check_seed
from evenhand.data.task import Task
from evenhand.errors import InputError
from evenhand.groups import Attribute

INK = (255, 150, 40)  # orange: each channel tells the digit, and no two of them are alike
DIGIT, SIZES = 28, (28, 32)
N_CLASSES = 10
CITATION = (
    "After: Wang, Qinami, Karakozis, Genova, Nair, Hata, Russakovsky. Towards Fairness in Visual "
    f"Recognition: Effective Strategies for Bias Mitigation. CVPR 2020. Digits: {MNIST_CITATION}"
)
NOTES = (
    "Nobody is described here: which digits are gray was drawn, in exact counts.",
    "Every test digit occurs twice, in colour and in gray: the domains have the same digits in them.",
    f"The ink has the colour {INK}, on black. A gray digit is the luma of the coloured one: its ink is 169 "
    "of 255 at most.",
)


def mnist10s(
    skew: float = 0.95,
    *,
    part: str = "packaged",
    size: int = 28,
    limit: int = 0,
    seed: int = 42,
    validation: float = 0.0,
    progress: Progress | None = None,
) -> Task:
    """Predict the digit; the attribute is the domain: orange ink ("colour") or its luma ("gray"), on black.

    In training, the share `skew` of each odd digit is in colour and the share `skew` of each even one in
    gray: exact counts (rounded down), drawn as those of `cifar10s`, by Python's `random` with `seed`. The
    test part has all test digits in colour, then all in gray. `part` is the MNIST it is made of: "packaged"
    (14,000 training and 2,000 test digits) or "full" (60,000 and 10,000); of either at most the first `limit`
    are used (0: all). `size` is 28, or 32 with a black margin. `validation` of the training digits, drawn by
    the seed, are for validation, as skewed as those.

    >>> task = mnist10s(limit=1000)
    >>> task.input_shape, {name: len(rows) for name, rows in task.split.items()}
    ((3, 28, 28), {'train': 1000, 'test': 2000})
    >>> task.attribute("domain").levels
    ('colour', 'gray')
    """
    check_skew(skew)
    check_seed(seed)
    if size not in SIZES or limit < 0:
        wrong = f"size={size} must be 28 or 32" if limit >= 0 else f"limit={limit} must be a number of digits"
        raise InputError(f"the knob {wrong}{'' if limit >= 0 else '; 0 uses all'}")
    digits = read_digits(part, progress)
    y, y_test = (labels[: limit or None].astype(np.int64) for labels in (digits.y_train, digits.y_test))
    gray = np.flatnonzero(gray_of_training(y, skew, seed, N_CLASSES))
    coloured = coloured_digits(digits.x_train[: len(y)], size)
    coloured[gray] = to_gray(coloured[gray])
    shown = coloured_digits(digits.x_test[: len(y_test)], size)
    x = torch.cat([coloured, shown, to_gray(shown)])
    split = training_split(len(y), len(x), validation, seed)
    knobs = {"skew": skew, "part": part, "size": size, "seed": seed, "validation": validation}
    return Task(
        name="mnist10s",
        x=x,
        y=torch.from_numpy(np.concatenate([y, y_test, y_test])),
        attributes=(Attribute("domain", DOMAINS, _domains(len(y), len(y_test), gray)),),
        split=split,
        card=_card(digits, part, knobs | ({"limit": limit} if limit else {})),
        classes=tuple(str(digit) for digit in range(N_CLASSES)),
        scaling=channel_scaling(x, split["train"]),
    )


def coloured_digits(images: Array, size: int = DIGIT) -> Tensor:
    """Gray digits `[N, 28, 28]` as ink of one colour on black, `[N, 3, size, size]`, uint8.

    >>> coloured_digits(np.full((1, 28, 28), 255, dtype=np.uint8), 32)[0, :, [0, 16], 16].tolist()
    [[0, 255], [0, 150], [0, 40]]
    """
    margin = (size - DIGIT) // 2
    drawn = pad(torch.from_numpy(np.ascontiguousarray(images)), (margin,) * 4)
    out = torch.empty(len(drawn), 3, size, size, dtype=torch.uint8)
    for channel, most in enumerate(INK):
        shades = (torch.arange(256) * most + 127) // 255
        out[:, channel] = shades.to(torch.uint8)[drawn.long()]
    return out


def _domains(n_train: int, n_test: int, gray: Array) -> Array:
    domain = np.full(n_train + 2 * n_test, COLOUR, dtype=np.int64)
    domain[gray] = GRAY
    domain[n_train + n_test :] = GRAY
    return domain


def _card(digits: Digits, part: str, knobs: dict[str, object]) -> DataCard:
    return DataCard(
        title=f"MNIST-10S, of {TITLES[part]}",
        about="Handwritten digits in colour or in gray, painted from MNIST; the digit is the class.",
        origin=f"painted by evenhand; the digits: {ORIGIN[part]}",
        licence=LICENCE,
        citation=CITATION,
        target="digit, 0 to 9",
        notes=NOTES,
        files=digits.files,
        knobs=knobs,
    )

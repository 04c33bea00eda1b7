"""The numbers 00 to 99, of two handwritten digits side by side: a hundred classes, in the package."""

from __future__ import annotations

import numpy as np
import torch

from evenhand.arrays import Array, IntArray
from evenhand.data.cache import Progress
from evenhand.data.card import DataCard
from evenhand.data.halves import halves
from evenhand.data.mnist import CITATION, LICENCE, ORIGIN, TITLES
from evenhand.data.mnist_files import Digits, Part, read_digits
from evenhand.data.splits import as_split, check_seed
from evenhand.data.task import Scaling, Task
from evenhand.errors import InputError

N_NUMBERS = 100


def mnist_numbers(
    part: Part = "packaged",
    *,
    n: int = 20_000,
    n_validation: int = 5_000,
    n_test: int = 5_000,
    seed: int = 0,
    progress: Progress | None = None,
) -> Task:
    """Predict the number, "00" to "99": images uint8 `[N, 1, 28, 56]` of two digits of `mnist` side by side.

    A part has `n`, `n_validation` or `n_test` images, each number as often as any other (to one image); its
    digits are drawn by `seed`, with replacement, from those of the same part of `mnist`, so that no digit is
    trained on and tested. 5,000 test images are 50 of each number, as ImageNet has of each of its classes.
    The attributes are those of `mnist`: how much ink the picture has (`ink`, `ink_in_class`).

    >>> task = mnist_numbers(n=1000, n_validation=0, n_test=200)
    >>> task.input_shape, task.n_classes, {name: len(rows) for name, rows in task.split.items()}
    ((1, 28, 56), 100, {'train': 1000, 'test': 200})
    """
    check_seed(seed)
    sizes = {"train": n, "validation": n_validation, "test": n_test}
    for knob, size in zip(("n", "n_validation", "n_test"), sizes.values(), strict=True):
        if size < (0 if knob == "n_validation" else 1):
            raise InputError(f"the knob {knob}={size} must be a number of images")
    digits = read_digits(part, progress)
    drawn = [
        _drawn(*own, sizes[name], np.random.default_rng([seed, place]))
        for place, (name, own) in enumerate(digits.parts().items())
    ]
    x, y = (np.concatenate(arrays) for arrays in zip(*drawn, strict=True))
    ends = np.cumsum([0, *sizes.values()])
    rows = {name: np.arange(ends[place], ends[place + 1]) for place, name in enumerate(sizes)}
    ink, levels = x.sum(axis=(1, 2), dtype=np.int64), ("light", "heavy")
    knobs: dict[str, object] = {
        "part": part,
        "n": n,
        "n_validation": n_validation,
        "n_test": n_test,
        "seed": seed,
    }
    return Task(
        name="mnist-numbers",
        x=torch.from_numpy(x).unsqueeze(1),
        y=torch.from_numpy(y),
        attributes=(
            halves("ink", levels, ink, rows["train"]),
            halves("ink_in_class", levels, ink, rows["train"], y),
        ),
        split=as_split({name: own for name, own in rows.items() if len(own)}),
        card=_card(part, digits, knobs),
        classes=tuple(f"{number:02d}" for number in range(N_NUMBERS)),
        scaling=Scaling(0.0, 255.0),
    )


def _drawn(images: Array, labels: Array, n: int, draw: np.random.Generator) -> tuple[Array, IntArray]:
    """`n` pictures of two digits, and the numbers that they show."""
    numbers = draw.permutation(np.arange(n, dtype=np.int64) % N_NUMBERS)
    order, sizes = np.argsort(labels, kind="stable"), np.bincount(labels, minlength=10)
    begins = np.cumsum(sizes) - sizes
    sides = np.stack([numbers // 10, numbers % 10])
    rows = order[begins[sides] + (draw.random(sides.shape) * sizes[sides]).astype(np.int64)]
    return np.concatenate([images[rows[0]], images[rows[1]]], axis=2), numbers


def _card(part: str, digits: Digits, knobs: dict[str, object]) -> DataCard:
    return DataCard(
        title=f"Numbers of two digits, of {TITLES[part]}",
        about="Grey images of two handwritten digits side by side, 28 x 56 pixels; the number is the class.",
        origin=f"put together by evenhand; the digits: {ORIGIN[part]}",
        licence=LICENCE,
        citation=CITATION,
        target="number, 00 to 99",
        notes=(
            "A digit occurs in several images of its part (those of the packaged test part in five each, by "
            "default). Intervals over rows take images for independent and are a little narrow here.",
            "The two digits of an image are mostly by two writers; nothing is known of them. `ink` and "
            "`ink_in_class` are measured on the picture: they serve to try a method out.",
        ),
        files=digits.files,
        knobs=knobs,
    )

"""CIFAR-10S: CIFAR-10 with half of the classes mostly in colour and the other half mostly in gray.

A model can use the colour to guess the class; at test, every image is there in both. Wang et al. 2020.
"""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from evenhand.arrays import Array, IntArray
from evenhand.data.cache import Progress
from evenhand.data.cifar10 import CITATION, card, channel_scaling, training_split
from evenhand.data.cifar10_files import CLASSES, Pictures, read_cifar10
from evenhand.data.shares import exact_count
from evenhand.data.task import Task
from evenhand.errors import InputError
from evenhand.groups import Attribute

DOMAINS = ("colour", "gray")
COLOUR, GRAY = 0, 1
BLOCK = 4096  # images turned gray at once
PAPER = (
    "Wang, Qinami, Karakozis, Genova, Nair, Hata, Russakovsky. Towards Fairness in Visual Recognition: "
    f"Effective Strategies for Bias Mitigation. CVPR 2020. Images: {CITATION}"
)


def cifar10s(
    skew: float = 0.95,
    *,
    form: str | None = None,
    seed: int = 42,
    validation: float = 0.0,
    n_train: int = 0,
    n_test: int = 0,
    progress: Progress | None = None,
) -> Task:
    """Predict the class; the attribute is the domain, colour or gray.

    In training, the share `skew` of automobile, cat, dog, horse, truck is in colour and the share `skew` of
    airplane, bird, deer, frog, ship in gray: exact counts (4,750 and 250 of 5,000), drawn by Python's
    `random` with `seed`, as the authors did. The test part has all test images in colour, then all in gray.
    `form` is that of `cifar10`. `n_train` and `n_test` use so many of the training and of the test images,
    the first ones of each class, as many of all; 0: all.
    """
    check_skew(skew)
    sizes = {name: size for name, size in (("n_train", n_train), ("n_test", n_test)) if size}
    pictures = fewer(read_cifar10(form, progress), **sizes)
    n, n_train = len(pictures.y), pictures.n_train
    gray_rows = np.flatnonzero(gray_of_training(pictures.y[:n_train].numpy(), skew, seed))
    x = torch.cat([pictures.x, to_gray(pictures.x[n_train:])])
    x[gray_rows] = to_gray(x[gray_rows])
    domain = np.full(len(x), COLOUR, dtype=np.int64)
    domain[gray_rows] = GRAY
    domain[n:] = GRAY
    split = training_split(n_train, len(x), validation, seed)
    knobs = {"skew": skew, "form": pictures.form, "seed": seed, "validation": validation, **sizes}
    notes = (
        "Nobody is described here: which images are gray was drawn, in exact counts.",
        "Every test image occurs twice, in colour and in gray: the domains have the same things in them.",
    )
    return Task(
        name="cifar10s",
        x=x,
        y=torch.cat([pictures.y, pictures.y[n_train:]]),
        attributes=(Attribute("domain", DOMAINS, domain),),
        split=split,
        card=replace(card("CIFAR-10S", pictures, notes, knobs), citation=PAPER),
        classes=CLASSES,
        scaling=channel_scaling(x, split["train"]),
    )


def gray_of_training(y: IntArray, skew: float, seed: int = 42, n_classes: int = len(CLASSES)) -> Array:
    """Which training images are gray: even classes by the share `skew`, odd ones by what is left of it.

    The class's majority is drawn, class after class in the order of their ids; the minority is the rest.

    >>> gray_of_training(np.repeat([0, 1], 20), 0.95).reshape(2, 20).sum(axis=1).tolist()
    [19, 1]
    """
    draw = random.Random(seed)
    gray = np.zeros(len(y), dtype=bool)
    for label in range(n_classes):
        members = np.flatnonzero(y == label).tolist()
        majority = draw.sample(members, exact_count(skew, len(members)))
        if label % 2 == 0:
            gray[majority] = True
        else:
            gray[members] = True
            gray[majority] = False
    return gray


def fewer(pictures: Pictures, n_train: int = 0, n_test: int = 0) -> Pictures:
    """The first pictures of each class, as many of all: so many for training and test; 0: all.

    >>> pictures = Pictures(torch.zeros(60, 3, 32, 32), torch.arange(60) % 10, 40, "official", {})
    >>> less = fewer(pictures, n_train=20)
    >>> less.n_train, len(less.y), less.y[:20].bincount().tolist()
    (20, 40, [2, 2, 2, 2, 2, 2, 2, 2, 2, 2])
    """
    if not n_train and not n_test:
        return pictures
    parts = (np.arange(pictures.n_train), np.arange(pictures.n_train, len(pictures.y)))
    kept = [
        _first_of_each(pictures.y.numpy(), rows, name, size)
        for rows, name, size in zip(parts, ("n_train", "n_test"), (n_train, n_test), strict=True)
    ]
    chosen = torch.from_numpy(np.concatenate(kept))
    return replace(pictures, x=pictures.x[chosen], y=pictures.y[chosen], n_train=len(kept[0]))


def _first_of_each(y: IntArray, rows: IntArray, name: str, size: int) -> IntArray:
    if not size:
        return rows
    each = size // len(CLASSES)
    members = [rows[y[rows] == label] for label in range(len(CLASSES))]
    if size < 0 or size % len(CLASSES) or any(len(found) < each for found in members):
        most = len(CLASSES) * min(map(len, members))
        raise InputError(
            f"the knob {name}={size} must be a multiple of {len(CLASSES)}, at most {most}; 0 uses all"
        )
    return np.sort(np.concatenate([found[:each] for found in members]))


def check_skew(skew: float) -> float:
    """The value itself if it can be the share of a class that is in its own domain."""
    if not 0.0 <= skew <= 1.0:
        raise InputError(f"the knob skew={skew} must be a share from 0 to 1")
    return skew


def to_gray(x: Tensor) -> Tensor:
    """Luma by the integer formula of Pillow's mode "L" (ITU-R 601-2), the same in all three channels.

    >>> to_gray(torch.tensor([255, 0, 0], dtype=torch.uint8).view(1, 3, 1, 1)).flatten().tolist()
    [76, 76, 76]
    """
    out = torch.empty_like(x)
    for start in range(0, len(x), BLOCK):
        red, green, blue = x[start : start + BLOCK].to(torch.int32).unbind(1)
        luma = (19595 * red + 38470 * green + 7471 * blue + 32768) >> 16
        out[start : start + BLOCK] = luma.to(torch.uint8).unsqueeze(1)
    return out

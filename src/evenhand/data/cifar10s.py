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
from evenhand.data.cifar10_files import CLASSES, read_cifar10
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
    progress: Progress | None = None,
) -> Task:
    """Predict the class; the attribute is the domain, colour or gray.

    In training, the share `skew` of automobile, cat, dog, horse, truck is in colour and the share `skew` of
    airplane, bird, deer, frog, ship in gray: exact counts (4,750 and 250 of 5,000), drawn by Python's
    `random` with `seed`, as the authors did. The test part has all test images in colour, then all in gray.
    `form` is that of `cifar10`.
    """
    if not 0.0 <= skew <= 1.0:
        raise InputError(f"the knob skew={skew} must be a share from 0 to 1")
    pictures = read_cifar10(form, progress)
    n, n_train = len(pictures.y), pictures.n_train
    gray_rows = np.flatnonzero(gray_of_training(pictures.y[:n_train].numpy(), skew, seed))
    x = torch.cat([pictures.x, to_gray(pictures.x[n_train:])])
    x[gray_rows] = to_gray(x[gray_rows])
    domain = np.full(len(x), COLOUR, dtype=np.int64)
    domain[gray_rows] = GRAY
    domain[n:] = GRAY
    split = training_split(n_train, len(x), validation, seed)
    knobs = {"skew": skew, "form": pictures.form, "seed": seed, "validation": validation}
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


def gray_of_training(y: IntArray, skew: float, seed: int = 42) -> Array:
    """Which training images are gray: even classes by the share `skew`, odd ones by what is left of it.

    The class's majority is drawn, class after class in the order of their ids; the minority is the rest.

    >>> gray_of_training(np.repeat([0, 1], 20), 0.95).reshape(2, 20).sum(axis=1).tolist()
    [19, 1]
    """
    draw = random.Random(seed)
    gray = np.zeros(len(y), dtype=bool)
    for label in range(len(CLASSES)):
        members = np.flatnonzero(y == label).tolist()
        majority = draw.sample(members, exact_count(skew, len(members)))
        if label % 2 == 0:
            gray[majority] = True
        else:
            gray[members] = True
            gray[majority] = False
    return gray


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

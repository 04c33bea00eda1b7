"""Biased CIFAR-100: fifteen of its hundred classes are cut to a half, a fifth and a tenth in training.

The data of S2's study of pruned and distilled networks: what they do to the classes that are seldom seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from evenhand.arrays import IntArray
from evenhand.data.cache import Progress
from evenhand.data.card import DataCard
from evenhand.data.cifar10 import CITATION, LICENCE, channel_scaling
from evenhand.data.cifar100_files import read_cifar100
from evenhand.data.halves import halves
from evenhand.data.shares import exact_count
from evenhand.data.splits import as_split, check_seed, cut, evenly_spaced
from evenhand.data.task import Task
from evenhand.errors import InputError
from evenhand.groups import Attribute

SHARES = (0.5, 0.2, 0.1)
PAPER = (
    "S2: Measure Twice, Cut Once: Quantifying Bias and Fairness in Deep Neural Networks (2021). "
    f"Images: {CITATION}"
)


def cifar100_under(
    shares: Sequence[float] = SHARES,
    *,
    each: int = 5,
    seed: int = 0,
    validation: float = 0.0,
    limit: int = 0,
    n_test: int = 0,
    progress: Progress | None = None,
) -> Task:
    """Predict one of 100 classes; for each of the `shares`, `each` classes keep that share of their images.

    By default five classes have 250, five 100 and five 50 of their 500 training images, 44,500 in all. S2
    says neither which classes nor how many of each share: they are drawn by `seed`, and the card names them.
    The test is whole: 100 images a class. `validation` of the training images that are left are held out. To
    try something out, `limit` uses at most so many training images and `n_test` so many of the test (0: all).
    Attributes: `kept`, the share of its training images that an image's class has; `superclass` (20), and
    `brightness_in_class`, measured on the picture.

    Read is the binary version of the official archive (cifar-100-binary.tar.gz), downloaded where there is a
    network. The Python version holds pickles, which are never opened.
    """
    shares = checked_shares(shares, each, 100)
    check_seed(seed)
    pictures = read_cifar100(progress)
    draw = np.random.default_rng(seed)
    level = class_levels(len(shares), each, len(pictures.classes), draw)
    y = pictures.y.numpy()
    kept = kept_rows(y[: pictures.n_train], level, shares, draw)[: checked_limit(limit) or None]
    tested = np.arange(pictures.n_train, len(y))[evenly_spaced(len(y) - pictures.n_train, n_test)]
    split = as_split(cut(np.concatenate([kept, tested]), len(kept), validation))
    light = pictures.x.flatten(1).sum(1, dtype=torch.int64).numpy()
    names = ("100 %", *(f"{100 * share:g} %" for share in shares))
    knobs = {"shares": list(shares), "each": each, "seed": seed, "validation": validation}
    knobs |= {name: n for name, n in (("limit", limit), ("n_test", n_test)) if n}
    return Task(
        name="cifar100-under",
        x=pictures.x,
        y=pictures.y,
        attributes=(
            Attribute("kept", names, level[y]),
            Attribute("superclass", pictures.superclasses, pictures.superclass.numpy()),
            halves("brightness_in_class", ("dark", "bright"), light, kept, y),
        ),
        split=split,
        card=_card(cut_classes(names, level, pictures.classes), pictures.files, knobs),
        classes=pictures.classes,
        scaling=channel_scaling(pictures.x, split["train"]),
    )


def kept_rows(y: IntArray, level: IntArray, shares: Sequence[float], draw: np.random.Generator) -> IntArray:
    """The training rows that stay, in a drawn order: of a class of level k > 0 the share k-1, rounded down.

    >>> y, level = np.repeat([0, 1], 10), np.array([0, 1])
    >>> np.bincount(y[kept_rows(y, level, [0.2], np.random.default_rng(0))]).tolist()
    [10, 2]
    """
    order = draw.permutation(len(y))
    kept = np.ones(len(y), dtype=bool)
    for label in np.flatnonzero(level).tolist():
        members = order[y[order] == label]
        kept[members[exact_count(shares[level[label] - 1], len(members)) :]] = False
    # The rows that a rare class keeps are its first in `order`. Drawn again, every stretch (a limit at the
    # beginning, validation rows at the end) has the rare classes in the share that the whole has.
    found: IntArray = draw.permutation(order[kept[order]])
    return found


def checked_limit(limit: int) -> int:
    """A number of training rows; `InputError` for one that is none."""
    if limit < 0:
        raise InputError(f"the knob limit={limit} must be a number of training rows; 0 uses all")
    return limit


def class_levels(n_shares: int, each: int, n_classes: int, draw: np.random.Generator) -> IntArray:
    """For every class the place of its share, from 1; 0 is a class that keeps all its images.

    >>> np.bincount(class_levels(3, 2, 10, np.random.default_rng(0))).tolist()
    [4, 2, 2, 2]
    """
    level = np.zeros(n_classes, dtype=np.int64)
    level[draw.permutation(n_classes)[: n_shares * each]] = np.repeat(np.arange(1, n_shares + 1), each)
    return level


def checked_shares(shares: Any, each: int, n_classes: int) -> tuple[float, ...]:
    """The shares as numbers; refused where they are none, or are for more classes than there are."""
    try:
        found = tuple(float(share) for share in shares)
    except (TypeError, ValueError):
        found = ()
    if not found or not all(0.0 < share < 1.0 for share in found):
        raise InputError(f"the knob shares={shares!r} must be numbers between 0 and 1, as in (0.5, 0.2, 0.1)")
    if not 1 <= each * len(found) <= n_classes:
        told = f"the knob each={each} must be at least 1, and no more than the {n_classes} classes have"
        raise InputError(told)
    return found


def cut_classes(names: Sequence[str], level: IntArray, classes: Sequence[str]) -> list[str]:
    """Each share with the classes that keep it, for the card."""
    return [
        f"{name}: {', '.join(classes[label] for label in np.flatnonzero(level == place).tolist())}"
        for place, name in enumerate(names)
        if place
    ]


def _card(rare: Sequence[str], files: Mapping[str, str], knobs: Mapping[str, object]) -> DataCard:
    told = (f"Classes that keep a part of their training images. {'; '.join(rare)}.",)
    return DataCard(
        title="CIFAR-100, biased",
        about="Colour photographs of a hundred kinds of things, 32 x 32 pixels; some kinds are rare.",
        origin="all 50,000 + 10,000 images as published (www.cs.toronto.edu/~kriz/cifar.html), then cut",
        licence=LICENCE,
        citation=PAPER,
        target="kind of thing, 100 classes",
        notes=(
            *(told if rare else ()),
            "Nobody is described on purpose, though some classes are people (boy, girl, man, woman, baby). "
            "`kept` belongs to a class, so that its levels have no class in common.",
        ),
        files=files,
        knobs=knobs,
    )

"""Biased CIFAR-10: three of its ten classes are cut to a half, a fifth and a tenth in training, after S2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from torch import Tensor

from evenhand.data.cache import Progress
from evenhand.data.cifar10 import channel_scaling, cifar10
from evenhand.data.cifar100_under import SHARES
from evenhand.data.splits import evenly_spaced
from evenhand.data.task import Task
from evenhand.data.under_sampled import under_sampled


def cifar10_under(
    form: str | None = None,
    *,
    shares: Sequence[float] = SHARES,
    each: int = 1,
    seed: int = 0,
    validation: float = 0.0,
    limit: int = 0,
    n_test: int = 0,
    progress: Progress | None = None,
) -> Task:
    """Predict one of ten classes; for each of the `shares`, `each` classes keep that share of their images.

    Classes and images are drawn by `seed`; the card names the classes. `form` and `validation` are those of
    `cifar10`: validation images are held out before classes are cut, so that all classes are whole there and
    in the test. With a `limit` at most so many training images are used, with `n_test` so many test images,
    evenly spaced, as some files are sorted by class (0: all). Attributes: `kept`, the share of its training
    images that an image's class has; `brightness` and `brightness_in_class`, of the picture.
    """
    whole = cifar10(form, validation=validation, seed=seed, progress=progress)
    task = under_sampled(whole, "cifar10-under", shares, each=each, seed=seed, limit=limit)
    assert isinstance(task.x, Tensor)
    tested = task.split["test"]
    split = {**task.split, "test": tested[evenly_spaced(len(tested), n_test)]}
    card = replace(task.card, knobs={**task.card.knobs, "n_test": n_test})
    return replace(task, split=split, card=card, scaling=channel_scaling(task.x, split["train"]))

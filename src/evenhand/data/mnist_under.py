"""Biased MNIST: three of its ten digits are cut to a half, a fifth and a tenth in training, after S2."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.data.cache import Progress
from evenhand.data.cifar100_under import SHARES
from evenhand.data.mnist import mnist
from evenhand.data.mnist_files import Part
from evenhand.data.task import Task
from evenhand.data.under_sampled import under_sampled


def mnist_under(
    part: Part = "packaged",
    *,
    shares: Sequence[float] = SHARES,
    each: int = 1,
    seed: int = 0,
    limit: int = 0,
    progress: Progress | None = None,
) -> Task:
    """Predict the digit; for each of the `shares`, `each` digits keep that share of their training images.

    Digits and images are drawn by `seed`; the card names the digits. Validation and test are those of
    `mnist`, whole. With a `limit` at most so many training images are used. Attributes: `kept`, the share of
    its training images that an image's digit has; `ink` and `ink_in_class`, measured on the picture.

    >>> task = mnist_under(limit=1000)
    >>> {name: len(rows) for name, rows in task.split.items()}
    {'train': 1000, 'validation': 2000, 'test': 2000}
    """
    whole = mnist(part, progress=progress)
    return under_sampled(whole, "mnist-under", shares, each=each, seed=seed, limit=limit)

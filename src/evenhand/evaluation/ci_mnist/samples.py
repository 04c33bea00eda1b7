"""Painted digits for every knob, as letters: r red, b blue, w white, k black, g green (S3's Figure 5)."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from evenhand.arrays import Array, IntArray
from evenhand.data.ci_mnist import ci_mnist

COLOURS = {"r": (255, 0, 0), "b": (0, 0, 255), "w": (255, 255, 255), "k": (0, 0, 0), "g": (0, 255, 0)}
EACH = 5  # even and odd digits of a row
# the knobs of the study's tasks, with the packaged digits: what is shown needs no download
KNOBS: dict[str, dict[str, Any]] = {
    "balanced": {}, "minority .1": {"clr_ratio": (0.1, 0.1)}, "minority .01": {"clr_ratio": (0.01, 0.01)},
    "minority .001": {"clr_ratio": (0.001, 0.001)}, "colour .1 .9": {"clr_ratio": (0.1, 0.9)},
    "colour .01 .99": {"clr_ratio": (0.01, 0.99)}, "lines .9 .1": {"e_o_ratio": (0.9, 0.1)},
    "green 22 low": {"g1": 22, "gw": 1}, "green 2": {"g1": 2, "gw": 5}, "green 2 low": {"g1": 2, "gw": 1},
}  # fmt: skip


@cache
def sample_rows() -> tuple[dict[str, Any], ...]:
    """For every task the first training images, even and odd, each as 32 words of 32 letters."""
    return tuple(_row(task) for task in KNOBS)


def _row(task: str) -> dict[str, Any]:
    made = ci_mnist(**KNOBS[task])
    train = made.split["train"].numpy()
    even = made.y.numpy()[train] == 1
    chosen = np.concatenate([train[even][:EACH], train[~even][:EACH]])
    images = made.x[chosen].numpy()  # type: ignore[index]
    return {"task": task, "images": [letters(image) for image in images]}


def letters(image: Array) -> list[str]:
    """An image `[3, H, W]` of bytes as words of letters, each pixel by its nearest pure colour.

    >>> letters(np.array([[[250, 3]], [[9, 8]], [[1, 240]]]))
    ['rb']
    """
    pure = np.array(list(COLOURS.values()), dtype=np.int64)
    far = ((image.astype(np.int64)[None] - pure[:, :, None, None]) ** 2).sum(axis=1)
    nearest: IntArray = far.argmin(axis=0)
    names = "".join(COLOURS)
    return ["".join(names[place] for place in row) for row in nearest.tolist()]

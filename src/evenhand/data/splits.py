"""Which rows are for training, validation and test: cut from an order, or drawn class by class."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from evenhand.arrays import IntArray
from evenhand.errors import InputError


def cut(order: IntArray, n_train: int, validation: float) -> dict[str, IntArray]:
    """Train, validation (if any) and test rows from an order: the first `n_train`, the last of them held out.

    >>> {part: rows.tolist() for part, rows in cut(np.arange(6), 4, 0.25).items()}
    {'train': [0, 1, 2], 'validation': [3], 'test': [4, 5]}
    """
    held = round(check_share("validation", validation) * n_train)
    parts = {"train": order[: n_train - held], "validation": order[n_train - held : n_train]}
    return {**{part: rows for part, rows in parts.items() if len(rows)}, "test": order[n_train:]}


def stratified(y: IntArray, test: float, validation: float, seed: int) -> dict[str, IntArray]:
    """Rows drawn so that every part has the classes in the same shares, each class rounded for itself.

    `validation` is a share of what the test leaves. The rows of a part are in a drawn order.

    >>> parts = stratified(np.array([0] * 10 + [1] * 5), 0.2, 0.25, seed=0)
    >>> {part: (len(rows), int((rows >= 10).sum())) for part, rows in parts.items()}
    {'train': (9, 3), 'validation': (3, 1), 'test': (3, 1)}
    """
    check_share("test", test)
    check_share("validation", validation)
    check_seed(seed)
    draw = np.random.default_rng(seed)
    parts: dict[str, list[IntArray]] = {"train": [], "validation": [], "test": []}
    for value in np.unique(y):
        rows = draw.permutation(np.flatnonzero(y == value))
        n_test = round(test * len(rows))
        n_held = round(validation * (len(rows) - n_test))
        pieces = np.split(rows, [n_test, n_test + n_held])
        for part, piece in zip(("test", "validation", "train"), pieces, strict=True):
            parts[part].append(piece)
    joined = {part: draw.permutation(np.concatenate(pieces)) for part, pieces in parts.items()}
    for part, share in (("test", test), ("validation", validation)):
        if share and not len(joined[part]):
            raise InputError(
                f"a share of {share} leaves no row for the part '{part}': rows are drawn class by class, and "
                f"each of the {len(np.unique(y))} classes has too few; say which rows are for which part"
            )
    return {part: rows for part, rows in joined.items() if len(rows)}


def as_split(parts: Mapping[str, IntArray]) -> dict[str, Tensor]:
    """The parts as a task holds them."""
    return {part: torch.from_numpy(np.asarray(rows, dtype=np.int64)) for part, rows in parts.items()}


def check_share(name: str, value: float) -> float:
    """The value itself if it can be a share of the rows that leaves some."""
    if not isinstance(value, (int, float, np.floating)) or not 0.0 <= value < 1.0:
        raise InputError(f"the knob {name}={value!r} must be a share of the rows, from 0 to less than 1")
    return value


def check_seed(value: int) -> int:
    """The value itself if it can be a seed: None would draw other rows every time."""
    if not isinstance(value, (int, np.integer)) or value < 0:
        raise InputError(f"the knob seed={value!r} must be a whole number of at least 0")
    return value


def evenly_spaced(size: int, n_test: int) -> list[int]:
    """So many places of a test, at equal distances, as some files are sorted by class; all for 0 or too many.

    >>> evenly_spaced(10, 4), evenly_spaced(3, 0), evenly_spaced(3, 5)
    ([0, 2, 5, 7], [0, 1, 2], [0, 1, 2])
    """
    if n_test < 0:
        raise InputError(f"the knob n_test={n_test} must be a number of test images; 0 uses all")
    n = min(n_test, size) or size
    return [place * size // n for place in range(n)]

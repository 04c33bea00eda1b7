"""Whether faces can be drawn as they are asked for: one clear sentence for the first thing that is wrong."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from evenhand.data.faces_names import ATTRIBUTES
from evenhand.errors import InputError

SIZES = (32, 128)
LARGEST_NUISANCE = 2.0


def check_knobs(*, size: int, seed: int, difficulty: float, nuisance: float) -> None:
    """Raise `InputError` unless every knob of the drawing is within its range.

    >>> check_knobs(size=16, seed=0, difficulty=0.0, nuisance=1.0)
    Traceback (most recent call last):
    evenhand.errors.InputError: the knob size=16 of the faces must be a whole number of pixels from 32 to 128
    """
    if not _whole(size) or not SIZES[0] <= size <= SIZES[1]:
        pixels = f"a whole number of pixels from {SIZES[0]} to {SIZES[1]}"
        raise InputError(f"the knob size={size!r} of the faces must be {pixels}")
    if not _whole(seed) or seed < 0:
        raise InputError(f"the knob seed={seed!r} of the faces must be a whole number of at least 0")
    for name, value, top in (("difficulty", difficulty, 1.0), ("nuisance", nuisance, LARGEST_NUISANCE)):
        if not _number(value) or not 0 <= value <= top:
            raise InputError(f"the knob {name}={value!r} of the faces must be a number from 0 to {top:g}")


def check_facts(facts: Tensor, rows: Tensor) -> None:
    """Raise `InputError` unless there are forty facts, each 0 or 1, for every row id.

    >>> check_facts(torch.full((3, 40), 2), torch.arange(3))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    evenhand.errors.InputError: the fact '5_o_Clock_Shadow' of row 0 is 2; a face can only be drawn ...
    """
    if facts.ndim != 2 or facts.shape[1] != len(ATTRIBUTES):
        raise InputError(
            f"the facts of the faces have the shape {tuple(facts.shape)}; [N, {len(ATTRIBUTES)}] is needed, "
            "a column for each name in ATTRIBUTES"
        )
    if rows.shape != facts.shape[:1] or rows.is_floating_point() or rows.dtype == torch.bool:
        raise InputError(
            f"the row ids of the faces are {rows.dtype} of shape {tuple(rows.shape)}; "
            f"whole numbers of shape ({len(facts)},) are needed, one for each row of facts"
        )
    wrong = ((facts != 0) & (facts != 1)).nonzero()
    if len(wrong):
        row, column = wrong[0].tolist()
        raise InputError(
            f"the fact '{ATTRIBUTES[column]}' of row {row} is {facts[row, column].item()}; "
            "a face can only be drawn of facts that are 0 or 1"
        )


def _number(value: object) -> bool:
    return (
        isinstance(value, (int, float, np.floating)) and not isinstance(value, bool) and math.isfinite(value)
    )


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)

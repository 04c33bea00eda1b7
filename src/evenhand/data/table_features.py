"""A column of a user's table as inputs: numbers, or one-hot levels; what was done with gaps is told."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from evenhand.arrays import Array, FloatArray, IntArray, as_array
from evenhand.data.encode import Block, fill_missing, numbers, one_hot
from evenhand.errors import InputError
from evenhand.levels import code_values, is_missing, level_name

MISSING = "missing"
LARGEST = 1e100  # its square is still a number, which a standard deviation needs
MANY_NUMBERS = 10  # texts that spell numbers and are still likely codes
MOST_LEVELS = 200  # one-hot columns of one text column; more are likely names of single rows


@dataclass(frozen=True)
class Encoded:
    """The inputs made of a column, before scaling, and what a reader of the card should know about them."""

    block: Block
    notes: tuple[str, ...] = ()


def encode(name: str, column: Any, train: IntArray) -> Encoded:
    """Numbers with gaps filled by the training median, texts as one-hot training levels.

    A filled column is followed by a column that says where it was filled. A missing text is a level of its
    own. A level that no training row has gets no column: such a row has 0 in all of them.

    >>> found = encode("fare", [1.0, None, 3.0], np.array([0, 1, 2]))
    >>> found.block.names, found.block.values.tolist()
    (('fare', 'fare missing'), [[1.0, 0.0], [2.0, 1.0], [3.0, 0.0]])
    """
    values = as_array(column)
    if values.ndim != 1:
        raise InputError(f"the column '{name}' must have one value a row, not the shape {values.shape}")
    read = _as_numbers(name, values)
    if read is not None:
        return _encode_numbers(name, read, train)
    return _encode_texts(name, values, train)


def equals_label(column: Any, y: IntArray) -> bool:
    """Whether a column is the label under other names: as many different values, one for each class."""
    try:
        levels, codes = code_values(as_array(column), None, "", unknown=None)
    except (TypeError, ValueError):
        return False
    if (codes < 0).any() or len(levels) != int(y.max()) + 1:
        return False
    return len(np.unique(codes * len(levels) + y)) == len(levels)


def _as_numbers(name: str, values: Array) -> FloatArray | None:
    """The values as numbers, NaN where missing; None if they are texts; what is neither is refused."""
    kind = values.dtype.kind
    if kind in "US":
        return None
    if kind == "O":
        found = _objects(name, values.tolist())
    elif kind in "iufb":
        found = values.astype(np.float64)
    else:
        raise InputError(_not_usable(name, "dates or times" if kind in "mM" else f"{values.dtype} values"))
    if found is not None and (np.abs(found) > LARGEST).any():
        row = int((np.abs(found) > LARGEST).argmax())
        problem = "infinite" if np.isinf(found[row]) else f"{found[row]:g}"
        raise InputError(f"the column '{name}' is {problem} in row {row}; inputs must be within ±{LARGEST:g}")
    return found


def _objects(name: str, values: list[Any]) -> FloatArray | None:
    """Python values as numbers; None if a text is among them."""
    for value in values:  # told before any is compared: a list is no missing value, nor any other
        if hasattr(value, "__len__") and not isinstance(value, str):
            raise InputError(_not_usable(name, f"{type(value).__name__} values"))
    known = [value for value in values if not is_missing(value)]
    for value in known:
        if hasattr(value, "year") or hasattr(value, "total_seconds"):
            raise InputError(_not_usable(name, "dates or times"))
        if not isinstance(value, (str, bool, int, float, np.generic, Decimal)):
            raise InputError(_not_usable(name, f"{type(value).__name__} values"))
    if any(isinstance(value, str) for value in known):
        return None
    return np.array([np.nan if is_missing(value) else _as_float(value) for value in values])


def _as_float(value: Any) -> float:
    """A number as a float; whole numbers of Python have no largest, and what no float holds is infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _encode_numbers(name: str, values: FloatArray, train: IntArray) -> Encoded:
    gaps = np.isnan(values)
    if not gaps.any():
        return Encoded(numbers(name, values))
    if gaps[train].all():
        raise InputError(f"the column '{name}' is missing in every training row; leave it out")
    filled = fill_missing(values, train, "median")
    block = Block((name, f"{name} {MISSING}"), np.stack([filled, gaps.astype(np.float64)], axis=1))
    note = f"'{name}' lacks {int(gaps.sum()):,} values: filled with the training median, told by a column."
    return Encoded(block, (note,))


def _encode_texts(name: str, values: Array, train: IntArray) -> Encoded:
    texts = [MISSING if is_missing(value) else level_name(value) for value in values.tolist()]
    levels = sorted({texts[row] for row in train})
    spelled = sum(map(_is_number, levels)) > 0.9 * len(levels)  # a few may be signs for what is missing
    if len(levels) > MOST_LEVELS:
        advice = "make numbers of them" if spelled else "group its values"
        raise InputError(
            f"the column '{name}' has {len(levels):,} different texts in the training rows, at most "
            f"{MOST_LEVELS} become inputs; leave it out (without=['{name}']) or {advice}"
        )
    notes = []
    if spelled and len(levels) > MANY_NUMBERS:
        notes.append(
            f"'{name}' holds numbers written as texts: each of {len(levels)} is a level of its own, without "
            "order; make numbers of them if they are amounts."
        )
    if unseen := len(set(texts).difference(levels)):
        told = f"'{name}' has {unseen} levels that no training row has: such rows have 0 in all its columns."
        notes.append(told)
    return Encoded(one_hot(name, texts, levels), tuple(notes))


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _not_usable(name: str, kind: str) -> str:
    return (
        f"the column '{name}' holds {kind}, which are no inputs; make numbers or texts of them "
        f"(the year, say), or leave it out (without=['{name}'])"
    )

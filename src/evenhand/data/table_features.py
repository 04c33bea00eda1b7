"""A column of a user's table, whatever its type, read as numbers or as texts; what is neither is refused."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np

from evenhand.arrays import Array, FloatArray, IntArray, as_array
from evenhand.errors import InputError
from evenhand.levels import code_values, is_missing, level_name

MISSING = "missing"
LARGEST = 1e100  # its square is still a number, which a standard deviation needs


def values_of(name: str, column: Any) -> Array:
    """The values of a column, one a row."""
    try:
        values = as_array(column)
    except ValueError as error:  # lists of different lengths
        raise InputError(f"the column '{name}' must have one value a row, not a list") from error
    if values.ndim != 1:
        raise InputError(f"the column '{name}' must have one value a row, not the shape {values.shape}")
    return values


def equals_label(column: Any, y: IntArray) -> bool:
    """Whether a column is the label under other names: as many different values, one for each class."""
    try:
        levels, codes = code_values(as_array(column), None, "", unknown=None)
    except (TypeError, ValueError):
        return False
    if (codes < 0).any() or len(levels) != int(y.max()) + 1:
        return False
    return len(np.unique(codes * len(levels) + y)) == len(levels)


def read_texts(values: Array) -> list[str]:
    """The values as texts, numbers among them by the names that levels have; a missing one is a text too.

    >>> read_texts(np.array(["a", 1.0, None], dtype=object))
    ['a', '1', 'missing']
    """
    return [MISSING if is_missing(value) else level_name(value) for value in values.tolist()]


def read_numbers(name: str, values: Array) -> FloatArray | None:
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


def _not_usable(name: str, kind: str) -> str:
    return (
        f"the column '{name}' holds {kind}, which are no inputs; make numbers or texts of them "
        f"(the year, say), or learn without it (without=['{name}'])"
    )

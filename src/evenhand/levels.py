"""Coding the values of one column: which distinct values there are, in which order, and which rows lack one.

Used for protected attributes and for class labels alike, so that both sort and print in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from evenhand.arrays import Array

DENSE_RANGE = 1 << 16  # whole numbers within this range are coded by a lookup table, not by sorting


def categories_of(values: Any) -> list[object] | None:
    """The declared order of a categorical column (pandas, polars), or None."""
    dtype: Any = getattr(values, "dtype", None)
    if str(dtype) == "category":
        return list(values.cat.categories if hasattr(values, "cat") else values.categories)
    if str(dtype).startswith("Enum("):
        return list(dtype.categories)
    return None


def level_name(value: object) -> str:
    """How a value is printed: whole floats without their '.0', bytes as the text that they are.

    >>> level_name(1.0), level_name("a"), level_name(np.True_), level_name(b"a")
    ('1', 'a', 'True', 'a')
    """
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    if isinstance(value, np.datetime64):
        return str(value.astype("datetime64[s]")).removesuffix("T00:00:00")
    return str(value.item() if isinstance(value, np.generic) else value)


def code_values(
    values: Array, order: Sequence[object] | None, name: str, unknown: object = -1
) -> tuple[tuple[str, ...], Array]:
    """Level names and a code for each value, -1 where it is missing, or the number `unknown`.

    For groups -1 means "not known"; labels may well be -1 and 1, so for them `unknown` is None.

    >>> code_values(np.array(["b", "a"]), None, "x")[1].tolist()
    [1, 0]
    """
    if values.dtype.kind in "iub" and not (values.dtype == np.uint64 and int(values.max(initial=0)) >= 2**63):
        levels, codes = _code_whole(values, unknown)
    elif values.dtype.kind == "O":
        levels, codes = _code_objects(values, unknown)
    else:
        levels, codes = _code_sorted(values, unknown)
    if order is None:
        return tuple(level_name(level) for level in levels), codes
    known = [level for level in order if not is_missing(level, unknown)]  # a category may be "" or -1
    return _reorder(levels, codes, known, name)


def _code_whole(values: Array, unknown: object) -> tuple[list[Any], Array]:
    whole = values.view(np.uint8) if values.dtype.kind == "b" else values.astype(np.int64, copy=False)
    hidden = unknown is not None and whole.dtype.kind == "i"
    missing = whole == unknown if hidden else np.zeros(whole.shape, dtype=bool)
    known = whole[~missing] if missing.any() else whole
    if known.size == 0:
        return [], np.full(values.shape, -1, dtype=np.int64)
    low, high = int(known.min()), int(known.max())
    if high - low >= DENSE_RANGE:
        levels, found = np.unique(known, return_inverse=True)
    else:
        present = np.bincount((known - low).astype(np.int64, copy=False)) > 0
        levels = np.flatnonzero(present) + low
        found = (np.cumsum(present) - 1)[(known - low).astype(np.int64, copy=False)]
    codes = found
    if known is not whole:
        codes = np.full(values.shape, -1, dtype=np.int64)
        codes[~missing] = found
    return (levels.astype(bool) if values.dtype.kind == "b" else levels).tolist(), codes


def _code_sorted(values: Array, unknown: object) -> tuple[list[Any], Array]:
    """Floats, texts and dates: sorted distinct values; NaN, NaT and texts of nothing but spaces unknown."""
    missing = np.zeros(values.shape, dtype=bool)
    if values.dtype.kind == "f":
        missing = np.isnan(values) if unknown is None else np.isnan(values) | (values == unknown)
    elif values.dtype.kind in "mM":
        missing = np.isnat(values)
    codes = np.full(values.shape, -1, dtype=np.int64)
    levels, codes[~missing] = np.unique(values[~missing], return_inverse=True)
    if values.dtype.kind in "US" and any(blank := [not level.strip() for level in levels]):
        place = np.where(blank, -1, np.cumsum(~np.array(blank)) - 1)
        levels, codes = levels[~np.array(blank)], place[codes]
    return list(levels), codes


def _code_objects(values: Array, unknown: object) -> tuple[list[Any], Array]:
    """Mixed Python values: one pass over a dictionary; numbers sort before texts."""
    seen: dict[Any, int] = {}
    listed = values.tolist()
    first = [-1 if is_missing(value, unknown) else seen.setdefault(value, len(seen)) for value in listed]
    levels: dict[str, Any] = {}
    for value in sorted(seen, key=_sort_key):
        levels.setdefault(level_name(value), value)  # 1 and "1" print alike, so they are one level
    order = {name: index for index, name in enumerate(levels)}
    place = np.array([*(order[level_name(value)] for value in seen), -1], dtype=np.int64)
    return list(levels.values()), place[np.asarray(first, dtype=np.int64)]


def is_missing(value: Any, unknown: object = None) -> bool:
    """None, NaN, NaT, NA (these are not equal to themselves), empty text, and the number `unknown`."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, (str, bytes)):
        return not value.strip()  # as a table on disk has it, so that both ways of reading it agree
    return bool(value != value) or (unknown is not None and value is not True and bool(value == unknown))


def _sort_key(value: Any) -> tuple[int, Any]:
    """Numbers first, then other values by their text, then texts."""
    if isinstance(value, (int, float, np.number)):
        return 0, value
    return (2, value) if isinstance(value, str) else (1, str(value))


def _reorder(
    levels: list[Any], codes: Array, order: Sequence[object], name: str
) -> tuple[tuple[str, ...], Array]:
    names = tuple(level_name(level) for level in order)
    if len(set(names)) < len(names):
        twice = next(text for text in names if names.count(text) > 1)
        raise ValueError(f"'{name}' has the level {twice!r} twice; name each level once")
    place = {text: index for index, text in enumerate(names)}
    strange = [level_name(level) for level in levels if level_name(level) not in place]
    if strange:
        raise ValueError(f"'{name}' holds {strange[0]!r}, which is not among its levels: {', '.join(names)}")
    lookup = np.array([*(place[level_name(level)] for level in levels), -1], dtype=np.int64)
    return names, lookup[codes]

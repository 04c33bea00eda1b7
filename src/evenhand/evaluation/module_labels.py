"""Labels as the places of a module's outputs: class codes, or names where the outputs have names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from evenhand.arrays import Array, IntArray, as_array
from evenhand.errors import InputError
from evenhand.evaluation.checks import column
from evenhand.levels import is_missing

Names = tuple[str, ...]


def names_of_outputs(class_names: Any) -> Names | None:
    """The names, one for each output, all of them different texts.

    Numbers are no names: a label 3 could then be a class's name or its place.
    """
    if class_names is None:
        return None
    if isinstance(class_names, str | Mapping) or not hasattr(class_names, "__iter__"):
        raise InputError(
            "'class_names' must be a list of the outputs' names in their order, such as "
            f'["airplane", "bird"], not a {type(class_names).__name__}'
        )
    names = list(class_names)
    if strange := [name for name in names if not isinstance(name, str)]:
        raise InputError(
            f"'class_names' holds {strange[0]!r}; names are texts, and labels that are numbers places"
        )
    if twice := [name for name, times in Counter(names).items() if times > 1]:
        raise InputError(f"'class_names' has {twice[0]!r} twice; give every output a name of its own")
    if len(names) < 2:
        raise InputError(
            f"'class_names' has {len(names)} names; give one for each of the outputs, two or more"
        )
    return tuple(str(name) for name in names)


def label_codes(labels: object, names: Names | None = None) -> IntArray:
    """The place of each label's class among the outputs, -1 where the label is missing.

    >>> label_codes([2, None, 0]).tolist(), label_codes(["dog", "cat"], ("cat", "dog")).tolist()
    ([2, -1, 0], [1, 0])
    """
    values = column(labels, "labels")
    if values.ndim != 1:
        raise InputError(
            f"labels have the shape {values.shape}, and a comparison takes one label a row; give class "
            "codes, such as y.argmax(1) of one column a class, or compare the labels of a multi-label task "
            "one by one"
        )
    if _holds_text(values):
        return _places(values, names)
    codes = _whole(values)
    if names is not None and codes.max(initial=-1) >= len(names):
        raise InputError(
            f"labels hold {codes.max()}, and there are {len(names)} class names, whose places go from 0 to "
            f"{len(names) - 1}"
        )
    return codes


def as_compared(codes: IntArray, names: Names | None) -> Array:
    """Codes as `compare` reads them: names if there are any, and what is missing as None or NaN.

    >>> as_compared(np.array([1, -1]), ("cat", "dog")).tolist(), as_compared(np.array([1, 0]), None).tolist()
    (['dog', None], [1, 0])
    """
    if names is not None:
        return np.array([*names, None], dtype=object)[codes]
    return np.where(codes < 0, np.nan, codes) if (codes < 0).any() else codes


def count_classes(codes: IntArray) -> int:
    """How many classes the labels have."""
    return len(np.unique(codes[codes >= 0]))


def names_that_occur(names: Names, columns: Sequence[IntArray]) -> list[str]:
    """The names of the classes that are some row's, in the order of the outputs; two at least.

    >>> names_that_occur(("cat", "dog", "bird", "ant"), [np.array([2, -1]), np.array([0, 2])])
    ['cat', 'bird']
    """
    seen = set().union(*(np.unique(codes).tolist() for codes in columns)) - {-1}
    if len(seen) < 2:  # one class is always one of two
        seen |= {0, 1} if seen <= {0, 1} else {0}
    return [names[code] for code in sorted(seen)]


def _holds_text(values: Array) -> bool:
    return values.dtype.kind in "US" or (
        values.dtype.kind == "O" and any(isinstance(value, str) for value in values.tolist())
    )


def _places(values: Array, names: Names | None) -> IntArray:
    """The places of names."""
    told = values.tolist()
    known = [value for value in told if not is_missing(value)]
    if names is None:
        text = next(value for value in known if isinstance(value, str | bytes))
        raise InputError(
            f"labels hold text (like {text!r}), and modules answer with class codes; give the place of "
            "each label's class among the outputs, such as [names.index(label) for label in labels], or the "
            "outputs' names in their order as class_names="
        )
    place = {name: code for code, name in enumerate(names)}
    if strange := next((value for value in known if value not in place), None):
        near = get_close_matches(str(strange), names, n=3)
        hint = f"did you mean {', '.join(near)}?" if near else f"they begin with {', '.join(names[:5])}"
        raise InputError(f"labels hold {strange!r}, which is none of the {len(names)} class names; {hint}")
    return np.array([-1 if is_missing(value) else place[value] for value in told], dtype=np.int64)


def _whole(values: Array) -> IntArray:
    """Class codes of numbers."""
    if values.dtype.kind == "O":
        values = _numbers(values)
    if values.dtype.kind not in "biuf":
        raise InputError(f"labels are class codes, whole numbers from 0 on, not {values.dtype}")
    lacking = np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)
    known = values[~lacking]
    if values.dtype.kind == "f" and (off := known[~np.isfinite(known) | (known != np.round(known))]).size:
        raise InputError(f"labels hold {off[0]:g}, which is no class code; these are whole numbers from 0 on")
    if values.dtype.kind in "if" and (known < 0).any():  # such as the -100 that torch's losses pass over
        raise InputError(
            f"labels hold {known[known < 0][0]:g}, which no module answers; count classes from 0 on, and "
            "give rows without a class as NaN, which are counted as missing"
        )
    codes = np.full(len(values), -1, dtype=np.int64)
    codes[~lacking] = known
    return codes


def _numbers(values: Array) -> Array:
    """Numbers among which some are None or NA."""
    told = [None if is_missing(value) else value for value in values.tolist()]
    try:
        return as_array([np.nan if value is None else float(value) for value in told])
    except (TypeError, ValueError) as error:
        raise InputError(f"labels are class codes, whole numbers from 0 on: {error}") from error

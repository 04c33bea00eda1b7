"""What a user's columns must be: checked before anything is coded, with the row as the user counts it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from evenhand.arrays import Array, FloatArray, as_array
from evenhand.groups import Groups

MOST_LEVELS = 1000  # classes, or levels of an attribute; more are ids or scores
SAFE = 1e100  # weights beyond this, or below its inverse, are scaled before they are squared


def column(values: object, what: str) -> Array:
    """The values as an array with rows; an iterator is read once."""
    array = as_array(list(values) if isinstance(values, Iterator) else values)
    if array.ndim == 0:
        given = type(values).__name__
        raise ValueError(f"{what} must be a list, an array or a column with one value a row, not a {given}")
    return array


def numbers(values: object, what: str) -> FloatArray:
    """The values as floats."""
    array = column(values, what)
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what} must be numbers: {error}") from error


def checked_weights(weights: object | None, rows: int) -> FloatArray | None:
    """Finite weights, not negative, one a row; extreme ones brought to a scale that can be squared."""
    if weights is None:
        return None
    w = numbers(weights, "weights")
    if w.shape != (rows,):
        raise ValueError(
            f"{len(w)} weights for {rows} rows" if w.ndim == 1 else f"weights of the shape {w.shape}"
        )
    good = np.isfinite(w) & (w >= 0)
    if not good.all():
        row = int(np.argmin(good))
        raise ValueError(f"weight {w[row]} in row {row}: weights must be finite and not negative")
    largest = float(w.max(initial=0.0))
    return w / largest if largest > SAFE or 0 < largest < 1 / SAFE else w


def checked_groups(groups: object, rows: int) -> Groups:
    """Groups of as many rows, whose attributes have names of their own and are no ids."""
    found = Groups.from_any(groups, rows)
    names = [attribute.name for attribute in found.attributes]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"two attributes are called '{twice}'; rename one")
    for attribute in found.attributes:
        if len(attribute.levels) > MOST_LEVELS:
            raise ValueError(
                f"attribute '{attribute.name}' has {len(attribute.levels)} levels: that looks like an id or "
                "a number; put values together into groups"
            )
    return found


def refuse_ids(classes: Sequence[str]) -> None:
    """Labels of thousands of classes are ids or scores, and would fill the memory."""
    if len(classes) > MOST_LEVELS:
        raise ValueError(
            f"the labels have {len(classes)} classes: that looks like an id or a score, not a class"
        )


def shortened(text: str, most: int = 80) -> str:
    """A name that fits into a sentence.

    >>> shortened("x" * 100, 10)
    'xxxxxxxxx…'
    """
    return text if len(text) <= most else text[: most - 1] + "…"

"""Groups: the only place that turns the values of protected attributes into group ids.

Everything downstream sees integers 0 .. G-1 in a stable order, and -1 for "not known". Levels are sorted (a
categorical column keeps its own order), so the same data gives the same ids whatever the order of its rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evenhand.arrays import Array, as_array, is_array_like, is_torch
from evenhand.levels import categories_of, code_values

UNKNOWN = -1
SEPARATOR = " · "
MOST_GROUPS = 1 << 16  # combinations beyond this are listed only where they occur
MOST_CODES = 1 << 62


@dataclass(frozen=True)
class Attribute:
    """One protected attribute: its name, the names of its levels, and a code for each row (-1 = unknown).

    >>> Attribute.from_values(["b", None, "a"], "region").codes.tolist()
    [1, -1, 0]
    """

    name: str
    levels: tuple[str, ...]
    codes: Array = field(repr=False)

    @classmethod
    def from_values(
        cls, values: object, name: str = "group", levels: Sequence[object] | None = None
    ) -> Attribute:
        """Code any column: texts, numbers, booleans, categories, dates, tensors, lists.

        Missing values (None, NaN, NaT, NA, empty text) are unknown, and so is the whole number -1. `levels`
        fixes the order, and may name levels that do not occur.

        >>> Attribute.from_values([True, False]).levels
        ('False', 'True')
        >>> Attribute.from_values([3, 1], levels=[1, 2, 3]).codes.tolist()
        [2, 0]
        """
        order = levels if levels is not None else categories_of(values)
        array = as_array(values)
        if array.ndim != 1:
            raise ValueError(f"attribute '{name}' must have one value a row, not the shape {array.shape}")
        names, codes = code_values(array, order, name)
        return cls(name, names, codes)

    def __len__(self) -> int:
        return len(self.codes)

    def at(self, rows: Array | slice) -> Attribute:
        """The same attribute of some of the rows."""
        return Attribute(self.name, self.levels, self.codes[rows])


@dataclass(frozen=True)
class Groups:
    """Group ids of the rows, the names of all groups, and the attributes they are made of.

    >>> sex = Attribute.from_values(["f", "m", "f", None], "sex")
    >>> old = Attribute.from_values([True, False, False, True], "old")
    >>> both = Groups.from_attributes([sex, old])
    >>> both.names
    ('sex=f · old=False', 'sex=f · old=True', 'sex=m · old=False', 'sex=m · old=True')
    >>> both.ids.tolist()
    [1, 2, 0, -1]
    """

    ids: Array = field(repr=False)
    names: tuple[str, ...]
    attributes: tuple[Attribute, ...] = field(repr=False)
    places: Array = field(repr=False)

    @classmethod
    def from_attributes(cls, attributes: Sequence[Attribute], most: int = MOST_GROUPS) -> Groups:
        """The combinations of the attributes' levels; a row is unknown if any of its attributes is.

        All combinations where there are at most `most` of them, otherwise those that occur; the order is the
        same either way.
        """
        if not attributes:
            raise ValueError("no attribute was given: a grouping needs at least one")
        lengths = {attribute.name: len(attribute) for attribute in attributes}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"the attributes have different lengths: {lengths}")
        total = n_intersections(attributes)
        if total > MOST_CODES:
            raise ValueError("the attributes have too many combinations to be counted: name fewer of them")
        codes = _codes(attributes)
        places = np.arange(total) if total <= most else np.unique(codes[codes >= 0])
        names = tuple(_name(attributes, levels) for levels in _levels(places, attributes))
        return cls(_find(codes, places), names, tuple(attributes), places)

    @classmethod
    def from_any(cls, values: object, n_rows: int | None = None) -> Groups:
        """Groups of whatever a user has: a column, several named columns, a data frame, attributes.

        >>> Groups.from_any({"sex": ["f", "m"], "age": ["old", "old"]}).names
        ('sex=f · age=old', 'sex=m · age=old')
        >>> Groups.from_any(["b", "a", "b"]).ids.tolist()
        [1, 0, 1]
        """
        groups = values if isinstance(values, Groups) else cls.from_attributes(_attributes(values))
        if n_rows is not None and len(groups.ids) != n_rows:
            others = f" (and {len(groups.attributes) - 1} more)" if len(groups.attributes) > 1 else ""
            raise ValueError(
                f"attribute '{groups.attributes[0].name:.80}'{others} has {len(groups.ids)} group values for "
                f"{n_rows} rows; give one for each row, None where it is not known"
            )
        return groups

    @property
    def n_groups(self) -> int:
        """Number of groups, those that do not occur included."""
        return len(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def levels_of(self, group: int) -> dict[str, str]:
        """The level of each attribute in one group."""
        (levels,) = _levels(self.places[group : group + 1], self.attributes)
        return {a.name: a.levels[level] for a, level in zip(self.attributes, levels, strict=True)}

    def ids_of(self, attributes: Sequence[Attribute]) -> Array:
        """Group ids of other rows, coded by the same attributes with the same levels."""
        return _find(_codes(attributes), self.places)

    def keep(self, rows: Array) -> Groups:
        """The same groups for some of the rows."""
        parts = tuple(part.at(rows) for part in self.attributes)
        return Groups(self.ids[rows], self.names, parts, self.places)

    def occurring(self) -> Groups:
        """Only the groups that have a row, in the same order."""
        return Groups.from_attributes(self.attributes, most=0)


def _codes(attributes: Sequence[Attribute]) -> Array:
    """One number for each combination of levels, -1 where any of them is unknown."""
    codes = np.zeros(len(attributes[0]), dtype=np.int64)
    unknown = np.zeros(len(codes), dtype=bool)
    for attribute in attributes:
        codes = codes * len(attribute.levels) + attribute.codes
        unknown |= attribute.codes < 0
    codes[unknown] = UNKNOWN
    return codes


def _find(codes: Array, places: Array) -> Array:
    """Where each code stands among the places, -1 if nowhere."""
    if not len(places):
        return np.full(len(codes), UNKNOWN, dtype=np.int64)
    if places[-1] == len(places) - 1:
        return codes  # all combinations are there, each at its own place
    found = np.minimum(np.searchsorted(places, codes), len(places) - 1)
    return np.where(places[found] == codes, found, UNKNOWN)


def _levels(places: Array, attributes: Sequence[Attribute]) -> Iterator[tuple[int, ...]]:
    sizes = tuple(max(len(attribute.levels), 1) for attribute in attributes)
    return zip(*(part.tolist() for part in np.unravel_index(places, sizes)), strict=True)


def _name(attributes: Sequence[Attribute], levels: Sequence[int]) -> str:
    """A lone attribute's group is called by its level; in an intersection each level says whose it is."""
    if len(attributes) == 1:
        return attributes[0].levels[levels[0]]
    return SEPARATOR.join(f"{a.name}={a.levels[k]}" for a, k in zip(attributes, levels, strict=True))


def _attributes(values: Any) -> list[Attribute]:
    if isinstance(values, (str, bytes)):
        raise ValueError(f"groups must have one value a row, not the single text {values!r}")
    if isinstance(values, Attribute):
        return [values]
    if type(values).__name__ == "LazyFrame":
        values = values.collect()
    if isinstance(values, Mapping):
        return [Attribute.from_values(column, str(name)) for name, column in values.items()]
    if hasattr(values, "columns") and hasattr(values, "__getitem__"):  # a data frame of pandas or polars
        return [Attribute.from_values(values[name], str(name)) for name in values.columns]
    if isinstance(values, Iterable) and not is_torch(values) and not hasattr(values, "dtype"):
        items = values = list(values)
        if items and all(isinstance(item, Attribute) for item in items):
            return items
        if items and all(is_array_like(item) for item in items):
            return [_column(item, place) for place, item in enumerate(items)]
    array = as_array(values) if getattr(values, "ndim", 1) == 2 else None
    if array is not None and array.ndim == 2:
        return [_column(array[:, place], place) for place in range(array.shape[1])]
    return [_column(values, None)]


def _column(values: Any, place: int | None) -> Attribute:
    name = getattr(values, "name", None)
    fallback = "group" if place is None else f"attribute {place + 1}"
    return Attribute.from_values(values, str(name) if isinstance(name, str) and name else fallback)


def n_intersections(attributes: Sequence[Attribute]) -> int:
    """How many groups the intersection of the attributes has."""
    return math.prod(len(attribute.levels) for attribute in attributes)

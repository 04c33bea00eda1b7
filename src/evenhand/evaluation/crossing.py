"""The groups of coded attributes, and the id of each row or cell, without listing empty intersections."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from evenhand.arrays import Array
from evenhand.errors import InputError
from evenhand.evaluation.rows import MOST_CELLS
from evenhand.groups import SEPARATOR, Attribute

MOST_CODES = 1 << 62


@dataclass(frozen=True)
class Crossing:
    """The intersection of one or several attributes; `places` are its groups as mixed-radix codes.

    >>> sex = Attribute("sex", ("f", "m"), np.array([0, 1, -1]))
    >>> crossing = Crossing.of([sex])
    >>> crossing.names, crossing.ids([sex]).tolist()
    (('f', 'm'), [0, 1, -1])
    """

    attributes: tuple[str, ...]
    names: tuple[str, ...]
    levels: tuple[dict[str, str], ...]
    sizes: tuple[int, ...]
    places: Array = field(repr=False)

    @classmethod
    def of(cls, attributes: Sequence[Attribute]) -> Crossing:
        """All combinations where they are few, else those that occur; in the same order either way."""
        sizes = tuple(len(attribute.levels) for attribute in attributes)
        if math.prod(sizes) > MOST_CODES:
            raise InputError("the group columns have too many combinations to be counted; name fewer of them")
        places = np.arange(math.prod(sizes)) if math.prod(sizes) <= MOST_CELLS else _occurring(attributes)
        found = np.unravel_index(places, sizes)
        levels = tuple(
            {a.name: a.levels[int(k)] for a, k in zip(attributes, group, strict=True)}
            for group in zip(*found, strict=True)
        )
        names = tuple(_name(group) for group in levels)
        return cls(tuple(a.name for a in attributes), names, levels, sizes, places)

    def __len__(self) -> int:
        return len(self.names)

    def ids(self, attributes: Sequence[Attribute]) -> Array:
        """The group of each entry of the attributes' codes, -1 where any of them is unknown."""
        codes = _codes(attributes, self.sizes)
        place = np.minimum(np.searchsorted(self.places, codes), len(self.places) - 1)
        return np.where(self.places[place] == codes, place, -1)


def _codes(attributes: Sequence[Attribute], sizes: Sequence[int]) -> Array:
    codes = np.zeros(len(attributes[0].codes), dtype=np.int64)
    unknown = np.zeros(len(codes), dtype=bool)
    for attribute, size in zip(attributes, sizes, strict=True):
        codes = codes * size + attribute.codes
        unknown |= attribute.codes < 0
    codes[unknown] = -1
    return codes


def _occurring(attributes: Sequence[Attribute]) -> Array:
    codes = np.unique(_codes(attributes, [len(attribute.levels) for attribute in attributes]))
    known = codes[codes >= 0]
    if not len(known):
        raise InputError("no row has a value in every group column; name columns that are filled")
    return known


def _name(levels: dict[str, str]) -> str:
    """As `Groups` names them: a lone attribute's group by its level, others by attribute and level."""
    if len(levels) == 1:
        return next(iter(levels.values()))
    return SEPARATOR.join(f"{name}={level}" for name, level in levels.items())

"""How a user's table becomes inputs, as learned from its training rows: the same for rows that come later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from evenhand.arrays import FloatArray
from evenhand.data.encode import Block, as_input, join, numbers, one_hot
from evenhand.data.table_columns import columns_of
from evenhand.data.table_features import MISSING, read_numbers, read_texts, values_of
from evenhand.errors import InputError


@dataclass(frozen=True)
class Numbers:
    """A column of numbers: `fill` stands for a missing one, and a second input says so if `told`."""

    name: str
    fill: float
    told: bool

    def read(self, column: Any) -> FloatArray:
        """The numbers of a column, NaN where missing; a text among them is refused."""
        values = values_of(self.name, column)
        found = read_numbers(self.name, values)
        if found is not None:
            return found
        for row, value in enumerate(values.tolist()):
            if isinstance(value, (str, bytes)):
                raise InputError(
                    f"the column '{self.name}' holds the text {value!r:.40} in row {row}; it was learned as "
                    "numbers, so make one of it"
                )
        return np.empty(0)  # no rows have no type

    def block(self, values: FloatArray) -> Block:
        """The inputs, before scaling."""
        gaps = np.isnan(values)
        filled = np.where(gaps, self.fill, values)
        if not self.told:
            return numbers(self.name, filled)
        names = self.name, f"{self.name} {MISSING}"
        return Block(names, np.stack([filled, gaps.astype(np.float64)], axis=1))


@dataclass(frozen=True)
class Texts:
    """A column of texts: an input for each level; a row of any other level has 0 in all of them."""

    name: str
    levels: tuple[str, ...]

    def read(self, column: Any) -> list[str]:
        """The texts of a column; a number among them is the level that is spelled like it."""
        values = values_of(self.name, column)
        read_numbers(self.name, values)  # refuses dates, lists and the like
        return read_texts(values)

    def block(self, texts: list[str]) -> Block:
        """The inputs, before scaling."""
        return one_hot(self.name, texts, self.levels)


@dataclass(frozen=True)
class TableEncoding:
    """All that turns the columns of a table into inputs: plain numbers and texts, which JSON can hold.

    `places` are those of the columns' inputs that vary in the training rows; `names`, `shift` and `scale`
    have an entry for each of them.

    >>> rules = (Numbers("age", 30.0, told=True), Texts("port", ("C", "S")))
    >>> names, places = ("age", "port=C", "port=S"), (0, 2, 3)
    >>> encoding = TableEncoding(rules, names, places, shift=(30.0, 0.0, 0.0), scale=(10.0, 1.0, 1.0))
    >>> encoding.encode({"port": ["S", "Q"], "age": [20, None], "name": ["a", "b"]}).tolist()
    [[-1.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    >>> TableEncoding.from_dict(encoding.to_dict()) == encoding
    True
    """

    columns: tuple[Numbers | Texts, ...]
    names: tuple[str, ...]
    places: tuple[int, ...]
    shift: tuple[float, ...]
    scale: tuple[float, ...]

    def encode(self, table: Any) -> Tensor:
        """The inputs `[rows, len(names)]` of a data frame or a dict of columns, found by their names.

        Columns that were not learned from are ignored. Values are told by what they are, not by their type:
        whole numbers for floats, any kind of text column, categories in any order.
        """
        given = columns_of(table, [column.name for column in self.columns])
        everything = join([_block(column, given[column.name]) for column in self.columns])
        return self.scaled(everything.values[:, list(self.places)])

    def scaled(self, values: FloatArray) -> Tensor:
        """The kept inputs as z-scores of the training rows."""
        with np.errstate(over="ignore"):
            x = as_input((values - np.array(self.shift)) / np.array(self.scale))
        if not torch.isfinite(x).all():
            row, place = (~torch.isfinite(x)).nonzero()[0].tolist()
            raise InputError(
                f"the input '{self.names[place]}' is {values[row, place]:g} in row {row}: too far from the "
                "training rows to be scaled like them"
            )
        return x

    def to_dict(self) -> dict[str, Any]:
        """The encoding as JSON can hold it."""
        return asdict(self)

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> TableEncoding:
        """The encoding that `to_dict` told, also after a way through JSON."""
        columns = tuple(_column(column) for column in told["columns"])
        names, places, shift, scale = (tuple(told[key]) for key in ("names", "places", "shift", "scale"))
        return cls(columns, names, places, shift, scale)


def _block(column: Any, values: Any) -> Block:
    found: Block = column.block(column.read(values))
    return found


def _column(told: Mapping[str, Any]) -> Numbers | Texts:
    return Texts(told["name"], tuple(told["levels"])) if "levels" in told else Numbers(**told)

"""Which column of a table plays which part, and what a column of some type may be used for."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from evenhand.errors import InputError

SHOWN = 20  # column names listed in a message


@dataclass(frozen=True)
class Columns:
    """The names of the columns to read. One column may play several parts.

    Without `prediction`, a row is predicted positive when its score is at least the threshold; with one score
    column for each class, its prediction is the class of the highest score (the first of equals).

    >>> Columns("y", "p", ("sex",)).used
    ('y', 'p', 'sex')
    """

    label: str
    prediction: str | None
    groups: tuple[str, ...]
    score: tuple[str, ...] = ()
    weight: str | None = None
    run: str | None = None
    key: str | None = None

    def __post_init__(self) -> None:
        if self.prediction is None and not self.score:
            raise InputError("neither a prediction column nor a score column was given; name one of them")
        for name in self.groups:
            if self.groups.count(name) > 1:
                raise InputError(f"the group column '{name}' was given twice; name it once")

    @property
    def used(self) -> tuple[str, ...]:
        """Every column that is read, once, in a fixed order."""
        names = (self.label, self.prediction, *self.groups, *self.score, self.weight, self.run, self.key)
        return tuple(dict.fromkeys(name for name in names if name is not None))

    @property
    def numbers(self) -> frozenset[str]:
        """The columns that must be numeric: scores and the weight."""
        return frozenset((*self.score, *([self.weight] if self.weight is not None else [])))


def kind_of(dtype: pl.DataType) -> str:
    """The type of a column in a user's words; what no part can use is 'unusable'.

    >>> kind_of(pl.Int8()), kind_of(pl.Categorical()), kind_of(pl.List(pl.Int8()))
    ('whole numbers', 'text', 'unusable')
    """
    if dtype == pl.Boolean:
        return "true and false"
    if dtype.is_integer():
        return "whole numbers"
    if dtype.is_float() or dtype.is_decimal():
        return "decimal numbers"
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        return "text"
    if dtype.is_temporal():
        return "dates or times"
    return "nothing" if dtype == pl.Null else "unusable"


def check_names(names: Sequence[str], wanted: Sequence[str], file: str) -> None:
    """Every wanted column is in the file, and only once."""
    for name in wanted:
        if name not in names:
            raise InputError(_no_column(name, names, file))
        if names.count(name) > 1:
            raise InputError(f"the header of {file} names the column '{name}' twice; rename one of the two")


def check_types(schema: Mapping[str, pl.DataType], columns: Columns, file: str) -> None:
    """Scores and weights are numbers, and no column holds lists or the like; told from the types alone."""
    for name in columns.used:
        dtype = schema[name]
        kind = kind_of(dtype)
        if name in columns.numbers and kind not in ("whole numbers", "decimal numbers", "nothing"):
            part = "weight" if name == columns.weight else "score"
            held = dtype if kind == "unusable" else kind
            raise InputError(f"the {part} column '{name}' of {file} is not numeric: it holds {held}")
        if kind == "unusable":
            raise InputError(f"the column '{name}' of {file} holds {dtype}, which are no classes or groups")


def _no_column(name: str, names: Sequence[str], file: str) -> str:
    lower = {known.lower(): known for known in names}
    near = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=0.6)
    hint = f"; did you mean '{lower[near[0]]}'?" if near else "."
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"there is no column '{name}' in {file}{hint} The file has: {', '.join(names[:SHOWN])}{more}"

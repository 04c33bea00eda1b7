"""Classes and levels: from the distinct values of columns to names and codes, or a complaint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import polars as pl

from evenhand.arrays import IntArray
from evenhand.errors import InputError
from evenhand.groups import UNKNOWN
from evenhand.levels import level_name
from evenhand.tables.values import WHOLE, Value, is_text, natural_order, plain_values, shown

MOST = 1000  # distinct classes, or levels of one attribute, beyond which a column is something else


@dataclass(frozen=True)
class Column:
    """A column as it was read (all rows, or the distinct ones of a GROUP BY) and how a message names it."""

    part: str  # "label", "prediction", "group", "run"
    name: str
    file: str
    series: pl.Series
    distinct: pl.Series
    values: tuple[Value, ...]  # the plain value of each distinct one

    @classmethod
    def of(cls, part: str, name: str, file: str, series: pl.Series, *, parse: bool) -> Column:
        """The column with its distinct values worked out."""
        distinct = series.unique()
        return cls(part, name, file, series, distinct, tuple(plain_values(distinct, parse=parse)))

    def __str__(self) -> str:
        return f"{self.part} column '{self.name}'"

    @property
    def declared(self) -> list[str] | None:
        """The order that the column's own type states (Enum), if any; a Categorical sorts as text."""
        return list(self.series.dtype.categories) if isinstance(self.series.dtype, pl.Enum) else None

    def codes(self, place: Mapping[Value, int]) -> IntArray:
        """A code for every row of the series; values that have no place are unknown."""
        codes = [UNKNOWN if value is None else place.get(value, UNKNOWN) for value in self.values]
        coded = self.series.replace_strict(
            self.distinct, pl.Series(codes, dtype=pl.Int64), return_dtype=pl.Int64
        )
        return cast(IntArray, coded.to_numpy())


@dataclass(frozen=True)
class Coding:
    """Names in their order, and the code of each plain value."""

    names: tuple[str, ...]
    place: Mapping[Value, int]


def code_levels(column: Column) -> Coding:
    """The levels of one attribute; missing values and the whole number -1 are unknown (code -1).

    >>> code_levels(Column.of("group", "g", "a.csv", pl.Series(["10", "9", "-1", None]), parse=True)).names
    ('9', '10')
    """
    known = [value for value in column.values if not (value == UNKNOWN and not isinstance(value, bool))]
    levels = natural_order(known)
    if not levels:
        raise InputError(f"the {column} of {column.file} is empty in every row; name one with values")
    refuse_many(column, len(levels))
    levels = column.declared or levels
    return Coding(
        tuple(level_name(level) for level in levels), {level: place for place, level in enumerate(levels)}
    )


def code_runs(column: Column) -> Coding:
    """The runs in natural order; -1 is a run like any other."""
    runs = natural_order(column.values)
    if not runs:
        raise InputError(f"the {column} of {column.file} is empty in every row; each row needs a run")
    refuse_many(column, len(runs))
    return Coding(tuple(level_name(run) for run in runs), {run: place for place, run in enumerate(runs)})


def code_classes(columns: Sequence[Column]) -> Coding:
    """The classes that several columns (labels, predictions) share, in natural order.

    Zeros and ones, or false and true, are two classes even where only one of them occurs.

    >>> y = Column.of("label", "y", "a.csv", pl.Series(["2", "0", "10"]), parse=True)
    >>> code_classes([y]).names
    ('0', '2', '10')
    """
    for column in columns:
        refuse_many(column, len(natural_order(column.values)))
        if all(value is None for value in column.values):
            raise InputError(f"the {column} of {column.file} is empty in every row; name one with classes")
    values = _one_kind(columns)
    for column, own in zip(columns, values, strict=True):
        _refuse_fractions(column, own)
    known = [value for own in values for value in own if value is not None]
    union = natural_order(known)
    numbers = not is_text(union)
    if numbers and set(union) <= {0, 1}:
        union = [False, True] if all(isinstance(value, bool) for value in known) else [0, 1]
    elif numbers:
        union = [int(value) for value in union]  # true among 0, 1, 2 is a 1
    declared = next((column.declared for column in columns if column.declared), None)
    if declared is not None and set(union) <= set(declared):
        union = list(declared)
    place = {value: code for code, value in enumerate(union)}
    if numbers:  # also for text that spells the same numbers
        place.update({str(value): code for code, value in enumerate(union) if not isinstance(value, bool)})
    return Coding(tuple(level_name(value) for value in union), place)


def refuse_many(column: Column, distinct: int) -> None:
    """More distinct values than classes or groups have: the wrong column was named."""
    if distinct <= MOST:
        return
    fractional = any(isinstance(value, float) for value in column.values)
    if column.part == "prediction" and fractional:
        raise InputError(_scores(column))
    what = "a measurement; sort it into bands first" if fractional else "an id"
    if column.part in ("label", "prediction"):
        what = "an id or a score"
    raise InputError(
        f"the {column} of {column.file} has {distinct} different values (at most {MOST} can be compared): "
        f"it looks like {what}"
    )


def _one_kind(columns: Sequence[Column]) -> list[list[Value]]:
    """The values of each column, text that spells whole numbers read as such beside a column of numbers."""
    values = [list(column.values) for column in columns]
    texts = [is_text(own) for own in values]
    if all(texts) or not any(texts):
        return values
    for place, own in enumerate(values):
        if texts[place] and all(value is None or _spells_whole(value) for value in own):
            values[place] = [value if value is None else int(value) for value in own]
            texts[place] = False
    if any(texts):
        words, numbers = texts.index(True), texts.index(False)
        first, second = sorted((words, numbers))
        kinds = ["text" if text else "numbers" for text in texts]
        said = [f"{columns[k]} holds {kinds[k]} ({shown(values[k])})" for k in (first, second)]
        raise InputError(
            f"{said[0]} but {said[1]}, in {columns[second].file}; write the classes alike in both columns"
        )
    return values


def _spells_whole(value: Value) -> bool:
    return isinstance(value, str) and WHOLE.fullmatch(value) is not None and str(int(value)) == value


def _refuse_fractions(column: Column, values: Sequence[Value]) -> None:
    fractions = [value for value in values if isinstance(value, float)]
    if not fractions:
        return
    if column.part == "prediction":
        raise InputError(_scores(column))
    raise InputError(
        f"the {column} of {column.file} holds numbers that are not whole ({shown(fractions)}), "
        "which are not classes"
    )


def _scores(column: Column) -> str:
    fractions = [value for value in column.values if isinstance(value, float)]
    return (
        f"the {column} of {column.file} looks like scores ({shown(fractions)}), not classes; "
        f"use --score {column.name} with --threshold instead"
    )


def with_positive(coding: Coding, positive: object, label: str) -> tuple[Coding, str | None]:
    """The classes with the positive one last, and its name; None for a task of more than two classes.

    Unless it is named, the last of two classes in natural order is the positive one: 1, true, yes.

    >>> with_positive(Coding(("bad", "good"), {"bad": 0, "good": 1}), "bad", "y")
    (Coding(names=('good', 'bad'), place={'bad': 1, 'good': 0}), 'bad')
    """
    names = coding.names
    if positive is None:
        return coding, names[1] if len(names) == 2 else None
    wanted = level_name(positive)
    if wanted not in names:
        known = ", ".join(names)
        raise InputError(
            f"there is no class '{wanted}' in the label column '{label}'; the classes are: {known}"
        )
    if len(names) != 2:
        known = ", ".join(names)
        raise InputError(f"a positive class needs two classes, but '{label}' has {len(names)}: {known}")
    if wanted == names[1]:
        return coding, wanted
    return Coding((names[1], names[0]), {value: 1 - code for value, code in coding.place.items()}), wanted

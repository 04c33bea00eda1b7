"""Groups that several files hold for one row: those of the base are used, and those of others must agree."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl

from evenhand.groups import UNKNOWN
from evenhand.levels import level_name
from evenhand.tables.aligned import Aligned
from evenhand.tables.coding import Column
from evenhand.tables.columns import Columns
from evenhand.tables.sources import open_source
from evenhand.tables.values import Value, parse_texts


def held_groups(file: Path, columns: Columns) -> tuple[str, ...]:
    """The group columns that an alternative's file has too; but its predictions are no groups of the base."""
    own = (columns.prediction, *columns.score)
    names = open_source(file, replace(columns, groups=(), weight=None)).names
    return tuple(name for name in columns.groups if name in names and name not in own)


def refuse_other_groups(aligned: Aligned, columns: Columns) -> None:
    """Of a row that two files give two groups one at least is wrong; a missing value says nothing."""
    for group, name in enumerate(columns.groups):
        base = aligned.frame[f"group{group}"]
        for place in range(1, len(aligned.files)):
            held = f"group{group}.{place}"
            if held in aligned.frame.columns and not _alike(base, aligned.frame[held]):
                _refuse(aligned, place, name, base, aligned.frame[held])


def _alike(base: pl.Series, other: pl.Series) -> bool:
    """Whether the columns agree as they were read: then nothing needs to be coded, which takes longer."""
    return base.dtype == other.dtype != pl.Categorical and not (base != other).any()


def _refuse(aligned: Aligned, place: int, name: str, base: pl.Series, other: pl.Series) -> None:
    columns = [
        Column.of("group", name, aligned.files[k], series, parse=aligned.parse[k])
        for k, series in ((0, base), (place, other))
    ]
    names: dict[Value, str] = {}
    for value in (value for column in columns for value in column.values):
        if value is not None and (value != UNKNOWN or isinstance(value, bool)):
            names.setdefault(_meaning(value), level_name(value))
    code = {meaning: place for place, meaning in enumerate(names)}
    own, others = (
        column.codes({value: code.get(_meaning(value), UNKNOWN) for value in column.values})
        for column in columns
    )
    advice = f"; where the groups of {aligned.files[0]} are right, leave the column out of the other"
    aligned.refuse_difference(place, "group", name, own, others, list(names.values()), advice)


def _meaning(value: Value) -> Value:
    """What is one level however a file writes it: the text "1" and the number 1, a date and its text.

    >>> [_meaning(value) for value in ("1", 1.5, " f", "true", "NA", "007")]
    [1, 1.5, 'f', True, 'NA', '007']
    """
    text = value if value is None or isinstance(value, (bool, int, float)) else level_name(value)
    if not isinstance(text, str):
        return text
    (read,) = parse_texts([text])
    return text if read is None else read

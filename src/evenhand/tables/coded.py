"""A table as it was read, with every class, level and run replaced by its code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from evenhand.errors import InputError
from evenhand.groups import UNKNOWN, Attribute
from evenhand.tables.coding import (
    Coding,
    Column,
    code_classes,
    code_levels,
    code_runs,
    refuse_many,
    with_positive,
)
from evenhand.tables.columns import Columns
from evenhand.tables.sources import Source


@dataclass(frozen=True)
class Coded:
    """Codes in `frame` (label, prediction, group0 .., run), the other columns as they were."""

    classes: tuple[str, ...]
    positive: str | None
    levels: tuple[tuple[str, tuple[str, ...]], ...]  # (name, levels) of each attribute
    runs: tuple[str, ...]
    frame: pl.DataFrame

    @property
    def keys(self) -> list[str]:
        """The columns of `frame` that hold codes."""
        return ["run", "label", "prediction", *self.groups]

    @property
    def groups(self) -> list[str]:
        """The columns of `frame` that hold the levels' codes."""
        return [f"group{place}" for place in range(len(self.levels))]

    def attributes(self, frame: pl.DataFrame) -> tuple[Attribute, ...]:
        """The attributes of the rows of a frame that was made from this one."""
        pairs = zip(self.levels, self.groups, strict=True)
        return tuple(Attribute(name, levels, frame[column].to_numpy()) for (name, levels), column in pairs)


def code_table(table: pl.DataFrame, parts: Sequence[Source], columns: Columns, positive: object) -> Coded:
    """Code the columns of a table, rows or the result of a GROUP BY alike."""
    read = _columns(table, parts, columns)
    labels = [column for column in read if column.part in ("label", "prediction")]
    classes, chosen = with_positive(code_classes(labels), positive, columns.label)
    _check_scores(classes, columns, names_of(parts))
    codes = {column.part: column.codes(classes.place) for column in labels}
    if columns.prediction is None:  # already a code: below or above the threshold, or the highest score
        codes["prediction"] = table["prediction"].cast(pl.Int64).fill_null(UNKNOWN).to_numpy()
    levels = []
    for place, column in enumerate(column for column in read if column.part == "group"):
        coding = code_levels(column)
        levels.append((column.name, coding.names))
        codes[f"group{place}"] = column.codes(coding.place)
    run = next((column for column in read if column.part == "run"), None)
    runs = code_runs(run) if run is not None else Coding((), {})
    codes |= {"run": run.codes(runs.place)} if run is not None else {}
    frame = table.with_columns([pl.Series(name, values, dtype=pl.Int64) for name, values in codes.items()])
    frame = frame if run is not None else frame.with_columns(pl.lit(0, pl.Int64).alias("run"))
    return Coded(classes.names, chosen, tuple(levels), runs.names, frame)


def refuse_ids(sample: pl.DataFrame, parts: Sequence[Source], columns: Columns) -> None:
    """Refuse a column of ids or scores by a few thousand rows, before a GROUP BY of it fills the memory."""
    for column in _columns(sample, parts, columns):
        refuse_many(column, len({value for value in column.values if value is not None}))


def names_of(parts: Sequence[Source]) -> str:
    """The files as a message names them."""
    return parts[0].name if len(parts) == 1 else f"{parts[0].name} and {len(parts) - 1} more"


def _columns(table: pl.DataFrame, parts: Sequence[Source], columns: Columns) -> list[Column]:
    chosen = [("label", columns.label, "label")]
    if columns.prediction is not None:
        chosen.append(("prediction", columns.prediction, "prediction"))
    chosen += [("group", name, f"group{place}") for place, name in enumerate(columns.groups)]
    chosen += [("run", columns.run, "run")] if columns.run is not None else []
    file, parse = names_of(parts), parts[0].is_text
    return [Column.of(part, name, file, table[fixed], parse=parse) for part, name, fixed in chosen]


def _check_scores(classes: Coding, columns: Columns, file: str) -> None:
    names = ", ".join(classes.names[:10])
    if len(columns.score) == 1 and len(classes.names) != 2:
        raise InputError(
            f"one score column needs two classes, but the label column '{columns.label}' of {file} has "
            f"{len(classes.names)} ({names}); name one score column for each class"
        )
    if len(columns.score) > 1 and len(columns.score) != len(classes.names):
        raise InputError(
            f"{len(columns.score)} score columns were given for {len(classes.names)} classes ({names}) of "
            f"{file}; name one for each class, in that order"
        )

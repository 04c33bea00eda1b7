"""The files of several models as they are read, and their rows side by side in the order they stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from evenhand.arrays import Array
from evenhand.errors import InputError
from evenhand.tables.columns import Columns
from evenhand.tables.failures import collect
from evenhand.tables.lines import check_lines
from evenhand.tables.rows import ODD, lazy_rows, open_parts, score_names
from evenhand.tables.scores import check_scores
from evenhand.tables.sources import Source
from evenhand.tables.weights import check_weights


@dataclass(frozen=True)
class Unmatched:
    """Rows that only the base file has, and rows that only the alternative has; each once, not once a run."""

    base: int = 0
    alternative: int = 0


@dataclass(frozen=True)
class Model:
    """One file as it was read: label, prediction, and where they are named key, run, groups and weight."""

    source: Source
    table: pl.DataFrame = field(repr=False)


@dataclass(frozen=True)
class Aligned:
    """One row for each row that all files have; label0, prediction0 are the base's, label1 .. the others'.

    group0, group1 .. are the base's too, group1.2 the second alternative's.
    """

    frame: pl.DataFrame = field(repr=False)
    files: tuple[str, ...]
    parse: tuple[bool, ...]
    unmatched: tuple[Unmatched, ...]
    keyed: bool
    runs_left_out: tuple[str, ...] = ()  # runs that some file does not have

    def key(self, line: int) -> object:
        """The key of a line."""
        return self.frame["key"][int(line)]

    def refuse_difference(
        self,
        place: int,
        part: str,
        name: str,
        base: Array,
        other: Array,
        names: Sequence[str],
        advice: str = "",
    ) -> None:
        """The base's codes and another file's must be equal wherever both are known."""
        wrong = (base != other) & (base >= 0) & (other >= 0)
        if not wrong.any():
            return
        at = int(wrong.argmax())
        where = f"key {self.key(at)!r}" if self.keyed else f"row {at + 1}"
        raise InputError(
            f"the {part} column '{name}' of {self.files[place]} differs from {self.files[0]} at {where} "
            f"({names[other[at]]!r}, not {names[base[at]]!r}); the files must hold the same rows"
            + ("" if self.keyed else " in the same order, or have a key column")
            + advice
        )


def read_model(file: Path, columns: Columns, threshold: float) -> Model:
    """Read one file into memory, only the columns that are needed."""
    if columns.prediction is None and len(columns.score) > 1:
        raise InputError("models are compared by predictions or by one score; name a prediction column")
    parts = open_parts([file], columns)
    table = collect(lazy_rows(parts, columns, threshold), parts, columns)
    table = _without_blank_lines(table, parts[0])
    if table.height == 0:
        raise InputError(f"{parts[0].name} has a header but no rows; it should hold a table of predictions")
    labelled = table.filter(pl.col("label").is_not_null())
    check_scores(labelled, parts, columns)
    check_weights(labelled, parts, columns)
    return Model(parts[0], table.drop(score_names(columns)))


def by_row(models: Sequence[Model]) -> Aligned:
    """Row by row: the files must be equally long, and say the same run in each row."""
    base = models[0]
    for model in models[1:]:
        if model.table.height != base.table.height:
            raise InputError(
                f"{model.source.name} has {model.table.height} rows but {base.source.name} has "
                f"{base.table.height}; name a key column to match them"
            )
    frames = [base.table.rename(numbered(base, 0))]
    frames += [_other(model, place) for place, model in enumerate(models[1:], start=1)]
    beside = pl.concat(frames, how="horizontal")
    aligned = put_together(beside, models, [Unmatched()] * (len(models) - 1), False)
    _refuse_other_runs(aligned)
    return aligned


def put_together(
    frame: pl.DataFrame, models: Sequence[Model], unmatched: Sequence[Unmatched], keyed: bool
) -> Aligned:
    """The frame with what is known of the files it came from."""
    files = tuple(model.source.name for model in models)
    return Aligned(frame, files, tuple(model.source.is_text for model in models), tuple(unmatched), keyed)


def numbered(model: Model, place: int) -> dict[str, str]:
    """What the columns are called that every model has of its own, and the groups of an alternative."""
    own = model.table.columns
    names = group_names(own, place) if place else {}
    return names | {name: f"{name}{place}" for name in ("label", "prediction", "run") if name in own}


def group_names(names: Sequence[str], place: int) -> dict[str, str]:
    """What the groups of an alternative are called beside the base's, which are those that are used.

    >>> group_names(["label0", "group1"], 2)
    {'group1': 'group1.2'}
    """
    return {name: f"{name}.{place}" for name in names if name.startswith("group")}


def _other(model: Model, place: int) -> pl.DataFrame:
    return model.table.select(pl.col(old).alias(new) for old, new in numbered(model, place).items())


def _refuse_other_runs(aligned: Aligned) -> None:
    for place, file in enumerate(aligned.files):
        if "run0" not in aligned.frame.columns:
            return
        base, other = aligned.frame["run0"].cast(pl.String), aligned.frame[f"run{place}"].cast(pl.String)
        differs = base.ne_missing(other).arg_true()
        if len(differs):
            at = differs[0]
            raise InputError(
                f"the run of row {at + 1} is {other[at]!r} in {file} but {base[at]!r} in {aligned.files[0]}; "
                "the files must hold the same rows in the same order, or have a key column"
            )


def _without_blank_lines(table: pl.DataFrame, source: Source) -> pl.DataFrame:
    """Blank lines of a CSV are not rows, and must not shift those that follow."""
    if not source.is_text:
        return table
    blank = check_lines(source) if table[ODD].any() else 0
    table = table.drop(ODD)
    empty = pl.all_horizontal(pl.all().is_null())
    return table.filter(~empty) if blank and table.select(empty.sum()).item() == blank else table

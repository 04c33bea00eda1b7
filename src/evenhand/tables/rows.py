"""The files as one lazy table with fixed names: label, prediction, group0 .., run, weight, score0 .."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from evenhand.errors import InputError
from evenhand.tables.columns import Columns, kind_of
from evenhand.tables.lines import odd_line
from evenhand.tables.sources import Source, open_source

ODD = "\x00odd"
WIDEST = {"whole numbers": pl.Int64(), "decimal numbers": pl.Float64(), "text": pl.String()}


def open_parts(files: Sequence[Path], columns: Columns) -> list[Source]:
    """The parts of one table; they must be of one kind, and the columns that are read of one type."""
    if not files:
        raise InputError("no file was given; name at least one table of predictions")
    parts = [open_source(Path(file), columns) for file in files]
    first = parts[0]
    for part in parts[1:]:
        if part.is_text != first.is_text:
            raise InputError(
                f"{part.name} and {first.name} are of two kinds; give all as CSV or all as Parquet"
            )
    common_types(parts, columns)
    return parts


def common_types(parts: Sequence[Source], columns: Columns) -> dict[str, pl.DataType]:
    """The type of each used column that holds those of all parts."""
    return {name: _common_type(parts, name) for name in columns.used}


def _common_type(parts: Sequence[Source], name: str) -> pl.DataType:
    """The type that holds a column of all parts: int8 here and int64 there will do, text and numbers not."""
    first = next((part for part in parts if part.schema[name] != pl.Null), parts[0])
    dtype = first.schema[name]
    for part in parts:
        other = part.schema[name]
        if other in (dtype, pl.Null):  # a column of nothing but nulls has no type of its own
            continue
        kind, expected = kind_of(other), kind_of(dtype)
        if kind != expected or kind not in WIDEST:
            raise InputError(
                f"{part.name} differs from {first.name}: its column '{name}' holds {kind} ({other}), "
                f"not {expected} ({dtype}); give parts that agree"
            )
        dtype = WIDEST[kind]
    return dtype


def lazy_rows(parts: Sequence[Source], columns: Columns, threshold: float) -> pl.LazyFrame:
    """All rows of all parts under the fixed names; nothing is read yet."""
    types = common_types(parts, columns)
    return named_rows([used_rows(part, types, columns) for part in parts], columns, threshold)


def named_rows(pieces: Sequence[pl.LazyFrame], columns: Columns, threshold: float) -> pl.LazyFrame:
    """Pieces of `used_rows` under the fixed names."""
    union = pl.concat(pieces)
    odd = [pl.col(ODD)] if ODD in union.collect_schema() else []
    return union.select(*_named(columns, threshold), *odd)


def key_names(columns: Columns, *, text: bool) -> list[str]:
    """The fixed names of the columns that a cell is told by; of text, whether a line is odd is one more."""
    several = columns.prediction is None and len(columns.score) > 1  # then the prediction is not a column yet
    groups = [f"group{place}" for place in range(len(columns.groups))]
    return [
        "label",
        *([] if several else ["prediction"]),
        *groups,
        *(["run"] if columns.run else []),
        *([ODD] if text else []),
    ]


def score_names(columns: Columns) -> list[str]:
    """The fixed names of the score columns."""
    return [f"score{place}" for place in range(len(columns.score))]


def used_rows(part: Source, types: Mapping[str, pl.DataType], columns: Columns) -> pl.LazyFrame:
    """The columns of one part that are used, of the types that all parts agree on (see `common_types`)."""
    chosen = [
        pl.col(name) if part.schema[name] == types[name] else pl.col(name).cast(types[name])
        for name in columns.used
    ]  # a cast of every row only where the parts differ
    odd = [odd_line(part).alias(ODD)] if part.is_text else []
    return part.scan(columns.numbers).select(*chosen, *odd)


def _named(columns: Columns, threshold: float) -> list[pl.Expr]:
    scores = [pl.col(name).cast(pl.Float64) for name in columns.score]
    named = [pl.col(columns.label).alias("label")]
    if columns.prediction is not None:
        named.append(pl.col(columns.prediction).alias("prediction"))
    elif len(scores) == 1:
        named.append((scores[0] >= threshold).alias("prediction"))
    named += [pl.col(name).alias(f"group{place}") for place, name in enumerate(columns.groups)]
    named += [score.alias(f"score{place}") for place, score in enumerate(scores)]
    if columns.run is not None:
        named.append(pl.col(columns.run).alias("run"))
    if columns.key is not None:
        named.append(pl.col(columns.key).alias("key"))
    if columns.weight is not None:
        named.append(pl.col(columns.weight).cast(pl.Float64).alias("weight"))
    return named

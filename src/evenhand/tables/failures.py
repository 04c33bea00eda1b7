"""A read that failed, explained: which file, which row, what to do. Time no longer matters here."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import polars as pl

from evenhand.errors import InputError
from evenhand.tables.columns import Columns
from evenhand.tables.lines import check_lines
from evenhand.tables.sources import Source, first_line

ROW = "\x00row"
FAILURES = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)


def collect(lazy: pl.LazyFrame, sources: Sequence[Source], columns: Columns) -> pl.DataFrame:
    """Run the query in pieces that fit in memory; a failure becomes a sentence for the user."""
    try:
        return lazy.collect(engine="streaming")
    except FAILURES as error:
        raise explain(error, sources, columns) from error


def explain(error: BaseException, sources: Sequence[Source], columns: Columns) -> InputError:
    """The sentence for a failed read."""
    for source in sources:
        try:
            sentence = _why_text(source, columns) if source.is_text else _why_parquet(source, columns)
        except InputError as found:
            return found
        if sentence is not None:
            return InputError(sentence)
    names = ", ".join(source.name for source in sources)
    return InputError(f"{names} cannot be read: {first_line(error)}")


def first_row(
    source: Source, columns: Columns, name: str, wrong: pl.Expr, numbers: bool = True
) -> tuple[int, object] | None:
    """The first row (from 1) where a column is `wrong` (told by "value" and "label"), and its value."""
    lazy = source.scan(columns.numbers if numbers else ()).with_row_index(ROW, offset=1)
    lazy = lazy.select(pl.col(ROW), pl.col(name).alias("value"), pl.col(columns.label).alias("label"))
    found = lazy.filter(wrong).head(1).collect(engine="streaming")
    return (int(found[ROW][0]), found["value"][0]) if found.height else None


def _why_parquet(source: Source, columns: Columns) -> str | None:
    try:
        source.scan().select(pl.col(columns.used).null_count()).collect(engine="streaming")
    except FAILURES as error:
        return f"{source.name} is damaged: it cannot be decoded ({first_line(error)}); write it again"
    return None


def _why_text(source: Source, columns: Columns) -> str | None:
    try:
        row = _first_line_where(source, _is_not_text)
        if row is not None:
            return f"row {row} of {source.name} is not UTF-8 text; save the file as CSV in UTF-8"
        check_lines(source)
    except csv.Error as error:
        return f"{source.name} is not well-formed CSV: {first_line(error)}"
    except (OSError, EOFError) as error:
        return f"{source.name} cannot be read to its end ({first_line(error)}); write it again"
    return _why_no_number(source, columns) or _why_quotes(source)


def _why_no_number(source: Source, columns: Columns) -> str | None:
    value = pl.col("value")
    wrong = value.is_not_null() & value.str.strip_chars_start().cast(pl.Float64, strict=False).is_null()
    for name in sorted(columns.numbers):
        try:
            found = first_row(source, columns, name, wrong, numbers=False)
        except FAILURES:
            return None
        if found is not None:
            part = "weight" if name == columns.weight else "score"
            where = f"row {found[0]} holds {found[1]!r}"
            return f"the {part} column '{name}' of {source.name} is not numeric: {where}"
    return None


def _why_quotes(source: Source) -> str | None:
    row = _first_line_where(source, lambda line: line.count(b'"') % 2 == 1)
    if row is None:
        return None
    return f"{source.name} is not well-formed CSV: a stray quotation mark, look near row {row}"


def _first_line_where(source: Source, wrong: Callable[[bytes], bool]) -> int | None:
    for number, line in enumerate(_byte_lines(source.path)):
        if wrong(line):
            return max(1, number - source.header_lines + 1)
    return None


def _is_not_text(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return False


def _byte_lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as handle:
        packed = handle.read(2) == b"\x1f\x8b"
    with gzip.open(path) if packed else path.open("rb") as lines:
        yield from lines

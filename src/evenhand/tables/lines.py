"""The lines of a CSV, looked at one by one: only when the fast reader met something odd.

polars fills a line that is too short with nulls and cuts one that is too long when not all columns are
read. The fast read marks both (and lines that merely end in an empty field); here they are told apart.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator

import polars as pl

from evenhand.errors import InputError
from evenhand.tables.sources import BEYOND, Source, open_text

NO_SIGN = "\x01"  # a separator that does not occur, so that a line is one field


def odd_line(source: Source) -> pl.Expr:
    """Whether a line of a CSV may have too few or too many fields."""
    last = list(source.schema)[-1]
    return pl.col(last).is_null() | pl.col(BEYOND).is_not_null()


def check_lines(source: Source) -> int:
    """The number of blank lines, which are not rows; a row with another number of fields is an error."""
    blank = _blank_if_plain(source)
    if blank is not None:
        return blank
    blank = 0
    for row, fields in enumerate(records(source), start=1):
        if not any(fields) and len(fields) < 2:
            blank += 1
        elif len(fields) < len(source.names) or any(fields[len(source.names) :]):
            raise InputError(
                f"row {row} of {source.name} has {len(fields)} fields, but the header has "
                f"{len(source.names)}; look there for a missing value, quotation mark or separator"
            )
    return blank


def records(source: Source) -> Iterator[list[str]]:
    """The rows below the header as the standard library reads them: slow, but exact about quotes."""
    with open_text(source.path) as handle:
        reader = csv.reader(handle, delimiter=source.separator or ",")
        for _ in range(source.header_lines):
            next(reader)
        yield from ([field.strip() for field in fields] for fields in reader)


def _blank_if_plain(source: Source) -> int | None:
    """The number of blank lines of a file without quotes whose lines all have the right number of separators.

    None for any other file. This one streams at the speed of polars, and most files pass.
    """
    line = pl.col("line")
    separators = line.str.count_matches(source.separator or ",", literal=True)
    odd = (separators != len(source.names) - 1) | line.str.contains('"', literal=True)
    lines = pl.scan_csv(
        source.path,
        glob=False,
        has_header=False,
        skip_rows=source.header_lines,
        separator=NO_SIGN,
        quote_char=None,
        schema={"line": pl.String()},
    )
    try:
        sums = lines.select(line.is_null().sum().alias("blank"), odd.sum().alias("odd"))
        found = sums.collect(engine="streaming")
    except pl.exceptions.PolarsError:
        return None
    return int(found["blank"][0]) if found["odd"][0] == 0 else None

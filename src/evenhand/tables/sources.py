"""One file as a lazy table: what it is called, which columns it has, how to scan it."""

from __future__ import annotations

import csv
import gzip
import io
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO, cast

import polars as pl

from evenhand.errors import InputError
from evenhand.tables.columns import Columns, check_names, check_types

SEPARATORS = {".csv": ",", ".csv.gz": ",", ".tsv": "\t", ".tsv.gz": "\t"}
PARQUET = (".parquet", ".pq")
BEYOND = "\x00beyond the header"  # where the first field too many of a CSV line goes; no header can hold it


@dataclass(frozen=True)
class Source:
    """A readable file.

    Columns of a CSV are text until their distinct values are known (see values.py): a type guessed from the
    first hundred lines would fail on line 101, and GROUP BY on text costs little.
    """

    path: Path
    names: tuple[str, ...]
    schema: Mapping[str, pl.DataType] = field(repr=False)
    separator: str | None = None  # None: Parquet
    header_lines: int = 1

    @property
    def name(self) -> str:
        """The file's name as messages say it."""
        return self.path.name

    @property
    def is_text(self) -> bool:
        """Whether values arrive as text and must be parsed (CSV)."""
        return self.separator is not None

    def scan(self, numbers: Collection[str] = ()) -> pl.LazyFrame:
        """The rows, lazily; of a CSV, the columns in `numbers` are parsed as such."""
        if self.separator is None:
            return pl.scan_parquet(self.path, glob=False)
        schema = {name: pl.Float64() if name in numbers else dtype for name, dtype in self.schema.items()}
        return pl.scan_csv(
            self.path,
            glob=False,
            has_header=False,
            skip_rows=self.header_lines,
            separator=self.separator,
            schema={**schema, BEYOND: pl.String()},
            missing_columns="insert",
        )


def open_source(path: Path, columns: Columns) -> Source:
    """The file, once it is known to exist, to be of a readable kind and to have the columns."""
    path = Path(path)
    if not path.exists():
        raise InputError(f"there is no file {path}; check the path")
    if path.is_dir():
        raise InputError(f"{path} is a folder; name the files in it, such as {path / '*.parquet'}")
    ending = _ending(path)
    if ending is None:
        readable = ", ".join((*SEPARATORS, *PARQUET))
        raise InputError(f"{path.name} is not of a kind that can be read; these are: {readable}")
    if not path.is_file():
        raise InputError(f"{path.name} is a pipe or a device, which can be read only once; save it as a file")
    if path.stat().st_size == 0:
        raise InputError(f"{path.name} is empty; it should hold a table of predictions")
    source = _open_parquet(path) if ending in PARQUET else _open_csv(path, SEPARATORS[ending])
    check_names(source.names, columns.used, source.name)
    if not source.is_text:
        check_types(source.schema, columns, source.name)
    return source


def model_name(path: Path) -> str:
    """What the model is called whose predictions are in the file: its name without the ending.

    >>> [model_name(Path(name)) for name in ("a/resnet50.a1_in1k.csv", "pruned-0.45.TSV.gz", "preds")]
    ['resnet50.a1_in1k', 'pruned-0.45', 'preds']
    """
    ending = _ending(path) or ""
    return path.name[: len(path.name) - len(ending)] or path.name


def _ending(path: Path) -> str | None:
    return next((end for end in (*SEPARATORS, *PARQUET) if path.name.lower().endswith(end)), None)


def _open_parquet(path: Path) -> Source:
    try:
        schema = pl.scan_parquet(path, glob=False).collect_schema()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise InputError(
            f"{path.name} is not a Parquet file, or it is cut off; write it again ({first_line(error)})"
        ) from error
    return Source(path, tuple(schema.names()), dict(schema))


def _open_csv(path: Path, separator: str) -> Source:
    try:
        with open_text(path) as handle:
            start = handle.readline()
            header_lines = 1
            while start and not start.strip():
                start, header_lines = handle.readline(), header_lines + 1
            separator = _separator(start, separator)
            header = next(csv.reader(_again(start, handle), delimiter=separator), [])
            names = tuple(name.strip() for name in header)
    except (OSError, EOFError, csv.Error) as error:
        raise InputError(f"{path.name} cannot be read: {first_line(error)}") from error
    if any(
        sign in name for name in names for sign in ("\ufffd", "\0")
    ):  # not a letter of any text: UTF-16, say
        raise InputError(f"the header of {path.name} is not UTF-8 text; save the file as CSV in UTF-8")
    if not names:
        raise InputError(f"{path.name} is empty; it should hold a table of predictions")
    return Source(path, names, dict.fromkeys(_unique(names), pl.String()), separator, header_lines)


def open_text(path: Path) -> TextIO:
    """A CSV as text, decompressed on the way where it is gzip (told from its first bytes, as polars does).

    Bytes that are no UTF-8 do not stop it: it is asked about headers and lines, not about letters.
    """
    with path.open("rb") as handle:
        packed = handle.read(2) == b"\x1f\x8b"
    if packed:
        return cast(TextIO, gzip.open(path, "rt", encoding="utf-8-sig", errors="replace", newline=""))
    return path.open(encoding="utf-8-sig", errors="replace", newline="")


def first_line(error: BaseException) -> str:
    """What a library said, without its advice to programmers.

    >>> first_line(ValueError("bad footer\\nConsider setting ..."))
    'bad footer'
    """
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")


def _again(start: str, rest: TextIO) -> TextIO:
    """A header may go on over a line break within quotes: a few lines more than the first are enough."""
    return io.StringIO(start + "".join(rest.readline() for _ in range(20)), newline="")


def _separator(header: str, expected: str) -> str:
    """Spreadsheets of many countries write ';' in a .csv: taken when the usual sign is not in the header."""
    return next((sign for sign in (expected, ",", ";", "\t", "|") if sign in header), expected)


def _unique(names: tuple[str, ...]) -> list[str]:
    """Distinct names, as polars wants them; a repeated or empty one goes by its place."""
    times = Counter(names)
    return [name if name and times[name] == 1 else f"\x00{place}" for place, name in enumerate(names)]

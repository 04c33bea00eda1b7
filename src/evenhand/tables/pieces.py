"""A table in pieces that fit in memory, each grouped on its own, the small results added up.

One streaming GROUP BY would do for a few dozen cells. With many (a histogram of scores by group has a hundred
thousand) polars keeps partial sums in proportion to the number of rows; pieces keep the memory bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import polars as pl

from evenhand.tables.columns import Columns
from evenhand.tables.failures import FAILURES, collect, explain
from evenhand.tables.rows import common_types, lazy_rows, named_rows, used_rows
from evenhand.tables.sources import Source

PIECE = 10_000_000  # rows of a Parquet file to a query: it seeks, so that more queries cost nothing
BATCH = 1_000_000  # rows of a CSV, which is read from its start to its end, to a query
HELD = 1_000_000  # rows of small results that are kept before they are added up

Group = Callable[[pl.LazyFrame], pl.LazyFrame]
Progress = Callable[[str], None]


def group_in_pieces(
    parts: Sequence[Source], columns: Columns, threshold: float, group: Group, progress: Progress
) -> Iterator[pl.DataFrame]:
    """The result of `group` for each piece; `progress` is told how many rows are done."""
    pieces = _batches if parts[0].is_text else _slices
    done = 0
    for result in pieces(parts, columns, threshold, group):
        yield result
        done += int(result["rows"].sum())
        progress(f"{done:,} rows read")


def add_up(results: Iterable[pl.DataFrame], keys: Sequence[str]) -> pl.DataFrame:
    """One row for each cell: sums are added; the lightest weight is the lightest of all.

    >>> parts = [pl.DataFrame({"g": ["a"], "rows": [1]}), pl.DataFrame({"g": ["b", "a"], "rows": [2, 3]})]
    >>> add_up(parts, ["g"]).sort("g").rows()
    [('a', 4), ('b', 2)]
    """
    held: list[pl.DataFrame] = []
    for result in results:
        held.append(result)
        if sum(frame.height for frame in held) > HELD:
            held = [_added(held, keys)]
    return _added(held, keys)


def _added(held: Sequence[pl.DataFrame], keys: Sequence[str]) -> pl.DataFrame:
    if len(held) == 1:
        return held[0]
    together = pl.concat(held)
    others = [name for name in together.columns if name not in keys]
    sums = [pl.col(name).min() if name == "lightest" else pl.col(name).sum() for name in others]
    return together.group_by(keys).agg(sums)


def _slices(
    parts: Sequence[Source], columns: Columns, threshold: float, group: Group
) -> Iterator[pl.DataFrame]:
    """Parquet: ranges of rows, small files together in one query."""
    piece: list[pl.LazyFrame] = []
    some = False
    room, types = PIECE, common_types(parts, columns)
    for part in parts:
        rows = used_rows(part, types, columns)
        length, first = int(collect(part.scan().select(pl.len()), [part], columns).item()), 0
        while first < length:
            taken = min(room, length - first)
            piece.append(rows.slice(first, taken))
            first, room = first + taken, room - taken
            if room == 0:
                yield collect(group(named_rows(piece, columns, threshold)), parts, columns)
                piece, room, some = [], PIECE, True
    if piece or not some:  # not some: no row at all, which the caller complains about
        piece = piece or [used_rows(parts[0], types, columns).head(0)]
        yield collect(group(named_rows(piece, columns, threshold)), parts, columns)


def _batches(
    parts: Sequence[Source], columns: Columns, threshold: float, group: Group
) -> Iterator[pl.DataFrame]:
    """CSV: batches as they are parsed (and decompressed), in any order."""
    rows = lazy_rows(parts, columns, threshold)
    try:
        empty = True
        for batch in rows.collect_batches(chunk_size=BATCH, maintain_order=False, engine="streaming"):
            empty = False
            yield group(batch.lazy()).collect(engine="streaming")
        if empty:
            yield group(rows.head(0)).collect(engine="streaming")
    except FAILURES as error:
        raise explain(error, parts, columns) from error

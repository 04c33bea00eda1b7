"""A table of predictions, however large, as the few cells an audit needs: a GROUP BY in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from evenhand.arrays import FloatArray, IntArray
from evenhand.errors import InputError
from evenhand.groups import Attribute
from evenhand.tables.coded import Coded, code_table, names_of, refuse_ids
from evenhand.tables.columns import Columns
from evenhand.tables.failures import collect
from evenhand.tables.lines import check_lines
from evenhand.tables.pieces import Progress, add_up, group_in_pieces
from evenhand.tables.rows import ODD, key_names, lazy_rows, open_parts, score_names
from evenhand.tables.scores import (
    EXACT_ROWS,
    MOST_ROWS,
    RowScores,
    ScoreBins,
    bin_of_score,
    check_scores,
    row_scores,
    score_bins,
    too_many_rows,
)
from evenhand.tables.sources import Source
from evenhand.tables.weights import check_weights, weight_sums

SAMPLE = 20_000  # rows that are looked at first, to refuse a column of ids before it fills the memory
SUMS = ["rows", "weight", "square"]


@dataclass(frozen=True)
class Cells:
    """How many rows there are of each (run, groups, truth, prediction), M cells in a fixed order.

    `attributes` hold a code for each cell (-1 = unknown), so `Groups.from_attributes(cells.attributes)` gives
    its group. Without weights, weight = square = count. `run` is 0 everywhere when there is no run column.
    """

    classes: tuple[str, ...]
    positive: str | None  # the name of classes[1] when there are two classes
    attributes: tuple[Attribute, ...]
    runs: tuple[str, ...]
    run: IntArray = field(repr=False)
    truth: IntArray = field(repr=False)
    prediction: IntArray = field(repr=False)
    count: IntArray = field(repr=False)
    weight: FloatArray = field(repr=False)
    square: FloatArray = field(repr=False)  # sum of squared weights
    total: int  # rows of the files
    missing: int  # rows left out: no label or no prediction
    weighted: bool
    scores: RowScores | ScoreBins | None = field(default=None, repr=False)


def read_cells(
    files: Sequence[Path],
    columns: Columns,
    *,
    threshold: float = 0.5,
    positive: object = None,
    progress: Progress | None = None,
    exact_rows: int = EXACT_ROWS,
) -> Cells:
    """Read the files (parts of one table) into cells; with score columns, into score statistics as well.

    A table of up to `exact_rows` rows keeps its scores row by row (`RowScores`), a larger one as a histogram
    (`ScoreBins`). `progress` is told now and then how many rows are done.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp(), "preds.csv")
    >>> _ = file.write_text("y,p,sex\\n1,1,f\\n0,1,m\\n1,1,f\\n,1,f\\n")
    >>> cells = read_cells([file], Columns("y", "p", ("sex",)))
    >>> cells.count.tolist(), cells.truth.tolist(), cells.attributes[0].levels, cells.missing
    ([1, 2], [0, 1], ('f', 'm'), 1)
    """
    columns = replace(columns, key=None)
    parts = open_parts(files, columns)
    rows = lazy_rows(parts, columns, threshold)
    keys = key_names(columns, text=parts[0].is_text)
    refuse_ids(collect(rows.select(keys).head(SAMPLE), parts, columns), parts, columns)
    table = _few_rows(rows, parts, columns, exact_rows)
    exact = table is not None
    if table is None:
        group = partial(_grouped, columns=columns, keys=keys)
        results = group_in_pieces(parts, columns, threshold, group, progress or _silent)
        table = add_up(results, [*keys, *(["bin"] if columns.score else [])])
    total = _count_rows(table, parts)
    coded = code_table(table, parts, columns, positive)
    kept = coded.frame.filter((pl.col("label") >= 0) & (pl.col("prediction") >= 0))
    if kept.height == 0:
        raise InputError(f"no row of {names_of(parts)} has both a label and a prediction")
    _check_runs(kept, parts, columns)
    check_weights(kept, parts, columns)
    check_scores(kept, parts, columns)
    cells = _cells(coded, kept, total, columns)
    if not columns.score:
        return cells
    return replace(cells, scores=row_scores(coded, kept, columns) if exact else score_bins(coded, kept))


def _few_rows(
    rows: pl.LazyFrame, parts: Sequence[Source], columns: Columns, exact_rows: int
) -> pl.DataFrame | None:
    """All rows, for exact score statistics, if they are few; the row count need not be known beforehand."""
    if not columns.score:
        return None
    several = len(columns.score) > 1
    most = MOST_ROWS if several else exact_rows
    table = collect(rows.head(most + 1), parts, columns)
    if table.height > most:
        if several:
            raise too_many_rows(columns, names_of(parts))
        return None
    if several and columns.prediction is None:
        table = table.with_columns(_highest(table.select(score_names(columns))))
    return table.with_columns(_one_row(columns))


def _grouped(rows: pl.LazyFrame, columns: Columns, keys: Sequence[str]) -> pl.LazyFrame:
    """The one GROUP BY. Nulls, classes and faulty weights are all told from its small result."""
    by: list[str | pl.Expr] = [*keys]
    sums = [pl.len().cast(pl.Int64).alias("rows"), *(weight_sums() if columns.weight is not None else [])]
    if columns.score:
        score = pl.col("score0") if columns.weight is None else pl.col("score0") * pl.col("weight")
        sums += [score.sum().alias("sum_score"), (score * pl.col("score0")).sum().alias("sum_square")]
        by.append(bin_of_score())
    grouped = rows.group_by(by).agg(sums)
    if columns.weight is not None:
        return grouped
    return grouped.with_columns(pl.col("rows").cast(pl.Float64).alias(name) for name in ("weight", "square"))


def _one_row(columns: Columns) -> list[pl.Expr]:
    """A row as a cell of its own."""
    one = pl.lit(1, pl.Int64).alias("rows")
    if columns.weight is None:
        return [one, pl.lit(1.0).alias("weight"), pl.lit(1.0).alias("square")]
    return [one, (pl.col("weight") ** 2).alias("square")]


def _highest(scores: pl.DataFrame) -> pl.Series:
    """The place of the highest score of each row, null where one is missing."""
    known = scores.select(pl.all_horizontal(pl.all().is_not_null())).to_series()
    place = pl.Series("prediction", np.argmax(scores.fill_null(0.0).to_numpy(), axis=1), dtype=pl.Int64)
    return place.set(~known, None)


def _count_rows(table: pl.DataFrame, parts: Sequence[Source]) -> int:
    """The rows of the files; blank lines of a CSV are none, and are looked for only if a line is odd."""
    odd = ODD in table.columns and bool(table[ODD].any())
    blank = sum(check_lines(part) for part in parts) if odd else 0
    total = int(table["rows"].sum()) - blank
    if total == 0:
        raise InputError(f"{names_of(parts)} has a header but no rows; it should hold a table of predictions")
    return total


def _check_runs(kept: pl.DataFrame, parts: Sequence[Source], columns: Columns) -> None:
    if columns.run is not None and (kept["run"] < 0).any():
        raise InputError(
            f"the run column '{columns.run}' of {names_of(parts)} is empty in some rows; each row needs a run"
        )


def _cells(coded: Coded, kept: pl.DataFrame, total: int, columns: Columns) -> Cells:
    cells = kept.group_by(coded.keys).agg(pl.col(SUMS).sum()).sort(coded.keys)
    count = cells["rows"].to_numpy()
    return Cells(
        classes=coded.classes,
        positive=coded.positive,
        attributes=coded.attributes(cells),
        runs=coded.runs,
        run=cells["run"].to_numpy(),
        truth=cells["label"].to_numpy(),
        prediction=cells["prediction"].to_numpy(),
        count=count,
        weight=cells["weight"].to_numpy(),
        square=cells["square"].to_numpy(),
        total=total,
        missing=total - int(count.sum()),
        weighted=columns.weight is not None,
    )


def _silent(_: str) -> None:
    """For a caller that does not want to know."""

"""Scores of a table: the rows themselves where they are few, a fine histogram where they are many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from evenhand.arrays import FloatArray, IntArray
from evenhand.errors import InputError
from evenhand.groups import Attribute
from evenhand.metrics.score_rows import GRID
from evenhand.tables.coded import Coded
from evenhand.tables.columns import Columns
from evenhand.tables.failures import first_row
from evenhand.tables.rows import score_names
from evenhand.tables.sources import Source

EXACT_ROWS = 2_000_000  # up to here the rows are kept, and score statistics are exact
MOST_ROWS = 5_000_000  # of a table with one score column for each class
OUTSIDE = -1  # the bin of a score that is not in [0, 1]


@dataclass(frozen=True)
class RowScores:
    """Every row with its score (`[N]`, or `[N, C]` with one column for each class); `weight` None = all 1."""

    score: FloatArray = field(repr=False)
    truth: IntArray = field(repr=False)
    attributes: tuple[Attribute, ...]
    run: IntArray = field(repr=False)
    weight: FloatArray | None = field(repr=False)
    missing: int  # rows with a label and a prediction but no score


@dataclass(frozen=True)
class ScoreBins:
    """Cells of (run, groups, truth, bin): bins of width 1/3840 on [0, 1], the score 1 in the last.

    `weight`, `sum_score` and `sum_square` are weighted sums (of 1, score, score squared), `square` is the sum
    of squared weights; `count` is the number of rows. Without weights, weight = square = count.
    """

    attributes: tuple[Attribute, ...]
    run: IntArray = field(repr=False)
    truth: IntArray = field(repr=False)
    bin: IntArray = field(repr=False)
    count: IntArray = field(repr=False)
    weight: FloatArray = field(repr=False)
    square: FloatArray = field(repr=False)
    sum_score: FloatArray = field(repr=False)
    sum_square: FloatArray = field(repr=False)
    missing: int


def bin_of_score() -> pl.Expr:
    """The bin of a row's score: null for no score, -1 for one outside [0, 1] (NaN is).

    `score * 3840` is cut to a whole number as in metrics/score_rows.py: both ways of reading agree.
    """
    score = pl.col("score0")
    place = pl.min_horizontal((score * GRID).cast(pl.Int16, strict=False), pl.lit(GRID - 1, pl.Int16))
    outside = pl.when(score.is_not_null()).then(pl.lit(OUTSIDE, pl.Int16))
    return pl.when(score.is_between(0, 1)).then(place).otherwise(outside).alias("bin")


def row_scores(coded: Coded, kept: pl.DataFrame, columns: Columns) -> RowScores:
    """The rows that have a score; `kept` are those with a label and a prediction."""
    names = score_names(columns)
    scored = kept.drop_nulls(names)
    score = scored.select(names).to_numpy()
    return RowScores(
        score[:, 0].copy() if len(names) == 1 else np.ascontiguousarray(score),
        scored["label"].to_numpy(),
        coded.attributes(scored),
        scored["run"].to_numpy(),
        scored["weight"].to_numpy() if columns.weight is not None else None,
        kept.height - scored.height,
    )


def score_bins(coded: Coded, kept: pl.DataFrame) -> ScoreBins:
    """The histogram, from cells that are also told by their prediction."""
    binned = kept.filter(pl.col("bin").is_not_null())
    keys = ["run", "label", *coded.groups, "bin"]
    sums = ["rows", "weight", "square", "sum_score", "sum_square"]
    cells = binned.group_by(keys).agg(pl.col(sums).sum()).sort(keys)
    return ScoreBins(
        attributes=coded.attributes(cells),
        run=cells["run"].to_numpy(),
        truth=cells["label"].to_numpy(),
        bin=cells["bin"].cast(pl.Int64).to_numpy(),
        count=cells["rows"].to_numpy(),
        weight=cells["weight"].to_numpy(),
        square=cells["square"].to_numpy(),
        sum_score=cells["sum_score"].to_numpy(),
        sum_square=cells["sum_square"].to_numpy(),
        missing=int(kept["rows"].sum()) - int(binned["rows"].sum()),
    )


def check_scores(kept: pl.DataFrame, parts: Sequence[Source], columns: Columns) -> None:
    """Refuse a score outside [0, 1] or NaN, naming the first row that has one."""
    for fixed, name in zip(score_names(columns), columns.score, strict=True):
        inside = pl.col(fixed).is_between(0, 1) if fixed in kept.columns else pl.col("bin") != OUTSIDE
        if kept.select(inside.fill_null(True).all()).item():
            continue
        wrong = ~pl.col("value").is_between(0, 1) & pl.col("label").is_not_null()
        for part in parts:
            found = first_row(part, columns, name, wrong)
            if found is not None:
                raise InputError(
                    f"the score column '{name}' of {part.name} holds {found[1]} in row {found[0]}; "
                    "scores are probabilities from 0 to 1"
                )


def too_many_rows(columns: Columns, file: str) -> InputError:
    """Several score columns of a table too large to keep."""
    return InputError(
        f"{file} has more than {MOST_ROWS:,} rows, too many for {len(columns.score)} score columns; "
        "take a sample of the rows, or leave the scores out"
    )

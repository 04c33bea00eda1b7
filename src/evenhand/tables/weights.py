"""Sample weights must be numbers of 0 or more."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from evenhand.errors import InputError
from evenhand.tables.columns import Columns
from evenhand.tables.failures import first_row
from evenhand.tables.sources import Source


def weight_sums() -> list[pl.Expr]:
    """What a GROUP BY must know of weights: a null, a NaN, an infinite or a negative one shows in it."""
    weight = pl.col("weight")
    return [
        weight.sum(),
        (weight * weight).sum().alias("square"),
        weight.min().alias("lightest"),
        weight.count().cast(pl.Int64).alias("weighed"),
    ]


def check_weights(table: pl.DataFrame, parts: Sequence[Source], columns: Columns) -> None:
    """Refuse faulty weights in rows or in the cells of a GROUP BY, naming the first row that has one."""
    if columns.weight is None:
        return
    sound = pl.col("weight").is_finite() & (pl.col("weight") >= 0)
    if "lightest" in table.columns:
        sound = sound & (pl.col("lightest") >= 0) & (pl.col("weighed") == pl.col("rows"))
    if table.select(sound.fill_null(False).all()).item():
        return
    value = pl.col("value").cast(pl.Float64)
    wrong = ~(value.is_finite() & (value >= 0)).fill_null(False) & pl.col("label").is_not_null()
    for part in parts:
        found = first_row(part, columns, columns.weight, wrong)
        if found is not None:
            held = "no value" if found[1] is None else found[1]
            raise InputError(
                f"the weight column '{columns.weight}' of {part.name} holds {held} in row {found[0]}; "
                "weights are numbers of 0 or more"
            )
    raise InputError(
        f"the weights in column '{columns.weight}' are too large to be summed; divide them by a number"
    )

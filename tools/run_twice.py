"""One study, run twice with the same seeds: how far apart its runs are, beside how far apart seeds are.

    python tools/run_twice.py studies/results/many-attributes-faces/{runs,again}.parquet
    python tools/run_twice.py FIRST/runs.parquet SECOND/runs.parquet --keep again.parquet

The two files are `evenhand study publish`'s, of the same runs. For each method, on tasks with one label: the
mean of either execution over groupings that runs are measured by, and seeds; `same seed`, the deviation of a
run with the same data, order, first weights and settings, sqrt(mean((first - second)^2) / 2): what program
and machine add by themselves; `seeds`, the deviation over seeds of the first, pooled over groupings. `--keep`
writes the second file's columns that are read here, and no others.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import polars as pl

METRICS = ("acc_u.label_attr", "ba_signed.positive", "eps")
KEY = ("id", "split", "measured_by")


def read(path: Path) -> pl.DataFrame:
    """What is compared of a file of runs: test rows of tasks with one label."""
    columns = [*KEY, "task", "grouping", "method", "seed", *METRICS]
    rows = pl.read_parquet(path, columns=columns).with_columns(pl.col(METRICS).fill_nan(None))
    return rows.filter((pl.col("split") == "test") & pl.col("task").str.starts_with("single"))


def compared(first: pl.DataFrame, second: pl.DataFrame, metric: str) -> pl.DataFrame:
    """A row for each method; runs in which either value is undefined are left out."""
    pairs = first.join(second, on=KEY, suffix=" again", nulls_equal=True)
    assert len(pairs) == len(first) == len(second), "the files are not of the same runs"
    one, two = pl.col(metric), pl.col(f"{metric} again")
    of_groupings = (
        pairs.filter(one.is_not_null() & two.is_not_null())
        .group_by("method", "task", "measured_by", maintain_order=True)
        .agg(
            one.mean().alias("first"), two.mean().alias("second"), pl.len().alias("values"),
            ((one - two) ** 2).mean().alias("apart"), one.var().alias("spread"),
        )
    )  # fmt: skip
    return of_groupings.group_by("method").agg(
        pl.col("values").sum(), pl.col("first").mean(), pl.col("second").mean(),
        (pl.col("apart").mean() / 2).sqrt().alias("same seed"), pl.col("spread").mean().sqrt().alias("seeds"),
        pl.struct("first", "second").alias("pairs"),
    ).sort("first", "method")  # fmt: skip


def order_kept(rows: pl.DataFrame) -> float:
    """The rank correlation of the two executions over methods and groupings."""
    pairs = rows.get_column("pairs").explode().struct.unnest()
    return float(pairs.select(pl.corr("first", "second", method="spearman")).item())


def main() -> None:
    """Print a table for each metric."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("first", type=Path)
    parser.add_argument("second", type=Path)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    first, second = read(options.first), read(options.second)
    if options.keep:
        second.write_parquet(options.keep, compression_level=19)
    for metric in METRICS:
        rows = compared(first, second, metric)
        print(f"\n| {metric} | values | first | second | same seed | seeds |\n|---|---|---|---|---|---|")
        for row in rows.iter_rows(named=True):
            numbers = (f"{row[name]:.3f}" for name in ("first", "second", "same seed", "seeds"))
            print(f"| {row['method']} | {row['values']} | {' | '.join(numbers)} |")
        print(f"\nrank correlation of the two over methods and groupings: {order_kept(rows):.3f}")


if __name__ == "__main__":
    main()

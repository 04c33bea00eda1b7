"""CEV and SDE of the published runs of a compression study, with all classes and without one of them.

    python tools/cev_without.py studies/results/compression-cifar10-small bird

How much a class of few errors decides. For every compressed method and level: means over seeds with and
without the class, on test rows, each run against the base of its seed; then the base's false positives and
misses of that class, seed by seed, and how often two seeds order two methods alike by either CEV.
"""

from __future__ import annotations

import argparse
import json
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl

from evenhand.arrays import FloatArray
from evenhand.metrics.counts import Counts
from evenhand.metrics.pairs import error_rates, pair_measures

Run = tuple[str, str, int]  # method, level, seed
BASE = ("base", "")


def tables(folder: Path) -> tuple[dict[Run, FloatArray], list[str]]:
    """The table of truths and predictions `[K, K]` of every run, all groups together, and the classes."""
    rows = pl.read_parquet(folder / "runs.parquet").filter(pl.col("split") == "test")
    found = dict[Run, FloatArray]()
    for row in rows.iter_rows(named=True):
        _, _, shape = json.loads(row["layout"])["arrays"][0]
        cells = np.array(row["counts"][: int(np.prod(shape))], dtype=float).reshape(shape)
        level = json.loads(row["fields"]).get("share")
        run = row["method"], "" if level is None else f"{100 * level:g} %", row["seed"]
        found.setdefault(run, cells.reshape(-1, *shape[-2:]).sum(axis=0))  # by whichever grouping
    return found, list(rows["classes"][0])


def measured(base: FloatArray, other: FloatArray, left_out: int) -> list[float]:
    """CEV and SDE with all classes, then without one."""
    rates = [rate[0] for table in (base, other) for rate in error_rates(Counts.from_table([table]).margins())]
    ways = rates, [np.delete(rate, left_out) for rate in rates]
    return [float(pair_measures(*way)[key]) for way in ways for key in ("cev", "sde")]


def same_order(values: FloatArray) -> float:
    """How often two seeds order two methods alike; `values [methods, seeds]`."""
    alike = [
        (values[i, a] > values[j, a]) == (values[i, b] > values[j, b])
        for i, j in combinations(range(len(values)), 2)
        for a, b in combinations(range(values.shape[1]), 2)
    ]
    return float(np.mean(alike))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("name", help="the class that is left out")
    chosen = parser.parse_args()
    found, classes = tables(chosen.folder)
    if chosen.name not in classes:
        raise SystemExit(f"there is no class {chosen.name!r}; there are {', '.join(classes)}")
    k = classes.index(chosen.name)
    seeds = sorted({seed for _, _, seed in found})
    levels = sorted({level for _, level, _ in found} - {""})
    for level in levels:
        methods = list(dict.fromkeys(method for method, own, _ in found if own == level))
        values = np.array(
            [[measured(found[(*BASE, s)], found[m, level, s], k) for s in seeds] for m in methods]
        )
        print(f"\n{level}\n| method | CEV | SDE | CEV without | SDE without |\n|---|---:|---:|---:|---:|")
        for method, own in zip((*methods, "mean"), (*values, values.mean(axis=0)), strict=True):
            print(f"| {method} | {' | '.join(f'{value:.3f}' for value in own.mean(axis=0))} |")
        alike = [same_order(values[..., way]) for way in (0, 2)]
        print(f"two seeds order two methods alike by CEV: {alike[0]:.2f}, without: {alike[1]:.2f}")
    wrong = [[int(each) for each in _errors(found[(*BASE, s)], k)] for s in seeds]
    print(f"\nthe base's false positives and misses of {chosen.name}, seed by seed: {wrong}")


def _errors(table: FloatArray, k: int) -> tuple[float, float]:
    return table[:, k].sum() - table[k, k], table[k].sum() - table[k, k]


if __name__ == "__main__":
    main()

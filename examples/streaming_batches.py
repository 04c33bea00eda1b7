"""Count batch by batch, in any number of processes: the merged counts are those of the whole, exactly.

python examples/streaming_batches.py
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

import evenhand
from evenhand import Attribute, Counts, Groups
from evenhand.data import packaged
from evenhand.metrics import rates

# Codes are fixed before the first batch. A batch without first-class passengers then has empty cells for
# them, and cannot push the second class into their place.
LEVELS = [1, 2, 3]


def batches(table: pl.DataFrame, size: int = 100) -> Iterator[pl.DataFrame]:
    """The rows in order of class, so that nearly every batch lacks a group."""
    return table.sort("pclass").iter_slices(size)


def count(batch: pl.DataFrame) -> Counts:
    """What one batch contributes: a table of 3 groups (and the unknown), 2 labels, 2 predictions."""
    groups = Groups.from_attributes([Attribute.from_values(batch["pclass"], "class", LEVELS)])
    return Counts.from_predictions(batch["survived"], batch["mlp_prediction"], groups, n_classes=2)


def main() -> None:
    """Stream, merge, compare with counting everything at once."""
    table = pl.read_csv(packaged("titanic_predictions.csv.gz"))
    parts = [count(batch) for batch in batches(table)]
    total = Counts.merge(parts)  # or part + part, or the sum over processes
    absent = sum(1 for part in parts if (part.table.sum(axis=(1, 2)) == 0).any())

    print(f"{len(parts)} batches, {absent} of them without some class; merged: {total.table.sum()} rows")
    print(f"the same as counting all rows at once: {total == count(table)}")
    for name, tpr, fpr in zip(LEVELS, rates.tpr(total), rates.fpr(total), strict=True):
        print(f"class {name}: true positive rate {tpr:.3f}, false positive rate {fpr:.3f}")
    found = evenhand.audit_counts(total, LEVELS, attribute="class")
    for key in ("tpr.gap", "fpr.gap", "odds.max"):
        metric = found.metrics[key]
        print(f"{key:8} {metric.value:.3f} (95% interval {metric.low:.3f} to {metric.high:.3f})")


if __name__ == "__main__":
    main()

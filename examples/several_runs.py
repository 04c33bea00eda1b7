"""Five trainings that differ in nothing but the seed: how much of a gap is the run, how much the sample?

python examples/several_runs.py
"""

from __future__ import annotations

import numpy as np
import polars as pl

import evenhand
from evenhand.data import packaged


def main() -> None:
    """Audit the stack of runs, and show what reporting the best one would hide."""
    table = pl.read_csv(packaged("titanic_runs.csv.gz")).sort("run", "passenger")
    runs = table.partition_by("run")
    first = runs[0]
    # one row a run: predictions [runs, passengers]; labels and groups are the same passengers every time
    predictions = np.stack([run["prediction"].to_numpy() for run in runs])

    audit = evenhand.audit(first["survived"], predictions, groups={"sex": first["sex"]})

    print(f"{len(runs)} runs of {audit.n} passengers\n")
    print(f"{'metric':16} {'mean':>6} {'std':>6} {'min':>6} {'max':>6} {'MaxDiff':>8}  variance due to runs")
    for key in ("acc", "selection.gap", "tpr.gap", "fpr.gap", "accuracy.worst"):
        over = audit.metrics[key].runs
        assert over is not None
        numbers = " ".join(f"{value:6.3f}" for value in (over.mean, over.std, over.min, over.max))
        print(f"{key:16} {numbers} {over.maxdiff:8.3f}  {over.share:.0%}")

    gap = audit.metrics["tpr.gap"]
    assert gap.runs is not None
    print(
        f"\nOne run alone would have reported a tpr.gap between {gap.runs.min:.3f} and {gap.runs.max:.3f}; "
        f"for a further run of this model expect {gap.low:.3f} to {gap.high:.3f}."
    )


if __name__ == "__main__":
    main()

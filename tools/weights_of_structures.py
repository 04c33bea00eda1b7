"""How many training rows W-ERM's weights leave, structure by structure, beside what W-ERM adds to ERM.

    python tools/weights_of_structures.py [many-attributes-faces|label-noise]

The effective share of the rows is `(sum w)^2 / (N sum w^2)` for each label, and the mean over labels (Kish
1965): 1 where all rows count alike, 1/N where one row counts alone. Faces are not painted for it. What W-ERM
adds is read from the published tables studies/results/STUDY/figure-3-TASK.csv.
"""

from __future__ import annotations

import csv
import re
import sys
from pathlib import Path

import torch
from scipy.stats import spearmanr

from evenhand.methods.problem import Problem
from evenhand.methods.weighting import WeightedERM
from evenhand.records import Batch
from evenhand.study.read import read_study
from evenhand.study.tasks import look_at_task

STUDY = "many-attributes-faces"
RESULTS = Path(__file__).parents[1] / "studies" / "results"


def effective_share(problem: Problem) -> float:
    """The mean over labels of the share of rows that the weights of W-ERM leave."""
    method = WeightedERM()
    batch = Batch(torch.zeros(len(problem), 1), problem.y, problem.g, problem.a)
    weights, _ = method.weights(batch, method.init(problem), problem.sizes)
    own = weights.double()
    return float((own.sum(0) ** 2 / (len(own) * (own**2).sum(0))).mean())


def added(study: str, task: str) -> dict[str, float]:
    """What W-ERM has more than ERM in reweighted accuracy or mAP, by structure."""
    slug = re.sub(r"[^a-z0-9]+", "-", task.lower())
    with (RESULTS / study / f"figure-3-{slug}.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["panel"].startswith("(a)")]
    means = {(row["method"], row["of"]): float(row["mean"]) for row in rows}
    return {name: means["W-ERM", name] - means["U-ERM", name] for _, name in means}


def main(name: str = STUDY) -> None:
    """Print a line for each structure, and the rank correlation of both over structures."""
    study = read_study(name)
    for entry in study.tasks:
        task = look_at_task(entry.data, entry.knobs)
        gains, shares = added(name, entry.name), {}
        for grouping in study.groupings:
            if grouping.name in gains:
                shares[grouping.name] = effective_share(Problem.of(task, grouping.attributes))
        for place, share in shares.items():
            print(
                f"{entry.name:13} {place:16} effective share {share:.4f}, W-ERM less ERM {gains[place]:+.3f}"
            )
        found = spearmanr(list(shares.values()), [gains[place] for place in shares])
        print(f"{entry.name}: rank correlation {found.statistic:+.2f} over {len(shares)} structures,")
        print(f"shares from {min(shares.values()):.4f} to {max(shares.values()):.4f}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

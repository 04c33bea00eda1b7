"""How many training rows W-ERM's weights leave, structure by structure, beside what W-ERM adds to ERM.

    python tools/weights_of_structures.py

The effective share of the rows is `(sum w)^2 / (N sum w^2)` for each label, and the mean over labels (Kish
1965): 1 where all rows count alike, 1/N where one row counts alone. Faces are not painted for it. What W-ERM
adds is read from the published table studies/results/many-attributes-faces/figure-3-TASK.csv.
"""

from __future__ import annotations

import csv
from pathlib import Path

import torch
from scipy.stats import spearmanr

from evenhand.methods.problem import Problem
from evenhand.methods.weighting import WeightedERM
from evenhand.records import Batch
from evenhand.study.read import read_study
from evenhand.study.tasks import look_at_task

STUDY = "many-attributes-faces"
RESULTS = Path(__file__).parents[1] / "studies" / "results" / STUDY


def effective_share(problem: Problem) -> float:
    """The mean over labels of the share of rows that the weights of W-ERM leave."""
    method = WeightedERM()
    batch = Batch(torch.zeros(len(problem), 1), problem.y, problem.g, problem.a)
    weights, _ = method.weights(batch, method.init(problem), problem.sizes)
    own = weights.double()
    return float((own.sum(0) ** 2 / (len(own) * (own**2).sum(0))).mean())


def added(task: str) -> dict[str, float]:
    """What W-ERM has more than ERM in reweighted accuracy or mAP, by structure."""
    with (RESULTS / f"figure-3-{task}.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["panel"].startswith("(a)")]
    means = {(row["method"], row["of"]): float(row["mean"]) for row in rows}
    return {name: means["W-ERM", name] - means["U-ERM", name] for _, name in means}


def main() -> None:
    """Print a line for each structure, and the rank correlation of both over structures."""
    study = read_study(STUDY)
    for entry in study.tasks:
        task = look_at_task(entry.data, entry.knobs)
        gains, shares = added(entry.name), {}
        for grouping in study.groupings:
            if grouping.name in gains:
                shares[grouping.name] = effective_share(Problem.of(task, grouping.attributes))
        for name, share in shares.items():
            print(f"{entry.name:8} {name:16} effective share {share:.4f}, W-ERM less ERM {gains[name]:+.3f}")
        found = spearmanr(list(shares.values()), [gains[name] for name in shares])
        print(f"{entry.name}: rank correlation {found.statistic:+.2f} over {len(shares)} structures,")
        print(f"shares from {min(shares.values()):.4f} to {max(shares.values()):.4f}\n")


if __name__ == "__main__":
    main()

"""What a lower bias costs: accuracy, its variation and the variation of the bias itself (S0's Figure 3)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.evaluation.replay.published import Published, base_of
from evenhand.evaluation.replay.rows import Row
from evenhand.statistics.tests import levene_relative, mann_whitney, relative_variance

COST = (
    "technique", "base_mean", "mean", "accuracy_p", "accuracy", "variance_p", "variance", "variance_ratio",
    "official_variance", "reduces", "cross", "official_cross",
)  # fmt: skip
COSTS = ("bias_variance_up", "accuracy_down", "accuracy_variance_up")


def cost_rows(published: Published, tests: Sequence[Row]) -> list[Row]:
    """One row a mitigation: which way performance and its relative variance moved, and what bias it lowered.

    `variance` compares relative variances on both sides. `official_variance` is filled where the published
    figure shows another direction. `cross`: the technique lowers none of the seven metrics significantly.
    """
    return [_cost_row(published, technique, tests) for technique in published.mitigations]


def _cost_row(published: Published, technique: str, tests: Sequence[Row]) -> Row:
    base, other = published.performance[base_of(technique)], published.performance[technique]
    moved, varied = mann_whitney(base, other, "posthoc"), levene_relative(base, other)
    official = _official(technique, base, other, varied.label)
    reduces = [row["metric"] for row in tests if row["technique"] == technique and row["direction"] == "-"]
    drawn = [place for place, label in (("upper", moved.label), ("lower", varied.label)) if label != "NS"]
    before = relative_variance(base)
    values = (
        technique, float(base.mean()), float(other.mean()), moved.p, moved.label, varied.p, varied.label,
        relative_variance(other) / before if before else float("nan"),
        official if official != varied.label else "", " ".join(reduces), not reduces,
        "" if reduces else " ".join(drawn),
    )  # fmt: skip
    return dict(zip(COST, values, strict=True))


def _official(technique: str, base: FloatArray, other: FloatArray, label: str) -> str:
    """The direction in the published figure: the base's raw variance against the other's relative one.

    Accuracies of the S family were in percent, so that the two sides differ by a factor of thousands.
    """
    if label == "NS":
        return label
    percent = 100.0 if technique.startswith("S-") else 1.0
    return "+" if relative_variance(other) > np.var(base * percent, ddof=1) else "-"


def venn_rows(tests: Sequence[Row], cost: Sequence[Row]) -> list[Row]:
    """Of the (technique, metric) pairs whose bias fell: how many paid which price, and how many none."""
    by_technique = {row["technique"]: row for row in cost}
    paid = [_prices(row, by_technique[row["technique"]]) for row in tests if row["direction"] == "-"]
    regions = [kinds for size in (1, 2, 3) for kinds in combinations(COSTS, size)]
    rows = [
        {"region": " & ".join(kinds), "pairs": sum(set(kinds) <= prices for prices in paid)}
        for kinds in regions
    ]
    bare = sum(not prices for prices in paid)
    ends = {"any": len(paid) - bare, "free": bare, "all pairs": len(paid)}
    return rows + [{"region": region, "pairs": pairs} for region, pairs in ends.items()]


def _prices(test: Row, cost: Row) -> set[str]:
    found = (test["variance_direction"] == "+", cost["accuracy"] == "-", cost["variance"] == "+")
    return {name for name, there in zip(COSTS, found, strict=True) if there}

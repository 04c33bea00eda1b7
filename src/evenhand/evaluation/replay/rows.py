"""S0's two large tables from the published runs: variation over identical runs, tests against baselines."""

from __future__ import annotations

from typing import Any

from evenhand.evaluation.replay.published import METRICS, Published, base_of
from evenhand.statistics.rows import change_row, variance_row
from evenhand.statistics.variance import percent_text, spread

Row = dict[str, Any]

VARIANCE = (
    "technique", "metric", "mean", "max", "min", "max_diff", "stdev",
    "class", "class_max_diff", "class_stdev",
)  # fmt: skip
TESTS = (
    "technique", "metric", "base_mean", "mean", "p", "direction", "d", "levene_p", "variance_direction",
)  # fmt: skip
TABLE4 = ("max_diff", "stdev", "class_max_diff", "class_stdev")


def variance_rows(published: Published) -> list[Row]:
    """How far apart 16 identical trainings end: one row a technique and metric, as fractions.

    `class` is the place of the class whose MaxDiff is the largest; the last two columns are that class's.
    """
    return [
        _variance_row(published, technique, metric)
        for technique in published.techniques
        for metric in METRICS
    ]


def _variance_row(published: Published, technique: str, metric: str) -> Row:
    found = variance_row(published.bias[technique, metric])
    return dict(zip(VARIANCE, (technique, metric, *vars(found).values()), strict=True))


def comparison_rows(published: Published) -> list[Row]:
    """Did a mitigation move a bias metric, or its variation over runs? One row a mitigation and metric.

    S0's own rules: one-sided Mann-Whitney U with the side chosen by the means, Levene around the median on
    values divided by their mean. `d` (Cohen) is given for every row; S0 printed it for significant ones.
    """
    return [
        _comparison_row(published, technique, metric)
        for technique in published.mitigations
        for metric in METRICS
    ]


def _comparison_row(published: Published, technique: str, metric: str) -> Row:
    base, other = published.bias[base_of(technique), metric], published.bias[technique, metric]
    found = change_row(base, other, "artifact")
    return dict(zip(TESTS, (technique, metric, *vars(found).values()), strict=True))


def table4(variance: list[Row]) -> list[Row]:
    """S0's Table 4 as text: normalised disparate impact of every technique, in percent.

    >>> table4([{"technique": "S-RS", "metric": "di", **dict.fromkeys(TABLE4, 0.0204)}])[0]["stdev"]
    '2.0'
    """
    return [
        {"technique": row["technique"]} | {key: percent_text(row[key]) for key in TABLE4}
        for row in variance
        if row["metric"] == "di"
    ]


def performance_rows(published: Published) -> list[Row]:
    """Mean and population deviation of each technique's performance over its runs, as fractions."""
    found = {name: spread(published.performance[name]) for name in published.techniques}
    return [
        {"technique": name, "mean": float(runs.mean), "pstdev": float(runs.std)}
        for name, runs in found.items()
    ]

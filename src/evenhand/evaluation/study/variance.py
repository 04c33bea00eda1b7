"""Two sources of chance, kept apart: training again with another seed, and other test rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.evaluation.study.numbers import sample_std, shares
from evenhand.evaluation.study.resampled import Place
from evenhand.evaluation.study.setup import Setup
from evenhand.statistics.variance import spread

NAN = float("nan")


def variance_rows(setup: Setup, rows: Mapping[Place, Mapping[str, float]]) -> list[dict[str, Any]]:
    """A line for each problem, method and metric: mean, deviation and range over seeds; deviation by rows.

    `share` is the most that training again can have of a single run's variance, `share_low` the least.
    """
    found = []
    for arm in setup.arms:
        for key in setup.keys:
            values = arm.of(key).values[key]
            seeds, sampling = sample_std(values), rows.get(arm.place, {}).get(key, NAN)
            over = spread(values)
            least, most = shares(seeds, sampling)
            found.append(
                {
                    "problem": setup.frame.layout.problems[arm.place[0]].id, "method": arm.place[1],
                    "metric": key, "mean": float(over.mean), "min": float(over.min), "max": float(over.max),
                    "seed_std": seeds, "row_std": sampling, "maxdiff": float(over.maxdiff), "share": most,
                    "share_low": least,
                }
            )  # fmt: skip
    return found

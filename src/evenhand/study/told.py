"""What scores told of a run that is taken over without them: values that stand among the run's numbers.

Scores are a hundred times as large as all else, and a published file has the values of their metrics instead
(see `evenhand.study.export_rows`). Whoever takes such a run over keeps these, each under a name of its own
that says what it is of: they are no numbers of the trained model, belong to no digest, and give way to scores
where a run has them. Nothing more can be made of them: no interval over rows, no value of fewer labels.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.metrics import binned
from evenhand.metrics.catalogue import CATALOGUE
from evenhand.study.records import canonical

# Metrics of scores that are one number over all labels, whatever the convention: what a file says of them is
# what any study with as many bins would say.
SINGLE = {
    "map": binned.mean_average_precision, "map_u": binned.mean_average_precision_u,
    "dims": binned.dims, "diamr": binned.diamr,
}  # fmt: skip
TOLD = "told "  # before such a name; no number of a model begins so
BINS = "score_bins"  # the column that says how many bins the scores were kept in: ties in a bin lower mAP
ROUNDED = 1e-9
Numbers = Mapping[str, float]


def told_name(part: str, grouping: str, key: str) -> str:
    """What a value is called among the numbers of its run.

    >>> told_name("test", "sex × race", "map_u")
    'told ["test","sex × race","map_u"]'
    """
    return TOLD + canonical([part, grouping, key])


def is_told(name: str) -> bool:
    """Whether a number of a run was told by scores that it came without.

    >>> is_told(told_name("test", "sex", "map")), is_told("delta_er")
    (True, False)
    """
    return name.startswith(TOLD)


def told_key(name: str) -> str:
    """The metric of such a name.

    >>> told_key(told_name("test", "sex", "map"))
    'map'
    """
    return str(json.loads(name.removeprefix(TOLD))[-1])


def told_by(row: Mapping[str, Any]) -> dict[str, float]:
    """What a row of an exported file tells in place of its scores, by name; nothing where it has these.

    >>> told_by({"split": "test", "measured_by": "sex", "map": 0.5, "map_u": float("nan"), "scores": None})
    {'told ["test","sex","map"]': 0.5}
    """
    if row["split"] is None or row.get("scores") is not None:
        return {}
    found = {key: row.get(key) for key in SINGLE}
    return {
        told_name(row["split"], row["measured_by"], key): float(value)
        for key, value in found.items()
        if isinstance(value, int | float) and math.isfinite(value) and _can_be(key, value)
    }


def _can_be(key: str, value: float) -> bool:
    """Whether a metric can have a value; one that it cannot have is no word to take a file by."""
    metric = CATALOGUE[key]
    return metric.low - ROUNDED <= value <= metric.high + ROUNDED


def told_values(numbers: Sequence[Numbers | None], part: str, grouping: str) -> dict[str, FloatArray]:
    """What was told of runs with these numbers, on a part by a grouping: metric -> `[R]`; NaN without.

    >>> told_values([{told_name("test", "sex", "map"): 0.5}, {}], "test", "sex")["map"].tolist()
    [0.5, nan]
    """
    names = {key: told_name(part, grouping, key) for key in SINGLE}
    return {
        key: np.array([(own or {}).get(name, math.nan) for own in numbers], dtype=np.float64)
        for key, name in names.items()
    }


def without_told(numbers: Numbers) -> dict[str, float]:
    """The numbers that were taken of the trained model itself."""
    return {name: value for name, value in numbers.items() if not is_told(name)}

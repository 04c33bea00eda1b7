"""One number over runs as the survey rule asks for it: mean, deviation, smallest and largest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from evenhand.evaluation.study.numbers import sample_std
from evenhand.statistics.variance import spread

ORACLE = "test (oracle)"  # where settings were chosen, if on the very rows that are reported


def run_spread(place: Mapping[str, str], metric: str, values: Iterable[float | None]) -> dict[str, Any]:
    """A line of `evenhand.report.spread_table`: where it stands, and mean, deviation (ddof 1) and range.

    `place` says of what, in columns that all lines of a table share; the first stays in view on a page. Runs
    without a value (NaN, None) are left out and not counted; one run alone has no deviation, and no run no
    number: both are NaN.

    >>> found = run_spread({"method": "erm"}, "accuracy", [0.5, None, 0.25, 0.75])
    >>> found["method"], found["runs"], found["mean"], found["deviation"], found["largest"]
    ('erm', 3, 0.5, 0.25, 0.75)
    """
    runs = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    found = spread(runs[np.isfinite(runs)])
    return {
        **place, "metric": metric, "runs": int(found.n), "mean": float(found.mean),
        "deviation": sample_std(runs), "smallest": float(found.min), "largest": float(found.max),
    }  # fmt: skip

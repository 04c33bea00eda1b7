"""The metrics of an audit as a polars data frame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

NUMBERS = ("value", "low", "high", "with_small", "chance", "chance_p")
RUNS = ("mean", "std", "min", "max", "maxdiff", "share")


def metric_frame(audit: Mapping[str, Any]) -> pl.DataFrame:
    """One row a metric; `undefined` is a list of reasons, columns `runs_...` are null without several runs.

    >>> gap = {"value": 0.5, "low": None, "high": None, "decided_by": ["a", "b"], "undefined": []}
    >>> metric_frame({"metrics": {"tpr.gap": gap}}).row(0)[:2]
    ('tpr.gap', 0.5)
    """
    rows = [_row(key, metric) for key, metric in audit["metrics"].items()]
    return pl.DataFrame(rows, schema=_schema(), orient="row")


def _schema() -> dict[str, Any]:
    schema: dict[str, Any] = {"metric": pl.String, **dict.fromkeys(NUMBERS, pl.Float64)}
    schema |= {"bound_low": pl.Float64, "bound_high": pl.Float64}
    schema |= {"decided_by": pl.List(pl.String), "decided_in": pl.String, "undefined": pl.List(pl.String)}
    return schema | {"per_class": pl.List(pl.Float64), **{f"runs_{name}": pl.Float64 for name in RUNS}}


def _row(key: str, metric: Mapping[str, Any]) -> tuple[Any, ...]:
    low, high = metric.get("bounds") or (None, None)
    runs = metric.get("runs") or {}
    words = (metric.get("decided_by"), metric.get("decided_in"), metric.get("undefined") or [])
    numbers = (metric.get(name) for name in NUMBERS)
    return (key, *numbers, low, high, *words, metric.get("per_class"), *(runs.get(name) for name in RUNS))

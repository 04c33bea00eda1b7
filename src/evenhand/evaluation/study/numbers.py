"""One metric of one method: its runs, where their mean lies, and what seeds and rows each contribute."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.evaluation.tradeoff_values import t_reach
from evenhand.metrics.catalogue import CATALOGUE
from evenhand.metrics.undefined import divide
from evenhand.statistics.variance import spread

NAN = float("nan")


def numbers_of(values: FloatArray, key: str, confidence: float, row_std: float = NAN) -> dict[str, Any]:
    """Mean, deviation (ddof 1), range and Student's interval over seeds; runs without a value are left out.

    `row_std` is what another sample of test rows would change in one run; for the shares see `shares`.

    >>> found = numbers_of(np.array([0.1, 0.3, np.nan]), "tpr.gap", 0.95, row_std=0.1)
    >>> round(found["mean"], 6), round(found["std"], 6), round(found["run_share"], 6)
    (0.2, 0.141421, 0.666667)
    """
    known, metric = spread(values), CATALOGUE[key]
    mean, std = float(known.mean), sample_std(values)
    reach = t_reach(values, confidence)
    low, high = np.clip([mean - reach, mean + reach], metric.low, metric.high).tolist()
    least, most = shares(std, row_std)
    return {
        "values": values.tolist(), "mean": mean, "std": std, "min": float(known.min), "max": float(known.max),
        "maxdiff": float(known.maxdiff), "low": low, "high": high, "row_std": row_std, "run_share": most,
        "run_share_low": least,
    }  # fmt: skip


def shares(std: float, row_std: float) -> tuple[float, float]:
    """Least and most share of training again in the variance of a single run on other rows.

    Runs that are measured on the same rows err partly on the same ones. How far is not in their counts: if
    wholly so, all of their deviation is training's; if not at all, the rows' is to be taken off first.

    >>> [round(share, 6) for share in shares(0.05, 0.03)]
    [0.64, 0.735294]
    """
    observed, rows = std**2, row_std**2
    least = float(np.maximum(observed - rows, 0.0))
    return float(divide(least, least + rows)), float(divide(observed, observed + rows))


def sample_std(values: FloatArray) -> float:
    """Standard deviation (ddof 1) of the defined values; NaN for fewer than two, exactly 0 for equal ones.

    >>> sample_std(np.array([1.0, np.nan])), sample_std(np.array([0.1, 0.1, 0.1]))
    (nan, 0.0)
    """
    known = values[np.isfinite(values)]
    if len(known) < 2:
        return NAN
    return float(known.std(ddof=1)) if np.ptp(known) > 0 else 0.0

"""How large is the variation of identical trainings beside that of other seeds? A ratio with its interval."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.evaluation.fixed_seed.layout import CONFIDENCE, SEEDS
from evenhand.evaluation.replay.published import METRICS
from evenhand.evaluation.replay.rows import Row

Json = dict[str, Any]
NAN = float("nan")
PERFORMANCE = "performance"


def ratio_of(same: FloatArray, seeds: FloatArray, confidence: float = CONFIDENCE) -> tuple[float, ...]:
    """(s_same / s_seeds, low, high), s with ddof 1; the interval is that of F for normal values.

    (s_same^2 / s_seeds^2) / F_q(n - 1, m - 1). A deviation of exactly 0 gives 0 without an interval; NaN
    where the seeds do not vary, or a side has fewer than two runs.

    >>> same, seeds = np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0])
    >>> [round(x, 4) for x in ratio_of(same, seeds)]  # 0.5, times and by sqrt(39)
    [0.5, 0.0801, 3.1225]
    """
    from scipy.stats import f

    a, b = (values[~np.isnan(values)] for values in (same, seeds))
    if min(len(a), len(b)) < 2 or np.ptp(b) == 0:
        return NAN, NAN, NAN
    if np.ptp(a) == 0:
        return 0.0, NAN, NAN
    variances, freedom = a.var(ddof=1) / b.var(ddof=1), (len(a) - 1, len(b) - 1)
    tail = (1 - confidence) / 2
    ends = [variances / f.ppf(q, *freedom) for q in (1 - tail, tail)]
    return tuple(float(np.sqrt(value)) for value in (variances, *ends))


def ratio_rows(sets: Sequence[Json]) -> list[Row]:
    """For each technique with runs of one seed and of several on the same data and network: a row a metric.

    `sets` are those of all studies, as `study.py` describes them: `places[technique]` says what it was
    trained on, `values[technique][metric]` are its runs. `recipes` names values in which they differ.
    """
    found = []
    for one in sets:
        for other in sets:
            if one["kind"] != SEEDS and other["kind"] == SEEDS:
                shared = [name for name in one["places"] if one["places"][name] == other["places"].get(name)]
                found += [
                    _row(one, other, name, metric) for name in shared for metric in (PERFORMANCE, *METRICS)
                ]
    return found


def _row(one: Json, other: Json, technique: str, metric: str) -> Row:
    same, seeds = (
        np.array(side["values"][technique][metric], dtype=np.float64) for side in (one, other)
    )  # None is NaN
    ratio, low, high = ratio_of(same, seeds)
    mine, theirs = one["recipes"][technique], other["recipes"][technique]
    return {
        "technique": technique, "metric": metric, "study": one["study"], "other": other["study"],
        "same_std": _std(same), "seeds_std": _std(seeds), "ratio": ratio, "low": low, "high": high,
        "runs": [len(same), len(seeds)],
        "recipes": sorted(key for key in mine.keys() | theirs.keys() if mine.get(key) != theirs.get(key)),
    }  # fmt: skip


def median_ratios(rows: Sequence[Row]) -> list[Row]:
    """For each two studies and metric: the median and the range of the ratio over techniques.

    Techniques that read the same network count each; the range is no interval.
    """
    places = dict.fromkeys((row["study"], row["other"], row["metric"]) for row in rows)
    found = []
    for study, other, metric in places:
        known = [
            row["ratio"] for row in rows
            if (row["study"], row["other"], row["metric"]) == (study, other, metric)
            and not np.isnan(row["ratio"])
        ]  # fmt: skip
        if known:
            found.append({"study": study, "other": other, "metric": metric, "techniques": len(known),
                          "median": statistics.median(known), "least": min(known),
                          "most": max(known)})  # fmt: skip
    return found


def _std(values: FloatArray) -> float:
    known = values[~np.isnan(values)]
    if len(known) < 2:
        return NAN
    return float(known.std(ddof=1)) if np.ptp(known) > 0 else 0.0

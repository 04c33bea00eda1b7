"""Two sources of chance, kept apart: training again with another seed, and other test rows.

The first is seen in the runs. The second is drawn: the counts of each run are resampled, all runs at once,
for the chosen settings only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.evaluation.study.numbers import sample_std, shares
from evenhand.evaluation.study.setup import Setup
from evenhand.metrics.counts import Counts
from evenhand.metrics.margins import margins_of_everyone
from evenhand.metrics.metric import Metric
from evenhand.metrics.resample import draw, smoothed
from evenhand.metrics.view import View
from evenhand.statistics.variance import spread

Place = tuple[int, str]
MOST_DRAWS = 60_000  # replicates over all runs; with more runs each gets fewer, down to:
FEWEST = 40
RUNS = 8  # of an arm that are resampled: the deviation by rows hardly differs between the runs of one setting
CHUNK_CELLS = 1 << 21  # cells of replicates held at once: 16 MB
NAN = float("nan")


def row_deviations(setup: Setup, seed: int = 0) -> dict[Place, dict[str, float]]:
    """For each arm and count metric, what other test rows change in a run: root mean square over its runs."""
    some = [arm.rows[:RUNS] for arm in setup.arms]
    rows = np.concatenate(some) if some else np.zeros(0, dtype=np.int64)
    metrics = [metric for metric in setup.metrics if metric.needs == "counts"]
    if not setup.replicates or not len(rows):
        return {}
    replicates = max(min(FEWEST, setup.replicates), min(setup.replicates, MOST_DRAWS // len(rows)))
    variances = {metric.key: np.full(setup.frame.n, np.nan) for metric in metrics}
    rng = np.random.default_rng(seed)
    for look, here, inside in setup.frame.met(setup.report.part, rows):
        for chunk in _chunks(len(here), replicates * int(look.counts.cells[0].size)):
            found = _drawn(look.counts[inside[chunk]], metrics, look.view, replicates, rng)
            for key, values in found.items():
                variances[key][rows[here[chunk]]] = _variance(values)
    return {arm.place: {key: _root_mean(values[arm.rows]) for key, values in variances.items()}
            for arm in setup.arms}  # fmt: skip


def _chunks(n: int, cells: int) -> Iterator[slice]:
    size = max(1, CHUNK_CELLS // max(cells, 1))
    for first in range(0, n, size):
        yield slice(first, first + size)


def _drawn(
    counts: Counts, metrics: Sequence[Metric], like: View, replicates: int, rng: np.random.Generator
) -> dict[str, FloatArray]:
    """The metrics of resampled rows, `[replicates, runs]`; every group keeps its size."""
    drawn = draw(counts, smoothed(counts), replicates, rng, "stratified")
    view = like.of(drawn.margins(), margins_of_everyone(drawn.cells, drawn.multilabel))
    return {metric.key: metric(view) for metric in metrics}


def _variance(values: FloatArray) -> FloatArray:
    """Variance over the replicates of each run; NaN where more than half of them are undefined."""
    finite = np.isfinite(values)
    n = finite.sum(axis=0)
    mean = np.where(finite, values, 0.0).sum(axis=0) / np.maximum(n, 1)
    square = np.where(finite, (np.where(finite, values, 0.0) - mean) ** 2, 0.0).sum(axis=0)
    return np.where(2 * n > len(values), square / np.maximum(n - 1, 1), np.nan)


def _root_mean(variances: Array) -> float:
    known = variances[~np.isnan(variances)]
    return float(np.sqrt(known.mean())) if len(known) else NAN


def variance_rows(setup: Setup, rows: Mapping[Place, Mapping[str, float]]) -> list[dict[str, Any]]:
    """The table of both sources: a line for each problem, method and metric."""
    found = []
    for arm in setup.arms:
        for key in setup.keys:
            seeds, sampling = sample_std(arm.values[key]), rows.get(arm.place, {}).get(key, NAN)
            found.append(
                {
                    "problem": setup.frame.layout.problems[arm.place[0]].id, "method": arm.place[1],
                    "metric": key, "seed_std": seeds, "row_std": sampling,
                    "maxdiff": float(spread(arm.values[key]).maxdiff),
                    "share": shares(seeds, sampling)[1], "share_low": shares(seeds, sampling)[0],
                }
            )  # fmt: skip
    return found

"""What other test rows would change in a run: its counts (or binned scores) resampled, all runs at once.

Only runs of chosen settings are resampled, and the fewer times the more and the larger they are: forty
replicates know a deviation to about a ninth, and two runs of an arm are averaged. The labels of a
multi-label task are drawn apart, as counts do not know which belong to one row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.evaluation.study.setup import Setup
from evenhand.metrics.margins import margins_of_everyone
from evenhand.metrics.metric import Metric, Needs
from evenhand.metrics.resample import draw, smoothed
from evenhand.study.frame_blocks import Look

Place = tuple[int, str]
MOST_DRAWS = 60_000  # replicates over all runs; with more runs each gets fewer, down to:
FEWEST = 40
MOST_CELLS = (
    1 << 31
)  # cells of replicates over all runs: many groups, labels and bins get fewer replicates too
CHUNK_CELLS = 1 << 21  # cells of replicates held at once: 16 MB
COARSE = 240  # bins that scores are resampled in
# runs of an arm that are resampled: the deviation by rows hardly differs between the runs of one setting
RUNS: dict[Needs, int] = {"counts": 8, "scores": 2}
NAN = float("nan")


def row_deviations(setup: Setup, seed: int = 0) -> dict[Place, dict[str, float]]:
    """For each arm and metric, what other test rows change in a run: root mean square over its runs."""
    found: dict[Place, dict[str, float]] = {arm.place: {} for arm in setup.arms}
    rng = np.random.default_rng(seed)
    for needs, runs in RUNS.items():
        metrics = [metric for metric in setup.metrics if metric.needs == needs]
        rows = [arm.of(metric.key).rows[:runs] for arm in setup.arms for metric in metrics]
        if not rows or not setup.replicates:
            continue
        variances = _variances(setup, np.unique(np.concatenate(rows)), metrics, rng)
        for arm in setup.arms:
            found[arm.place] |= {
                key: _root_mean(values[arm.of(key).rows]) for key, values in variances.items()
            }
    return found


def _variances(
    setup: Setup, rows: Array, metrics: Sequence[Metric], rng: np.random.Generator
) -> dict[str, FloatArray]:
    """The variance over replicates of each metric, `[R]`; NaN for runs that are not among the rows."""
    met, needs = setup.frame.met(setup.report.part, rows), metrics[0].needs
    cells = sum(len(here) * _cells(look, needs) for look, here, _ in met)
    replicates = _replicates(setup.replicates, len(rows), cells)
    out = {metric.key: np.full(setup.frame.n, np.nan) for metric in metrics}
    drawn = _drawn_counts if needs == "counts" else _drawn_scores
    for look, here, inside in met:
        for chunk in _chunks(len(here), replicates * _cells(look, needs)):
            for key, values in drawn(look, inside[chunk], metrics, replicates, rng).items():
                out[key][rows[here[chunk]]] = _variance(values)
    return out


def _replicates(wanted: int, runs: int, cells: int) -> int:
    """How often runs are resampled that have so many cells together.

    >>> _replicates(1000, 10, 10_000), _replicates(1000, 10_000, 10_000_000), _replicates(20, 9, 1 << 40)
    (1000, 40, 20)
    """
    affordable = min(MOST_DRAWS // max(runs, 1), MOST_CELLS // max(cells, 1))
    return max(min(FEWEST, wanted), min(wanted, affordable))


def _cells(look: Look, needs: Needs) -> int:
    if needs == "counts" or look.scores is None:
        return int(look.counts.cells[0].size)
    return int(look.scores.cells[0].size) * 3 // max(1, look.scores.bins // COARSE)


def _chunks(n: int, cells: int) -> Iterator[slice]:
    size = max(1, CHUNK_CELLS // max(cells, 1))
    for first in range(0, n, size):
        yield slice(first, first + size)


def _drawn_counts(
    look: Look, runs: Array, metrics: Sequence[Metric], replicates: int, rng: np.random.Generator
) -> dict[str, FloatArray]:
    """Metrics of resampled rows, `[replicates, runs]`; every group keeps its size."""
    counts = look.counts[runs]
    drawn = draw(counts, smoothed(counts), replicates, rng, "stratified")
    view = look.view.of(drawn.margins(), margins_of_everyone(drawn.cells, drawn.multilabel))
    return {metric.key: metric(view) for metric in metrics}


def _drawn_scores(
    look: Look, runs: Array, metrics: Sequence[Metric], replicates: int, rng: np.random.Generator
) -> dict[str, FloatArray]:
    """The same of binned scores; nothing where none were kept."""
    if look.scores is None:
        return {}
    scores = look.scores[runs]
    bins = COARSE if scores.bins % COARSE == 0 else scores.bins
    drawn = scores.resample(replicates, rng, bins=bins)
    seen = Look(look.rows[runs], look.counts[runs], drawn, look.groups, look.classes, look.convention)
    return {metric.key: values for metric in metrics
            if (values := seen.values(metric)).ndim == 2}  # fmt: skip


def _variance(values: FloatArray) -> FloatArray:
    """Variance over the replicates of each run; NaN where at least half of them are undefined."""
    finite = np.isfinite(values)
    n = finite.sum(axis=0)
    known = np.where(finite, values, 0.0)
    mean = known.sum(axis=0) / np.maximum(n, 1)
    square = np.where(finite, (known - mean) ** 2, 0.0).sum(axis=0)
    return np.where(2 * n > len(values), square / np.maximum(n - 1, 1), np.nan)


def _root_mean(variances: Array) -> float:
    known = variances[~np.isnan(variances)]
    return float(np.sqrt(known.mean())) if len(known) else NAN

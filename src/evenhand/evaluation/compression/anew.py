"""What training anew does: the base of one seed measured against that of another, as if it were compressed.

Two trainings of one recipe differ in whom they get wrong, and so have a CEV and an SDE against each other. A
compressed model that has no more than that moved errors between classes no further than another seed does.

The same few bases stand on both sides of every pair, so that the differences of the seeds depend on each
other: Student's test of them as they are found something in 7 to 19 of 100 planted cases of nothing, where it
promises 5 (`tests/evaluation/test_compression_anew.py`). Interval and p are Student's of jackknife values
instead, for which a seed is left out of both sides (Arvesen, Jackknifing U-statistics, 1969).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.evaluation.compression.measures import CEV, SDE, Against, against_base
from evenhand.evaluation.compression.populations import Compressed
from evenhand.statistics.corrections import holm
from evenhand.statistics.effects import mean_interval, p_of_mean

Json = dict[str, Any]
METRICS = (CEV, SDE)
FEWEST = 3  # seeds: with one of two left out there is no pair


def anew_row(world: Compressed) -> Json | None:
    """CEV and SDE of training anew, and how much more each method has; None for a single base."""
    if len(world.base.seeds) < 2:
        return None
    pairs = trained_anew(world)
    rows = [_row(one, pairs) for one in against_base(world)]
    adjusted = holm([row[key]["p"] for row in rows for key in METRICS]).reshape(-1, len(METRICS))
    for row, own in zip(rows, adjusted.tolist(), strict=True):
        for key, p in zip(METRICS, own, strict=True):
            row[key]["p_holm"] = p
    nothing = np.zeros(len(world.base.seeds))
    return {**{key: {"mean": -beyond(nothing, pairs[key])["mean"]} for key in METRICS}, "rows": rows}


def trained_anew(world: Compressed) -> Mapping[str, FloatArray]:
    """CEV and SDE of every base (column) against every other (row), `[S, S]`; NaN against itself."""
    n = len(world.base.seeds)
    found = {key: np.full((n, n), np.nan) for key in METRICS}
    row = np.arange(n)
    for step in range(1, n):
        turned = Against(world, replace(world.base, labels=np.roll(world.base.labels, -step, axis=0)))
        for key in METRICS:
            found[key][row, (row + step) % n] = turned.by_seed[key]
    return found


def beyond(values: FloatArray, pairs: FloatArray) -> Json:
    """The mean of values `[S]` less that of pairs `[S, S]` of the same seeds, with interval and p.

    A base that has no number against the others is left out, of both sides. Fewer than three seeds have no
    interval.

    >>> pairs = np.array([[np.nan, 1.0, 2.0], [3.0, np.nan, 4.0], [5.0, 6.0, np.nan]])
    >>> found = beyond(np.array([4.0, 5.0, 6.0]), pairs)  # jackknife values 4 - 0.5, 5 - 3.5, 6 - 6.5
    >>> [round(found[key], 4) for key in ("mean", "low", "high", "p")]
    [1.5, -3.4683, 6.4683, 0.3235]
    """
    others = ~np.eye(len(values), dtype=bool)
    known = np.isfinite(values) & (np.isfinite(pairs) | ~others).all(axis=1)
    values, pairs = values[known], pairs[known][:, known]
    n = len(values)
    if n < 2:
        return {"n": n, "mean": np.nan, "low": np.nan, "high": np.nan, "p": np.nan}
    whole = float(pairs[others[:n, :n]].mean())
    difference = float(values.mean()) - whole
    if n < FEWEST:
        return {"n": n, "mean": difference, "low": np.nan, "high": np.nan, "p": np.nan}
    own = values - jackknifed(pairs)
    low, high = mean_interval(own)
    return {"n": n, "mean": difference, "low": low, "high": high, "p": p_of_mean(own)}


def jackknifed(pairs: FloatArray) -> FloatArray:
    """The mean of all pairs times n, less that without a seed times n - 1, `[n]`: in the mean that of pairs.

    >>> jackknifed(np.array([[np.nan, 1.0, 2.0], [3.0, np.nan, 4.0], [5.0, 6.0, np.nan]])).tolist()
    [0.5, 3.5, 6.5]
    """
    n = len(pairs)
    both = np.where(np.eye(n, dtype=bool), 0.0, pairs + pairs.T).sum(axis=1)  # of a seed, on either side
    total = both.sum() / 2
    without = (total - both) / ((n - 1) * (n - 2))
    return np.asarray(n * total / (n * (n - 1)) - (n - 1) * without, dtype=np.float64)


def _row(one: Against, pairs: Mapping[str, FloatArray]) -> Json:
    population = one.population
    found: Json = {"method": population.method, "role": population.role, "level": population.level}
    at = [one.world.base.seeds.index(seed) for seed in one.seeds]
    return found | {key: beyond(one.by_seed[key], pairs[key][np.ix_(at, at)]) for key in METRICS}

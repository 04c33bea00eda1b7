"""S2's measures as an audit uses them: base = the model on all rows, alternative = the model on one group."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.evaluation.measure import Frame
from evenhand.evaluation.values import NAN, MetricValue
from evenhand.metrics.catalogue import CATALOGUE
from evenhand.metrics.counts import Counts
from evenhand.metrics.interval import Draws, interval
from evenhand.metrics.pair_tables import all_to_group
from evenhand.metrics.range_error import range_deviations
from evenhand.metrics.resample import resample

KEYS = ("cev", "sde", "cev_norm", "sde_norm")
REPLICATES = 200
MOST_CELLS = 1 << 24


def shift_to_groups(frame: Frame, counts: Counts, wanted: Sequence[str]) -> dict[str, MetricValue]:
    """The largest CEV and SDE of a group against all rows, with the group that has it."""
    keys = [key for key in wanted if key in KEYS]
    if not len(frame.chosen):
        return {key: MetricValue(key, NAN, undefined=("no group has enough rows",)) for key in keys}
    if not keys:
        return {}
    observed = _values(frame, counts)
    drawn: dict[str, FloatArray] = {}
    replicates = min(REPLICATES, frame.options.replicates, MOST_CELLS // counts.cells.size)
    if replicates > 1:
        rng = np.random.default_rng(frame.options.seed)
        drawn = _values(frame, resample(counts, replicates, rng, frame.options.resampling))
    return {key: _largest(key, observed[key], drawn.get(key), frame) for key in keys}


def _values(frame: Frame, counts: Counts) -> dict[str, FloatArray]:
    found = all_to_group(counts)
    return {key: np.asarray(found[key], dtype=np.float64)[..., frame.chosen] for key in KEYS}


def _largest(key: str, groups: FloatArray, drawn: FloatArray | None, frame: Frame) -> MetricValue:
    if np.isnan(groups).all():
        return MetricValue(
            key, NAN, undefined=("every class has an error rate of 0, or none, over all rows",)
        )
    place = int(np.nanargmax(groups))
    value, low, high = float(groups[place]), NAN, NAN
    if drawn is not None:
        errors = (drawn - groups)[:, None, :]
        down, up = range_deviations(groups[None], errors, "best", lowest=False)
        low, high = interval(
            value, Draws(down[:, 0], up[:, 0], ranged=True), CATALOGUE[key], frame.options.confidence
        )
    return MetricValue(key, value, low, high, decided_by=(frame.chosen_names[place],))

"""What training anew does: the base of one seed measured against that of another, as if it were compressed.

Two trainings of one recipe differ in whom they get wrong, and so have a CEV and an SDE against each other. A
compressed model that has no more than that moved errors between classes no further than another seed does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.evaluation.compression.measures import CEV, SDE, Against, against_base, summary
from evenhand.evaluation.compression.populations import Compressed
from evenhand.statistics.corrections import holm
from evenhand.statistics.effects import p_of_mean

Json = dict[str, Any]
METRICS = (CEV, SDE)


def anew_row(world: Compressed) -> Json | None:
    """CEV and SDE of training anew over seeds, and how much more each method has; None for a single base."""
    floor = trained_anew(world)
    if not floor:
        return None
    rows = [_row(one, floor) for one in against_base(world)]
    adjusted = holm([row[key]["p"] for row in rows for key in METRICS]).reshape(-1, len(METRICS))
    for row, own in zip(rows, adjusted.tolist(), strict=True):
        for key, p in zip(METRICS, own, strict=True):
            row[key]["p_holm"] = p
    return {**{key: summary([each[key] for each in floor.values()]) for key in METRICS}, "rows": rows}


def trained_anew(world: Compressed) -> dict[int, Mapping[str, float]]:
    """CEV and SDE against the base of each seed, means over the bases of all other seeds."""
    seeds = world.base.seeds
    if len(seeds) < 2:
        return {}
    turned = [_turned(world, step) for step in range(1, len(seeds))]
    means = {key: np.mean([one.by_seed[key] for one in turned], axis=0) for key in METRICS}
    return {seed: {key: float(means[key][place]) for key in METRICS} for place, seed in enumerate(seeds)}


def _turned(world: Compressed, step: int) -> Against:
    """The base against itself, every seed against the one that many places on."""
    labels = np.roll(world.base.labels, -step, axis=0)
    return Against(world, replace(world.base, labels=labels))


def _row(one: Against, floor: Mapping[int, Mapping[str, float]]) -> Json:
    population = one.population
    found: Json = {"method": population.method, "role": population.role, "level": population.level}
    for key in METRICS:
        more = _more(one.by_seed[key], [floor[seed][key] for seed in one.seeds])
        found[key] = {**summary(more), "p": p_of_mean(more)}
    return found


def _more(values: FloatArray, floor: Sequence[float]) -> FloatArray:
    return np.asarray(values - np.asarray(floor), dtype=np.float64)

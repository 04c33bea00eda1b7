"""Does the best method depend on the groups? How often structures and seeds agree on the winner."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from evenhand.arrays import FloatArray, IntArray
from evenhand.evaluation.many_attributes.evidence import Evidence
from evenhand.evaluation.many_attributes.judging import Asked, resampled
from evenhand.evaluation.many_attributes.layout import BETTER, SLOTS
from evenhand.evaluation.many_attributes.ranks import means_table
from evenhand.evaluation.many_attributes.rules import above
from evenhand.evaluation.many_attributes.runs import Structure

DEPENDS = 0.1


def depends_on_groups(e: Evidence) -> list[Asked]:
    """1: two seeds agree more often on the best method for one structure than for two structures, by more
    than 0.1; the mean over the three metrics, for each task.
    """
    found = []
    for track in e.runs.tracks:
        where = [structure for structure in e.runs.of(track) if not structure.swapped]
        places = {(structure, method) for structure in where for method in e.runs.claimed}
        e.asked |= places
        agreed = [agreement(_winners(e, where, slot)) for slot in SLOTS]
        words = f"agreement on the best method, same less other groups ({e.runs.track_name(track)})"
        count = e.runs.trainings(places)
        found.append(resampled(words, above(DEPENDS), len(where), _excess(agreed), count))
    return found


def _winners(e: Evidence, where: Sequence[Structure], slot: str) -> list[dict[int, str]]:
    """The best of the methods that nearly all structures have, by seed, where all of them were run."""
    found, methods = [], means_table(e.runs, where, slot, e.runs.claimed)[0]
    for structure in where:
        every = {method: e.values(structure, method, slot) for method in methods}
        seeds = set.intersection(*(set(values) for values in every.values())) if len(every) > 1 else set()
        pick = max if BETTER[slot] == "higher" else min
        found.append({seed: pick(every, key=lambda one: every[one][seed]) for seed in sorted(seeds)})
    return found


def agreement(winners: Sequence[dict[int, str]]) -> FloatArray:
    """How often different seeds name the same winner on structures s and t, `[S, S]`; NaN without two seeds.

    >>> agreement([{0: "a", 1: "a"}, {0: "b", 1: "b"}]).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    size = len(winners)
    out = np.full((size, size), np.nan)
    for s in range(size):
        for t in range(size):
            pairs = [a == b for r, a in winners[s].items() for q, b in winners[t].items() if r != q]
            out[s, t] = np.mean(pairs) if pairs else np.nan
    return out


def _excess(agreed: Sequence[FloatArray]) -> Callable[[IntArray], FloatArray]:
    """The statistic of drawn structures: agreement within a structure less between different ones."""

    def of(places: IntArray) -> FloatArray:
        found: FloatArray = np.mean([_one_excess(table, places) for table in agreed], axis=0)
        return found

    return of


def _one_excess(table: FloatArray, places: IntArray) -> FloatArray:
    within = table[places, places]
    between = table[places[:, :, None], places[:, None, :]]
    between = np.where(places[:, :, None] == places[:, None, :], np.nan, between)
    return _mean(within, (1,)) - _mean(between, (1, 2))


def _mean(values: FloatArray, axes: tuple[int, ...]) -> FloatArray:
    known = np.isfinite(values)
    count = known.sum(axis=axes)
    total = np.where(known, values, 0.0).sum(axis=axes)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)

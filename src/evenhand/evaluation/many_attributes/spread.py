"""Mean, deviation and range over runs of every method: over all structures, and on each by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from evenhand.evaluation.many_attributes.layout import NAMES, SLOTS
from evenhand.evaluation.many_attributes.numbers import pooled
from evenhand.evaluation.many_attributes.printed import columns_of, seed_means
from evenhand.evaluation.many_attributes.runs import Runs, Structure
from evenhand.evaluation.study.run_spread import run_spread

EVERY, MEANS = "all structures, every run", "mean of the structures, by seed"
ALSO = {"acc": "accuracy", "map": "mAP"}  # in the paper's tables alone
Lines = Iterator[dict[str, Any]]


def overall_lines(runs: Runs) -> list[dict[str, Any]]:
    """What the page shows of methods: Figure 2, and the tables of the paper that the study has in shape."""
    return [line for track in runs.tracks for line in (*_every(runs, track), *_in_shape(runs, track))]


def structure_lines(runs: Runs) -> list[dict[str, Any]]:
    """The points of the other figures: by the number of attributes, and each structure over its seeds."""
    return [line for track in runs.tracks for line in (*_by_size(runs, track), *_single(runs, track))]


def _every(runs: Runs, track: tuple[str, str]) -> Lines:
    where = [structure for structure in runs.of(track) if not structure.swapped]
    yield from _lines(runs, track, EVERY, where)


def _by_size(runs: Runs, track: tuple[str, str]) -> Lines:
    where = [structure for structure in runs.of(track) if not structure.swapped]
    for size in sorted({structure.attributes for structure in where}):
        own = [structure for structure in where if structure.attributes == size]
        yield from _lines(runs, track, f"{size} attribute{'s' if size > 1 else ''}, every run", own)


def _single(runs: Runs, track: tuple[str, str]) -> Lines:
    for structure in runs.of(track):
        yield from _lines(runs, track, structure.grouping, [structure])


def _in_shape(runs: Runs, track: tuple[str, str]) -> Lines:
    where = runs.of(track)
    for method in runs.methods:
        means = {column: seed_means(runs, where, method, column) for column in columns_of(runs, track)}
        for column, values in means.items() if any(means.values()) else ():
            yield run_spread(_place(runs, track, MEANS, method), _name(where[0].key(column)), values)


def _lines(runs: Runs, track: tuple[str, str], over: str, where: Sequence[Structure]) -> Lines:
    """A line for each metric of every method that has a run there."""
    for method in runs.methods:
        found = {slot: pooled(runs, where, method, slot) for slot in SLOTS}
        for slot, values in found.items() if any(found.values()) else ():
            yield run_spread(_place(runs, track, over, method), _name(where[0].key(slot)), values)


def _place(runs: Runs, track: tuple[str, str], over: str, method: str) -> dict[str, str]:
    return {"method": runs.shown(method), "task": runs.track_name(track), "over": over}


def _name(key: str) -> str:
    return NAMES.get(key) or ALSO.get(key, key)

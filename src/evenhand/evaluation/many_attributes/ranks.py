"""Methods over tasks: mean ranks, Friedman's test, Nemenyi's critical difference, for each metric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.evaluation.ci_mnist.judging import ALPHA, NAN
from evenhand.evaluation.many_attributes.evidence import Evidence
from evenhand.evaluation.many_attributes.judging import Asked
from evenhand.evaluation.many_attributes.layout import BETTER, SLOTS
from evenhand.evaluation.many_attributes.rules import below
from evenhand.evaluation.many_attributes.runs import Runs, Structure
from evenhand.statistics.critical import critical_difference, rank_methods
from evenhand.statistics.ranks import average_ranks, method_ranks

ALL = "all tasks"
OFTEN = 0.9  # of the problems that a method must have a number on to be ranked
FEWEST = 2  # problems: over one a mean rank is only an order
WEIGHTING = "w-erm"


def most_reliable(e: Evidence) -> list[Asked]:
    """24: over all tasks the mean rank of W-ERM is lower than that of every other method by more than
    Nemenyi's critical difference (at 0.05 over the three metrics).
    """
    found, own = [], e.runs.find(WEIGHTING)
    where = [structure for structure in e.runs.structures if not structure.swapped]
    e.asked |= {(structure, method) for structure in where for method in e.runs.claimed}
    for slot in SLOTS:
        methods, table = means_table(e.runs, where, slot, e.runs.claimed)
        for other in methods:
            if other != own:
                words = f"mean rank of W-ERM less {e.runs.shown(other)} by {slot}"
                found.append(_rank_difference(words, table, methods, own, other, slot))
    nothing = Asked("mean rank of W-ERM", lambda level: (NAN, NAN, NAN, 0), below(), "ranks")
    return found or [nothing]


def _rank_difference(
    words: str, table: FloatArray, methods: Sequence[str], own: str | None, other: str, slot: str
) -> Asked:
    def measure(level: float) -> tuple[float, float, float, int]:
        if own not in methods:
            return NAN, NAN, NAN, 0
        ranks = average_ranks(table, BETTER[slot])
        effect = float(ranks[methods.index(own)] - ranks[methods.index(other)])
        problems = len(method_ranks(table, BETTER[slot]))
        # holds for all pairs of a metric together, so that only the metrics are left to correct for
        reach = critical_difference(len(methods), problems, ALPHA / len(SLOTS))
        return effect, effect - reach, effect + reach, problems

    return Asked(words, measure, below(), "ranks")


def means_table(
    runs: Runs, where: Sequence[Structure], slot: str, among: Sequence[str] | None = None
) -> tuple[list[str], FloatArray]:
    """The methods that nearly all of these problems have, and their means `[problems, methods]`."""
    methods = list(runs.main if among is None else among)
    table = np.array([[runs.mean(structure, method, slot) for method in methods] for structure in where])
    table = table.reshape(len(where), len(methods))
    known = np.isfinite(table)
    kept = known.sum(axis=0) >= max(1.0, OFTEN * known.any(axis=1).sum())
    return [name for name, keep in zip(methods, kept, strict=True) if keep], table[:, kept]


def rank_rows(runs: Runs) -> list[dict[str, Any]]:
    """For all tasks together and each base task, by each metric: what a diagram shows, who is left out."""
    every = [structure for structure in runs.structures if not structure.swapped]
    scopes = {runs.track_name(track): [one for one in every if one.track == track] for track in runs.tracks}
    if len(scopes) > 1:
        scopes = {ALL: every, **scopes}
    found = []
    for scope, where in scopes.items():
        for slot in SLOTS:
            methods, table = means_table(runs, where, slot)
            if len(methods) < 2 or len(method_ranks(table, BETTER[slot])) < FEWEST:
                continue
            names = [runs.shown(name) for name in methods]
            ranked = rank_methods(table, names, BETTER[slot]).to_dict()
            missing = [runs.shown(name) for name in runs.main if name not in methods]
            found.append({"scope": scope, "slot": slot, "missing": missing, **ranked})
    return found

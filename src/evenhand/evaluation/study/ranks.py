"""Methods over problems: mean ranks, Friedman's test and the critical difference, for each metric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.evaluation.study.setup import Setup
from evenhand.metrics.catalogue import CATALOGUE
from evenhand.statistics.critical import rank_methods
from evenhand.statistics.ranks import average_ranks


def means_table(setup: Setup, key: str) -> tuple[list[str], FloatArray]:
    """The methods, and their means `[problems, methods]`; NaN where a method has no finished run."""
    methods = setup.frame.layout.methods()
    table = np.full((len(setup.frame.layout.problems), len(methods)), np.nan)
    for arm in setup.arms:
        table[arm.place[0], methods.index(arm.place[1])] = arm.of(key).mean(key)
    return methods, table


def rank_tables(setup: Setup) -> dict[str, dict[str, Any]]:
    """For each metric with a direction, everything that a critical-difference diagram shows."""
    return {key: _ranked(setup, key) for key in setup.keys if CATALOGUE[key].better != "none"}


def _ranked(setup: Setup, key: str) -> dict[str, Any]:
    """Methods that lack a number on more than half of the problems are left out, and named."""
    methods, table = means_table(setup, key)
    kept = often_there(table)
    metric, names = CATALOGUE[key], [name for name, keep in zip(methods, kept, strict=True) if keep]
    found = rank_methods(table[:, kept], names, metric.better, metric.ideal, setup.alpha).to_dict()
    found["words"] += "".join(f"; {words}" for words in _left_out(methods, table, kept))
    return found


def _left_out(methods: Sequence[str], table: FloatArray, kept: FloatArray) -> Iterator[str]:
    """What the ranks are not over: methods that are for few problems, and problems that a method lacks."""
    missing = [name for name, keep in zip(methods, kept, strict=True) if not keep]
    if missing:
        yield f"left out for want of finished runs on half of the problems: {', '.join(missing)}"
    without = int(np.isnan(table[:, kept]).any(axis=1).sum())
    if without and kept.any():
        yield f"without the {without} of {len(table)} problems on which one of them has no number"


def often_there(table: FloatArray) -> FloatArray:
    """Which methods have a number on at least half of the problems that any method has one on.

    >>> often_there(np.array([[1.0, 2.0, np.nan], [1.0, np.nan, np.nan], [np.nan, np.nan, np.nan]])).tolist()
    [True, True, False]
    """
    known = ~np.isnan(table)
    return np.asarray((2 * known.sum(axis=0) >= known.any(axis=1).sum()) & known.any(axis=0))


def mean_ranks(table: FloatArray, key: str) -> FloatArray:
    """The mean rank of each method over the complete problems; NaN for one left out, or without direction."""
    metric, kept, out = CATALOGUE[key], often_there(table), np.full(table.shape[1], np.nan)
    if metric.better != "none" and kept.any():
        out[kept] = average_ranks(table[:, kept], metric.better, metric.ideal)
    return out

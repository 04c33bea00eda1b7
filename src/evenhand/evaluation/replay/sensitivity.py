"""How much of S0 hangs on its choices: the side of the test, corrections for 154 tests, 0/0, a lost index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.evaluation.replay.published import Published, base_of
from evenhand.evaluation.replay.rows import Row
from evenhand.statistics.corrections import benjamini_hochberg, holm
from evenhand.statistics.outcome import ALPHA
from evenhand.statistics.tests import mann_whitney
from evenhand.statistics.variance import spread, widest_class

CORRECTIONS: dict[str, Callable[[object], FloatArray]] = {
    "none": lambda p: np.asarray(p, dtype=np.float64),
    "holm": holm,
    "benjamini-hochberg": benjamini_hochberg,
}


def sensitivity_rows(published: Published, tests: Sequence[Row]) -> list[Row]:
    """The 154 outcomes under other rules: decreases, increases, and what is not significant.

    `kept` counts the outcomes that are significant under S0's rule and under this one, the same way round.
    """
    two_sided = [
        mann_whitney(published.overall(base_of(row["technique"]), row["metric"]),
                     published.overall(row["technique"], row["metric"]))
        for row in tests
    ]  # fmt: skip
    rows = []
    for side, found in (("chosen after the means", [row["p"] for row in tests]),
                        ("two-sided", [test.p for test in two_sided])):  # fmt: skip
        for name, correct in CORRECTIONS.items():
            rows.append(_counted(f"bias, {side}", name, tests, correct(found), "direction"))
    levene = [row["levene_p"] for row in tests]
    for name, correct in CORRECTIONS.items():
        rows.append(_counted("variance of bias, Levene", name, tests, correct(levene), "variance_direction"))
    return rows


def _counted(test: str, correction: str, tests: Sequence[Row], p: FloatArray, key: str) -> Row:
    """Outcomes by direction, read off S0's own directions: no correction and no second side changes them."""
    before = Counter(row[key] for row in tests)
    now = Counter(row[key] if value <= ALPHA else "NS" for row, value in zip(tests, p, strict=True))
    rises, falls = now["+"], now["-"]
    return {"test": test, "correction": correction, "decrease": falls, "increase": rises, "ns": now["NS"],
            "kept": rises + falls, "of": before["+"] + before["-"]}  # fmt: skip


def overlap(published: Published, tests: Sequence[Row]) -> dict[str, int]:
    """Comparisons in which the ranges of base runs and mitigated runs overlap, by outcome."""
    found = Counter[str]()
    for row in tests:
        base = published.overall(base_of(row["technique"]), row["metric"])
        other = published.overall(row["technique"], row["metric"])
        if base.max() >= other.min() and other.max() >= base.min():
            found[row["direction"]] += 1
    return {"all": found.total(), "increase": found["+"], "decrease": found["-"], "ns": found["NS"]}


def never_predicted(published: Published, technique: str) -> Array:
    """`[run, class]`: no row of either group was given this class: DP is 0 and DI-bar 1 (its 0/0)."""
    no_gap, worst = published.bias[technique, "dp"] == 0, published.bias[technique, "di"] == 1
    both: Array = no_gap & worst
    return both


def realigned_rows(published: Published) -> list[Row]:
    """Bias amplification by class, put back in its place, and DI-bar with 0/0 as 0.

    The published program skips a class that nobody was predicted as without moving on, so that the values of
    all later classes stand one place too low; the mean over classes is the same, per-class columns are not.
    """
    rows = []
    for technique in published.techniques:
        missing = never_predicted(published, technique)
        if missing.any():
            rows.append(_realigned(published, technique, missing))
    return rows


def _realigned(published: Published, technique: str, missing: Array) -> dict[str, Any]:
    ba, di = published.bias[technique, "ba"], published.bias[technique, "di"]
    (was, before), (now, after) = widest_class(ba), widest_class(realign(ba, missing))
    return {
        "technique": technique, "cells": int(missing.sum()),
        "ba_class": was, "ba_class_max_diff": float(before.maxdiff),
        "realigned_class": now, "realigned_class_max_diff": float(after.maxdiff),
        "di_max_diff": float(spread(di.mean(axis=1)).maxdiff),
        "di_max_diff_zero": float(spread(np.where(missing, 0.0, di).mean(axis=1)).maxdiff),
    }  # fmt: skip


def realign(values: FloatArray, missing: Array) -> FloatArray:
    """Values that were written without gaps, moved to the classes that they belong to; 0 in the gaps.

    >>> realign(np.array([[0.1, 0.2, 0.0]]), np.array([[False, True, False]])).tolist()
    [[0.1, 0.0, 0.2]]
    """
    placed = np.zeros_like(values)
    for run, gaps in enumerate(missing):
        kept = np.flatnonzero(~gaps)
        placed[run, kept] = values[run, : len(kept)]
    return placed


def fpsf_share(published: Published) -> dict[str, float]:
    """FPSF as a share of EOFP in the S family: 0.5 by the paper's formula, what is left by the files'.

    Groups are balanced there, so that the weight Pr[g] of the paper gives half of the gap of false positive
    rates; the published values are weighted by the share of negatives of each group instead.
    """
    gap, found = published.bias["S-Base", "eofp"], published.bias["S-Base", "fpsf"]
    shares = found[gap > 0] / gap[gap > 0]
    return {"paper": 0.5, "low": float(shares.min()), "high": float(shares.max())}

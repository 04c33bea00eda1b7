"""S1's printed tables beside ours in the same shape: other data and networks, so shapes compare, not digits.

Tables 2, 3 (ImageNet's people) and 7 stand beside studies with pre-training, 4 to 6 (CelebA) beside tasks
that are named after them. Accuracies are printed in percent and bias amplification times 100 in Tables 2 and
3; here all are fractions. Table 7's numbers are those of its text.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from evenhand.evaluation.many_attributes.layout import AMPLIFICATION, EPSILON, PERFORMANCE, PRETRAINED, WORST
from evenhand.evaluation.many_attributes.runs import Runs, Structure

Pair = tuple[float, float]
Shape = tuple[str, tuple[str, ...], dict[str, tuple[Pair, ...]]]  # title, columns, printed numbers
NAN = float("nan")
SCARCE_COLUMNS = (PERFORMANCE, AMPLIFICATION, EPSILON)
SINGLE_COLUMNS = (EPSILON, AMPLIFICATION, "acc", PERFORMANCE, WORST)
MULTI_COLUMNS = ("map", PERFORMANCE, EPSILON, AMPLIFICATION)
# key of the method -> (mean, deviation) of each column, as printed
SCARCE: dict[str, tuple[Pair, ...]] = {
    "erm": ((0.4538, 0.00404), (0.08153, 0.0095), (2.684, 0.03)),
    "jtt": ((0.4542, 0.00460), (0.07603, 0.0105), (2.694, 0.01)),
    "sd": ((0.3659, 0.00352), (0.08489, 0.0116), (2.621, 0.03)),
    "pre+gdro": ((0.4520, 0.00136), (0.08910, 0.0170), (2.697, 0.01)),
    "pre+w-erm": ((0.4767, 0.00812), (0.07611, 0.0011), (2.687, 0.03)),
    "pre+ind": ((0.4724, 0.00817), (0.07402, 0.0095), (2.688, 0.05)),
    "pre+ind-ad": ((0.4512, 0.00107), (0.06906, 0.0024), (2.621, 0.03)),
    "pre+ind-kd": ((0.4768, 0.00521), (0.06318, 0.0100), (2.693, 0.01)),
    "pre+ind-ad-kd": ((0.4747, 0.00323), (0.05901, 0.0073), (2.689, 0.01)),
    "pre+w-erm-ad": ((0.4761, 0.00478), (0.06843, 0.0064), (2.709, 0.03)),
    "w-erm": ((0.14, NAN),), "ind": ((0.17, NAN),),
}  # fmt: skip
TABLE_4: dict[str, tuple[Pair, ...]] = {
    "erm": ((1.005, 0.109), (-0.024, 0.012), (0.923, 0.012), (0.848, 0.012), (0.604, 0.065)),
    "gdro": ((0.558, 0.049), (-0.065, 0.008), (0.911, 0.010), (0.895, 0.009), (0.833, 0.034)),
    "irm": ((1.071, 0.148), (-0.010, 0.010), (0.940, 0.007), (0.793, 0.009), (0.404, 0.013)),
    "sd": ((0.746, 0.032), (-0.057, 0.004), (0.884, 0.005), (0.887, 0.005), (0.817, 0.025)),
    "w-erm": ((0.610, 0.069), (-0.059, 0.008), (0.915, 0.006), (0.903, 0.007), (0.852, 0.041)),
}
TABLE_5: dict[str, tuple[Pair, ...]] = {
    "erm": ((1.107, 0.606), (0.024, 0.018), (0.930, 0.044), (0.715, 0.148), (0.281, 0.197)),
    "gdro": ((0.666, 0.010), (-0.049, 0.002), (0.936, 0.002), (0.916, 0.001), (0.857, 0.003)),
    "jtt": ((0.911, 0.005), (-0.041, 0.002), (0.902, 0.005), (0.907, 0.001), (0.842, 0.003)),
    "w-erm": ((0.647, 0.101), (-0.055, 0.012), (0.922, 0.010), (0.921, 0.003), (0.891, 0.026)),
}
TABLE_6: dict[str, tuple[Pair, ...]] = {
    "erm": ((0.794, 0.001), (0.746, 0.001), (1.179, 0.037), (0.007, 0.002)),
    "disc": ((0.792, 0.001), (0.739, 0.002), (1.176, 0.012), (0.007, 0.003)),
    "gdro": ((0.639, 0.003), (0.569, 0.002), (1.316, 0.018), (0.039, 0.003)),
    "ind": ((0.780, 0.001), (0.760, 0.000), (0.854, 0.021), (-0.029, 0.004)),
    "ind-sum-prob": ((0.779, 0.003), (0.757, 0.002), (0.837, 0.026), (-0.025, 0.005)),
    "a-cens": ((0.770, 0.001), (0.706, 0.002), (1.324, 0.026), (0.026, 0.002)),
    "w-erm": ((0.767, 0.001), (0.772, 0.004), (0.774, 0.007), (-0.061, 0.003)),
}
NAMED = {"4": (SINGLE_COLUMNS, TABLE_4), "5": (SINGLE_COLUMNS, TABLE_5), "6": (MULTI_COLUMNS, TABLE_6)}


def paper_tables(runs: Runs) -> list[dict[str, Any]]:
    """The tables of S1 that a study has in shape, one for each base task."""
    found = []
    for track in runs.tracks:
        shape = _shape(runs, track)
        if shape is None:
            continue
        title, columns, printed = shape
        where = runs.of(track)
        shown = {} if any(structure.swapped for structure in where) else printed
        found.append({"title": title, "track": runs.track_name(track), "columns": list(columns),
                      "keys": [where[0].key(column) for column in columns],
                      "rows": _rows(runs, where, columns, shown)})  # fmt: skip
    return found


def columns_of(runs: Runs, track: tuple[str, str]) -> tuple[str, ...]:
    """The columns of the paper's table that a base task has in shape; none without such a table."""
    shape = _shape(runs, track)
    return () if shape is None else shape[1]


def _shape(runs: Runs, track: tuple[str, str]) -> Shape | None:
    named = re.search(r"\btable ([456])\b", track[0].lower())
    if named:
        return f"Table {named[1]}", *NAMED[named[1]]
    if any(key.startswith(PRETRAINED) for key in runs.keys.values()):
        return "Tables 2, 3 and 7", SCARCE_COLUMNS, SCARCE
    return None


def _rows(
    runs: Runs, where: list[Structure], columns: tuple[str, ...], printed: dict[str, tuple[Pair, ...]]
) -> list[dict[str, Any]]:
    rows = []
    for method in runs.methods:
        ours = [_ours(runs, where, method, column) for column in columns]
        if all(np.isnan(mean) for mean, _ in ours):
            continue
        theirs = printed.get(method, ())
        pairs = [*theirs, *[(NAN, NAN)] * (len(columns) - len(theirs))]
        rows.append({"method": runs.shown(method), "cells": [
            {"mean": mean, "std": std, "printed": one, "printed_std": two}
            for (mean, std), (one, two) in zip(ours, pairs, strict=True)
        ]})  # fmt: skip
    return rows


def _ours(runs: Runs, where: list[Structure], method: str, column: str) -> Pair:
    """The mean over structures, and its deviation over the seeds that have all of them."""
    means = seed_means(runs, where, method, column)
    whole = float(np.mean(means)) if means else NAN
    return whole, float(np.std(means, ddof=1)) if len(means) > 1 else NAN


def seed_means(runs: Runs, where: list[Structure], method: str, column: str) -> list[float]:
    """The mean over the structures that have runs, for each seed that has all of them."""
    found = [values for structure in where if (values := runs.values(structure, method, column))]
    seeds = sorted(set.intersection(*(set(values) for values in found))) if found else []
    return [float(np.mean([values[seed] for values in found])) for seed in seeds]

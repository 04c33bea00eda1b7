"""Did a metric of a method move between two runs of a study? Seed by seed where the seeds are the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.metrics.catalogue import CATALOGUE
from evenhand.statistics.tests import holm
from evenhand.study.frame import Frame
from evenhand.study.records import canonical

LEVEL = 0.95
FEWEST = 3  # pairs of seeds under which an interval says nothing
EQUAL, UNCLEAR, TOO_FEW = "equal", "no difference shown", "not enough runs to tell"
Problem = tuple[str, str, str, str]  # task, grouping, network, method
BySeed = dict[int, float]


def moved_rows(one: Frame, two: Frame, metrics: Sequence[str]) -> list[dict[str, Any]]:
    """A row for each problem, method and metric: means, their difference with interval, verdict.

    A seed's value is the mean over the settings that both sides have; p-values are Holm's over all rows.
    """
    rows = []
    part = str((one.study.get("report") or {}).get("part", "test"))
    places = [_places(frame) for frame in (one, two)]
    for key in metrics:
        sides = [frame.values(part, key) for frame in (one, two)]
        for problem in places[0].keys() & places[1].keys():
            common = places[0][problem].keys() & places[1][problem].keys()
            before, after = (
                _by_seed(values, {setting: where[problem][setting] for setting in common})
                for values, where in zip(sides, places, strict=True)
            )
            rows.append({**_names(problem), "metric": key, "part": part, **change(before, after)})
    order = {problem: place for place, problem in enumerate(places[0])}
    rows.sort(key=lambda row: order[row["task"], row["grouping"], row["net"], row["method"]])
    return [
        _judged(row, p) for row, p in zip(rows, holm([row["p"] for row in rows]) if rows else [], strict=True)
    ]


def change(before: BySeed, after: BySeed, level: float = LEVEL) -> dict[str, Any]:
    """The mean difference, after - before, with its interval: Student's of pairs of seeds, else Welch's.

    >>> found = change({0: 0.5, 1: 0.6, 2: 0.7}, {0: 0.6, 1: 0.7, 2: 0.9})
    >>> round(found["difference"], 4), round(found["low"], 4), round(found["high"], 4), found["paired"]
    (0.1333, -0.0101, 0.2768, True)
    """
    seeds = sorted(before.keys() & after.keys())
    paired = len(seeds) >= FEWEST or before.keys() == after.keys()
    a, b = (
        np.array([side[seed] for seed in (seeds if paired else sorted(side))]) for side in (before, after)
    )
    difference = float(b.mean() - a.mean()) if len(a) and len(b) else np.nan
    error, freedom = _error(b - a) if paired else _welch(a, b)
    low, high, p = _student(difference, error, freedom, level)
    same = paired and len(a) > 0 and bool((a == b).all())
    return {
        "one": float(a.mean()) if len(a) else np.nan, "two": float(b.mean()) if len(b) else np.nan,
        "difference": difference, "low": low, "high": high, "p": 1.0 if same else p,
        "n": len(a) if paired else [len(a), len(b)], "paired": paired, "same": same,
        "few": min(len(a), len(b)) < FEWEST,
    }  # fmt: skip


def _judged(row: dict[str, Any], p: float) -> dict[str, Any]:
    """The row with its adjusted p and its verdict instead of the marks that led to it."""
    same, few = row.pop("same"), row.pop("few")
    if same:
        verdict = EQUAL
    elif few or np.isnan(p):
        verdict = TOO_FEW
    else:
        verdict = UNCLEAR if p >= 1 - LEVEL else "lower" if row["difference"] < 0 else "higher"
    better = CATALOGUE[row["metric"]].better
    gained = None if verdict not in ("lower", "higher") or better == "none" else verdict == better
    return {**row, "p_adjusted": float(p), "verdict": verdict, "better": gained}


def _error(differences: FloatArray) -> tuple[float, float]:
    n = len(differences)
    return (float(differences.std(ddof=1) / np.sqrt(n)), n - 1.0) if n > 1 else (np.nan, np.nan)


def _welch(a: FloatArray, b: FloatArray) -> tuple[float, float]:
    """The standard error of a difference of means, and Welch's degrees of freedom."""
    if min(len(a), len(b)) < 2:
        return np.nan, np.nan
    parts = [float(side.var(ddof=1)) / len(side) for side in (a, b)]
    below = sum(part**2 / (len(side) - 1) for part, side in zip(parts, (a, b), strict=True))
    return float(np.sqrt(sum(parts))), sum(parts) ** 2 / below if below else float(len(a) + len(b) - 2)


def _student(difference: float, error: float, freedom: float, level: float) -> tuple[float, float, float]:
    from scipy.special import stdtr, stdtrit

    if np.isnan(error):
        return np.nan, np.nan, np.nan
    reach = float(stdtrit(freedom, 0.5 + level / 2)) * error
    p = 2 * float(stdtr(freedom, -abs(difference) / error)) if error else float(difference == 0)
    return difference - reach, difference + reach, p


def _places(frame: Frame) -> dict[Problem, dict[str, list[tuple[int, int]]]]:
    """Problem and method -> setting -> (seed, row) of the finished runs."""
    found: dict[Problem, dict[str, list[tuple[int, int]]]] = {}
    names = [frame.columns[name] for name in ("task", "grouping", "net", "method")]
    for row in np.flatnonzero(frame.done):
        task, grouping, net, method = (column[row] for column in names)
        settings = found.setdefault((task, grouping, net, method), {})
        text = canonical(frame.columns["setting"][row])
        settings.setdefault(text, []).append((int(frame.columns["seed"][row]), int(row)))
    return found


def _by_seed(values: FloatArray, settings: Mapping[str, Sequence[tuple[int, int]]]) -> BySeed:
    """The mean of each seed over the settings; a seed with an undefined value is left out."""
    rows: dict[int, list[float]] = {}
    for places in settings.values():
        for seed, row in places:
            rows.setdefault(seed, []).append(float(values[row]))
    whole = {seed: found for seed, found in rows.items() if len(found) == len(settings)}
    means = {seed: float(np.mean(found)) for seed, found in whole.items()}
    return {seed: mean for seed, mean in means.items() if not np.isnan(mean)}


def _names(problem: Problem) -> dict[str, str]:
    return dict(zip(("task", "grouping", "net", "method"), problem, strict=True))

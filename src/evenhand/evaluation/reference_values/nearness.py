"""How near ours come to the public values: counts, mean differences, order of the models, the farthest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isnan
from statistics import fmean
from typing import Any

from evenhand.evaluation.reference_values.beside import OUTSIDE, READ, SEEDS, Beside
from evenhand.evaluation.reference_values.public import LAFTR, METRICS, family
from evenhand.statistics.correlation import correlate

FARTHEST = 10
NAN = float("nan")


def nearness(name: str, rows: Sequence[Beside]) -> dict[str, Any]:
    """Of some rows: where differences lie, their mean size and mean, and the mean size when chosen fairly."""
    known = [row for row in rows if row.difference is not None]
    moved = [row.difference for row in known if row.difference is not None]
    own = [abs(row.validation.mean - row.reference.value) for row in rows if row.validation]
    lies = [row.lies for row in known]
    return {
        "name": name, "public": len(rows), "compared": len(known),
        "read": lies.count(READ), "seeds": lies.count(SEEDS), "outside": lies.count(OUTSIDE),
        "size": fmean(map(abs, moved)) if moved else NAN, "mean": fmean(moved) if moved else NAN,
        "size_validation": fmean(own) if own else NAN,
    }  # fmt: skip


def nearness_by(rows: Sequence[Beside], key: Callable[[Beside], str]) -> list[dict[str, Any]]:
    """The same for every group of rows, in the order of the public values."""
    names = list(dict.fromkeys(map(key, rows)))
    return [nearness(name, [row for row in rows if key(row) == name]) for name in names]


def problem_of(row: Beside) -> str:
    """The problem of a row in words."""
    return f"{row.reference.task}, by {row.reference.grouping}"


def rank_rows(rows: Sequence[Beside]) -> list[dict[str, Any]]:
    """Spearman's correlation over the models within a problem and metric; LAFTR's four apart and as one."""
    found = []
    for problem in dict.fromkeys(map(problem_of, rows)):
        for metric in METRICS:
            here = [row for row in rows if problem_of(row) == problem and row.reference.metric == metric]
            found.append({
                "problem": problem, "metric": metric,
                "models": _rho([(row.reference.value, row.oracle.mean) for row in here if row.oracle]),
                "families": _rho(_families(here)),
                "validation": _rho(
                    [(row.reference.value, row.validation.mean) for row in here if row.validation]
                ),
            })  # fmt: skip
    return found


def _rho(pairs: Sequence[tuple[float, float]]) -> float:
    return correlate([public for public, _ in pairs], [ours for _, ours in pairs]).value


def _families(rows: Sequence[Beside]) -> list[tuple[float, float]]:
    """Public and ours by family: the mean over its models that have a number."""
    known = [row for row in rows if row.oracle]
    found = []
    for name in dict.fromkeys(family(row.reference.model) for row in known):
        own = [row for row in known if family(row.reference.model) == name]
        ours = [row.oracle.mean for row in own if row.oracle]
        found.append((fmean(row.reference.value for row in own), fmean(ours)))
    return found


def mean_known(values: Sequence[float]) -> float:
    """The mean of what is defined; NaN of nothing.

    >>> mean_known([1.0, NAN, 0.5]), mean_known([NAN])
    (0.75, nan)
    """
    known = [value for value in values if not isnan(value)]
    return fmean(known) if known else NAN


def farthest(rows: Sequence[Beside], most: int = FARTHEST) -> list[Beside]:
    """The rows that differ most."""
    known = [row for row in rows if row.difference is not None]
    return sorted(known, key=lambda row: -abs(row.difference or 0.0))[:most]


def variants_apart(rows: Sequence[Beside]) -> dict[str, float]:
    """How far LAFTR's four variants lie apart (largest less smallest), mean over problems and metrics."""
    public, ours = [], []
    for problem in dict.fromkeys(map(problem_of, rows)):
        for metric in METRICS:
            own = [
                row for row in rows
                if (problem_of(row), row.reference.metric) == (problem, metric)
                and row.reference.model in LAFTR and row.oracle
            ]  # fmt: skip
            if len(own) == len(LAFTR):
                public.append(_range([row.reference.value for row in own]))
                ours.append(_range([row.oracle.mean for row in own if row.oracle]))
    return {"public": mean_known(public), "ours": mean_known(ours), "n": len(ours)}


def _range(values: Sequence[float]) -> float:
    return max(values) - min(values)


def groups_swapped(rows: Sequence[Beside]) -> dict[str, float]:
    """Mean |difference| of p-acc and up-acc as they are named, and with the two public values exchanged."""
    told = {(problem_of(row), row.reference.model, row.reference.metric): row.reference.value for row in rows}
    exchange = {"acc_p": "acc_up", "acc_up": "acc_p"}
    named, swapped = [], []
    for row in rows:
        other = exchange.get(row.reference.metric)
        if other is not None and row.oracle is not None:
            named.append(abs(row.oracle.mean - row.reference.value))
            swapped.append(abs(row.oracle.mean - told[problem_of(row), row.reference.model, other]))
    return {"named": mean_known(named), "swapped": mean_known(swapped), "n": len(named)}

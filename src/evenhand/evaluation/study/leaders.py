"""The leader table: every method over all problems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.evaluation.study.against import Against, better_or_worse
from evenhand.evaluation.study.numbers import numbers_of
from evenhand.evaluation.study.ranks import mean_ranks, means_table
from evenhand.evaluation.study.setup import Setup, cost_of
from evenhand.metrics.undefined import mean_defined
from evenhand.statistics.problems import combine, judge_combined

Place = tuple[int, str]
Column = tuple[str, str]  # a method and a metric
Trained = tuple[str, ...]  # the runs of both sides


def leaders(setup: Setup, against: Mapping[Place, Against]) -> list[dict[str, Any]]:
    """Each method's mean over problems, mean rank, and how often it beat the base; best first.

    Several problems: the interval is Student's over the problems' means, the verdict Wilcoxon's over them,
    corrected over all methods and metrics of the table; problems that the same trainings of both sides stand
    for count as one. One problem: both are those of its seeds.
    """
    numbers: dict[str, dict[str, Any]] = {}
    verdicts = _verdicts(setup, against)
    for key in setup.keys:
        methods, table = means_table(setup, key)
        ranks = mean_ranks(table, key)
        for column, method in enumerate(methods):
            entry: dict[str, Any] = {
                **_mean(setup, method, key, table[:, column]), "mean_rank": float(ranks[column]),
                **_won(setup, method, key, against), "verdict": verdicts.get((method, key)),
            }  # fmt: skip
            numbers.setdefault(method, {})[key] = entry
    order = sorted(numbers, key=lambda method: _first(setup, numbers[method]))
    return [{"method": method, "numbers": numbers[method]} for method in order]


def _first(setup: Setup, numbers: Mapping[str, Any]) -> float:
    """Methods stand in the order of the selection metric if it is reported, else of accuracy."""
    key = setup.selected.spec.metric if setup.selected.spec.metric in numbers else setup.keys[0]
    mean = numbers[key]["mean"]
    return cost_of(mean, key) if np.isfinite(mean) else np.inf


def _mean(setup: Setup, method: str, key: str, means: FloatArray) -> dict[str, float]:
    values = means
    if len(means) == 1:
        values = next(
            (arm.of(key).counted.values[key] for arm in setup.arms if arm.place[1] == method), means
        )
    found = numbers_of(values, key, setup.report.confidence)
    return {name: found[name] for name in ("mean", "low", "high")}


def _won(setup: Setup, method: str, key: str, against: Mapping[Place, Against]) -> dict[str, int]:
    """On how many problems it is shown to be better or worse than the base; the rest are ties."""
    signs = [
        better_or_worse(key, entry[key], base.of(key).mean(key))
        for (problem, name), entry in against.items()
        for base in (setup.base_of(problem),)
        if name == method and base is not None
    ]
    return {"wins": signs.count(1), "losses": signs.count(-1), "ties": signs.count(0)}


def _verdicts(setup: Setup, against: Mapping[Place, Against]) -> dict[Column, str]:
    """Lower or higher than the base, by method and metric; the base has none."""
    if len(setup.frame.layout.problems) == 1:
        return {(method, key): str(line["verdict"])
                for (_, method), entry in against.items() for key, line in entry.items()}  # fmt: skip
    found = _differences(setup, against)
    sums = [
        combine([float(mean_defined(np.array(alike))) for alike in each.values()],
                confidence=setup.report.confidence, alpha=setup.alpha)
        for each in found.values()
    ]  # fmt: skip
    judged = judge_combined(sums, setup.report.correction)
    return dict(zip(found, (one.verdict for one in judged), strict=True))


def _differences(setup: Setup, against: Mapping[Place, Against]) -> dict[Column, dict[Trained, list[float]]]:
    """What each problem says, put together where it is said by the same trainings of both sides.

    Two methods that are trained once stand in the problems of every grouping: the luck of their seeds is then
    the same in all of these, which tell as much as one.
    """
    ids, arms = setup.frame.columns["id"], {arm.place: arm for arm in setup.arms}
    found: dict[Column, dict[Trained, list[float]]] = {}
    for (problem, method), entry in against.items():
        sides = arms[problem, method], arms[problem, setup.base]
        for key, line in entry.items():
            trained = tuple(ids[row] for arm in sides for row in arm.of(key).rows.tolist())
            value = np.nan if line["difference"] is None else float(line["difference"])
            found.setdefault((method, key), {}).setdefault(trained, []).append(value)
    return found

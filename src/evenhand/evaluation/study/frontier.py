"""Accuracy against each metric: who is beaten by nobody, among the methods and among all settings."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenhand.arrays import Array
from evenhand.evaluation.study.setup import Setup
from evenhand.evaluation.tradeoff_values import frontier
from evenhand.metrics.catalogue import CATALOGUE
from evenhand.study.frame_layout import setting_words
from evenhand.study.select_rules import cost, undominated


def frontiers(setup: Setup, problem: int) -> dict[str, list[str]]:
    """For each metric the chosen methods that no other beats in accuracy and it, on the reported part."""
    arms, accuracy = setup.of_problem(problem), setup.report.accuracy
    return {
        key: frontier(
            {arm.place[1]: (arm.of(key).mean(accuracy), arm.of(key).mean(key)) for arm in arms},
            CATALOGUE[key],
        )
        for key in setup.keys
        if key != accuracy and CATALOGUE[key].better != "none"
    }


def pareto_sets(setup: Setup, problem: int) -> dict[str, list[dict[str, Any]]]:
    """For each metric the settings of all methods that none beats on the selection part.

    They are found there and shown (x: accuracy, y: the metric) on the reported part, so that the set is not
    picked by the numbers that it is judged by.
    """
    frame, places = setup.frame, np.array(setup.frame.layout.of(problem), dtype=np.int64)
    spec, report = setup.selected.spec, setup.report
    x = cost(frame.means(spec.part, report.accuracy)[places], CATALOGUE[report.accuracy])
    found: dict[str, list[dict[str, Any]]] = {}
    for key in setup.keys:
        if key == report.accuracy or CATALOGUE[key].better == "none":
            continue
        y = cost(frame.means(spec.part, key)[places], CATALOGUE[key])
        found[key] = [_member(setup, int(place), key) for place in places[undominated(x, y)]]
        found[key].sort(key=lambda member: -member["x"])
    return found


def _member(setup: Setup, place: int, key: str) -> dict[str, Any]:
    candidate, report = setup.frame.layout.candidates[place], setup.report
    x, y = (float(setup.frame.means(report.part, name)[place]) for name in (report.accuracy, key))
    return {"method": candidate.method, "setting": dict(candidate.setting), "x": x, "y": y}


def points(setup: Setup, problem: int) -> list[dict[str, Any]]:
    """Every finished run of a problem with its numbers as JSON has them (there are many), for the figures."""
    frame, columns = setup.frame, setup.frame.columns
    chosen = {id(arm.choice.candidate) for arm in setup.of_problem(problem)}
    found = []
    for place in frame.layout.of(problem):
        candidate = frame.layout.candidates[place]
        rows = candidate.rows[frame.done[candidate.rows]]
        values = _numbers(setup, rows)
        shared = {"method": candidate.method, "setting": setting_words(candidate.setting)}
        found += [
            {"id": columns["id"][row], **shared, "seed": columns["seed"][row],
             "selected": id(candidate) in chosen, "values": numbers}
            for row, numbers in zip(rows.tolist(), values, strict=True)
        ]  # fmt: skip
    return found


def _numbers(setup: Setup, rows: Array) -> list[dict[str, float | None]]:
    """The reported metrics of these runs, None where undefined."""
    keys = setup.keys
    table = np.stack([setup.frame.values(setup.report.part, key)[rows] for key in keys], axis=1)
    known = np.isfinite(table).tolist()
    return [
        {key: value if there else None for key, value, there in zip(keys, line, defined, strict=True)}
        for line, defined in zip(table.tolist(), known, strict=True)
    ]

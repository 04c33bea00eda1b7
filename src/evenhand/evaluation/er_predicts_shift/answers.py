"""The questions of the study, answered from its runs as plain values (NaN is None)."""

from __future__ import annotations

from typing import Any

from evenhand.errors import InputError
from evenhand.evaluation.er_predicts_shift.judging import rivals, side, verdicts
from evenhand.evaluation.er_predicts_shift.layout import (
    CHANGE,
    CONTROLS,
    ER,
    FEWEST,
    LEVEL,
    NAME,
    OUTCOMES,
    PREDICTORS,
    TIMES,
)
from evenhand.evaluation.er_predicts_shift.models import Models, Runs, read_models
from evenhand.evaluation.er_predicts_shift.pooling import PARTIAL, PLAIN, Estimate, Pool, pool
from evenhand.evaluation.values import plain
from evenhand.study.frame import Frame

Rows = list[dict[str, Any]]


def compute(store: Any, times: int = TIMES) -> dict[str, Any]:
    """What a store says: verdicts, pooled correlations, those of every task and shift, and the models."""
    frame = Frame.open(store)
    if frame.study.get("name") != NAME:
        raise InputError(
            f"this is the study {frame.study.get('name')!r}, not {NAME!r}; give the folder of the latter"
        )
    state = {"planned": frame.n, "done": int(frame.done.sum()), "failed": int(frame.failed.sum())}
    return answer(frame, times) | state


def answer(frame: Runs, times: int = TIMES) -> dict[str, Any]:
    """The same of any frame."""
    models = read_models(frame)
    if not models.splits:
        raise InputError(
            f"no split of this study has {FEWEST} finished models with numbers and shifts: there is nothing "
            f"to show of {NAME}"
        )
    found = pool(models, times)
    body = {
        "name": NAME, "times": times, "tasks": _tasks(models), "verdicts": verdicts(found),
        "pooled": _pooled(found), "by_task": _by_task(found), "by_shift": _by_shift(found),
        "rivals": [{"outcome": outcome, "rival": rival, **_told(estimate), "word": word}
                   for outcome in OUTCOMES for rival, (estimate, word) in rivals(found, outcome).items()],
        "cells": _cells(found), "points": _points(models),
    }  # fmt: skip
    clean: dict[str, Any] = plain(body)
    return clean


def _tasks(models: Models) -> Rows:
    """How many models each task has in how many splits, and what was left out."""
    found = []
    for task in models.tasks:
        splits = [split for split in models.splits if split.task == task]
        why = {reason: n for (of, reason), n in models.left_out.items() if of == task}
        settings = {number for split in splits for number in split.settings.tolist()}
        runs = sum(len(split.settings) for split in splits)
        found.append(
            {"task": task, "splits": len(splits), "settings": len(settings), "models": runs, "left_out": why}
        )
    return found


def _pooled(found: Pool) -> Rows:
    return [
        {"kind": kind, "predictor": key, "outcome": outcome, **_told(found.all(kind, key, outcome))}
        for outcome in OUTCOMES for kind in (PLAIN, PARTIAL) for key in _of(kind)
    ]  # fmt: skip


def _by_task(found: Pool) -> Rows:
    return [
        {"task": task, "kind": kind, "predictor": key, "outcome": outcome,
         **_told(found.task(task, kind, key, outcome))}
        for task in found.by_task for outcome in OUTCOMES for kind in (PLAIN, PARTIAL) for key in _of(kind)
    ]  # fmt: skip


def _by_shift(found: Pool) -> Rows:
    """Delta ER under each shift, over the tasks."""
    return [
        {"shift": shift[0], "severity": shift[1], "kind": kind, "outcome": outcome,
         **_told(found.shift(shift, kind, ER, outcome))}
        for shift in found.shifts for outcome in OUTCOMES for kind in (PLAIN, PARTIAL)
    ]  # fmt: skip


def _cells(found: Pool) -> Rows:
    """Delta ER on each task under each shift."""
    rows = []
    for task in found.by_task:
        for shift in found.shifts:
            for outcome in OUTCOMES:
                estimate = found.one(task, PLAIN, ER, outcome, shift)
                if estimate is not None:
                    place = {"task": task, "shift": shift[0], "severity": shift[1], "outcome": outcome}
                    rows.append(place | _told(estimate))
    return rows


def _points(models: Models) -> Rows:
    """Every model as the figure shows it: delta ER, and the gap's level and change under each shift."""
    er = list(PREDICTORS).index(ER)
    return [
        {"task": split.task, "seed": split.seed, "model": models.settings[setting], "method": method,
         "er": split.known[er, place],
         "shifts": [[*shift, split.shifted[LEVEL][row, place], split.shifted[CHANGE][row, place]]
                    for row, shift in enumerate(split.shifts)]}
        for split in models.splits
        for place, (setting, method) in enumerate(zip(split.settings.tolist(), split.methods, strict=True))
    ]  # fmt: skip


def _of(kind: str) -> list[str]:
    return [key for key in PREDICTORS if kind == PLAIN or key not in CONTROLS]


def _told(found: Estimate) -> dict[str, Any]:
    return {"value": found.value, "low": found.low, "high": found.high, "side": side(found)}

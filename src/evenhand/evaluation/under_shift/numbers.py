"""Gaps on clean rows and under every shift, by problem and method, and how far each is from the base's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.errors import InputError
from evenhand.statistics.effects import mean_interval
from evenhand.study.frame import Frame
from evenhand.study.store import Store

PART, ACCURACY = "test", "acc"
OWN_NUMBERS = ("delta_er",)


def compute(store: Store) -> dict[str, Any]:
    """Rows of a table: problem, method, what was measured where, its mean over runs, and the base's beside.

    A difference is that of runs of the same seed, so its interval speaks of training again on the same rows.
    """
    frame = Frame.open(store)
    shifts = frame.shifted(PART)
    if not shifts:
        raise InputError("this study measured nothing under a shift: give it a [[shift]] block")
    report = frame.study.get("report") or {}
    base = report.get("base")
    gap = next(iter(report.get("metrics") or ()), "accuracy.gap")
    columns = dict(_columns(frame, shifts, gap))
    rows = [
        {"task": task, "by": by, "method": method, **_row(frame, columns, (task, by, method), base)}
        for task, by, method in dict.fromkeys(_keys(frame))
    ]
    done = int((frame.done & frame.trained).sum())
    return {"gap": gap, "base": base, "runs": int(frame.trained.sum()), "done": done, "rows": rows}


def _keys(frame: Frame) -> Iterator[tuple[str, str, str]]:
    names = (frame.columns[name] for name in ("task", "grouping", "method"))
    return zip(*names, strict=True)


def _columns(
    frame: Frame, shifts: list[tuple[str, float, tuple[str, ...]]], gap: str
) -> Iterator[tuple[str, FloatArray]]:
    """What stands in the table, by name: a number of every run."""
    yield "accuracy, clean", frame.values(PART, ACCURACY)
    yield f"{gap}, clean", frame.values(PART, gap)
    for key in OWN_NUMBERS:
        if key in (frame.study.get("numbers") or ()):
            yield key, frame.number(key)
    for kind, severity, _ in shifts:
        for name, metric in (("accuracy", ACCURACY), (gap, gap)):
            yield f"{name}, {kind} {severity:g}", frame.mean_over_draws(kind, severity, metric)


def _row(
    frame: Frame, columns: Mapping[str, FloatArray], key: tuple[str, str, str], base: str | None
) -> dict[str, Any]:
    own = _places(frame, key)
    other = _places(frame, (*key[:2], base)) if base and base != key[2] else {}
    shared = sorted(own.keys() & other.keys())
    numbers = {}
    for name, values in columns.items():
        mine = values[list(own.values())]
        apart = values[[own[seed] for seed in shared]] - values[[other[seed] for seed in shared]]
        numbers[name] = {**_told(mine), "difference": _told(apart) if shared else None}
    return {"seeds": len(own), "numbers": numbers}


def _places(frame: Frame, key: tuple[str, str, str | None]) -> dict[int, int]:
    """Where the finished runs of a problem and method stand, by seed."""
    return {
        int(frame.columns["seed"][place]): place
        for place, each in enumerate(_keys(frame))
        if each == key and frame.done[place]
    }


def _told(values: Array) -> dict[str, Any]:
    """Mean, interval and range over runs; None where nothing is defined."""
    known = np.asarray(values, dtype=float)
    known = known[np.isfinite(known)]
    if not len(known):
        return {"mean": None, "low": None, "high": None, "least": None, "most": None}
    low, high = mean_interval(known)
    numbers = {"mean": known.mean(), "low": low, "high": high, "least": known.min(), "most": known.max()}
    return {name: float(value) if np.isfinite(value) else None for name, value in numbers.items()}

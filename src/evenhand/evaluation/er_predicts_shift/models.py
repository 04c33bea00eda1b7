"""The models of the study: what is known of each on clean rows, and what becomes of it under each shift."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from evenhand.arrays import Array, FloatArray, IntArray
from evenhand.evaluation.er_predicts_shift.layout import (
    ACCURACY,
    CHANGE,
    CURVATURE,
    DECIMALS,
    FEWEST,
    GAP,
    LEVEL,
    ONE_CLASS,
    PART,
    PREDICTORS,
)
from evenhand.study.frame_layout import setting_words

Shift = tuple[str, float]  # kind and severity


class Runs(Protocol):
    """What is read of a frame (`evenhand.study.frame.Frame`)."""

    n: int
    columns: dict[str, list[Any]]
    done: Array

    def number(self, key: str) -> FloatArray:
        """A number of every run beside its counts."""
        ...

    def values(self, part: str, key: str) -> FloatArray:
        """A metric of every run."""
        ...

    def shifted(self, part: str = ...) -> list[tuple[str, float, tuple[str, ...]]]:
        """Kind, severity and draws of the shifts that runs were measured under."""
        ...

    def mean_over_draws(self, kind: str, severity: float, metric: str) -> FloatArray:
        """A metric under a shift, the mean over its draws."""
        ...

    def rates(self, part: str, rate: str) -> tuple[tuple[str, ...], FloatArray]:
        """Names of the groups and a rate of every run in each."""
        ...


@dataclass(frozen=True, eq=False)
class Split:
    """The models of one task that were trained and tested on the same rows.

    `known [P, m]` are the predictors in the order of `PREDICTORS`, `shifted[outcome] [S, m]` what became of
    the models under each of `shifts`; `settings [m]` are numbers of settings that splits share.
    """

    task: str
    seed: int
    settings: IntArray
    methods: tuple[str, ...]
    shifts: tuple[Shift, ...]
    known: FloatArray = field(repr=False)
    shifted: dict[str, FloatArray] = field(repr=False)


@dataclass(frozen=True, eq=False)
class Models:
    """All splits that have enough models, the names of the settings, and why runs were left out."""

    splits: tuple[Split, ...]
    settings: tuple[str, ...]
    left_out: Counter[tuple[str, str]]

    @property
    def tasks(self) -> list[str]:
        """The tasks in the study's order."""
        return list(dict.fromkeys(split.task for split in self.splits))


def read_models(frame: Runs) -> Models:
    """The models of a study by task and split; those without a number, or of one class only, are counted."""
    known, moved = _known(frame), _shifted(frame)
    tasks = [
        f"{task}, {by}" for task, by in zip(frame.columns["task"], frame.columns["grouping"], strict=True)
    ]
    labels = [_label(frame, row) for row in range(frame.n)]
    settings = tuple(dict.fromkeys(labels))
    one_class, left_out, splits = _one_class(frame), Counter[tuple[str, str]](), []
    for task, seed in dict.fromkeys(zip(tasks, frame.columns["seed"], strict=True)):
        rows = np.array(
            [row for row in range(frame.n) if (tasks[row], frame.columns["seed"][row]) == (task, seed)]
        )
        shifts = [shift for shift, (level, _) in moved.items() if np.isfinite(level[rows]).any()]
        numbers = np.vstack([known[:, rows], *(moved[shift][0][rows][None] for shift in shifts)])
        lacking = ~np.isfinite(numbers).all(axis=0)
        left_out[task, "without a number"] += int(lacking.sum())
        left_out[task, "of one class only"] += int((one_class[rows] & ~lacking).sum())
        kept = rows[~lacking & ~one_class[rows]]
        if len(kept) < FEWEST or not shifts:
            left_out[task, "in a split with too few"] += len(kept)
            continue
        both = {
            name: np.stack([moved[shift][place][kept] for shift in shifts])
            for place, name in enumerate((LEVEL, CHANGE))
        }
        numbered = np.array([settings.index(labels[row]) for row in kept])
        methods = tuple(str(frame.columns["method"][row]) for row in kept)
        splits.append(Split(task, int(seed), numbered, methods, tuple(shifts), known[:, kept], both))
    return Models(tuple(splits), settings, +left_out)


def _known(frame: Runs) -> FloatArray:
    """The predictors `[P, R]`; a run that is not done has NaN."""
    names, _ = frame.rates(PART, ACCURACY)
    means = np.stack([frame.number(f"curvature.mean.{name}") for name in names])
    there = np.isfinite(means)
    total = np.where(there, means, 0.0).sum(axis=0)
    found = {CURVATURE: np.where(there.any(axis=0), total / np.maximum(there.sum(axis=0), 1), np.nan)}
    found |= {key: frame.values(PART, key) for key in (GAP, ACCURACY)}
    every = [found[key] if key in found else frame.number(key) for key in PREDICTORS]
    return _rounded(np.where(frame.done, np.stack(every), np.nan))


def _rounded(values: Array) -> FloatArray:
    return np.asarray(np.round(values, DECIMALS), dtype=np.float64)


def _shifted(frame: Runs) -> dict[Shift, tuple[FloatArray, FloatArray]]:
    """The gap under each shift, and how far that is from the gap on clean rows, `[R]` each."""
    clean, found = frame.values(PART, GAP), {}
    for kind, severity, _ in frame.shifted(PART):
        level = frame.mean_over_draws(kind, severity, GAP)
        found[kind, severity] = _rounded(level), _rounded(np.abs(level - clean))
    return found


def _one_class(frame: Runs) -> Array:
    """The runs that give (nearly) everybody in every group the same answer: nothing of theirs can move."""
    _, shares = frame.rates(PART, "selection")
    none, all_ = np.fmax.reduce(shares, axis=1), np.fmin.reduce(shares, axis=1)
    return np.asarray((none <= ONE_CLASS) | (all_ >= 1 - ONE_CLASS))


def _label(frame: Runs, row: int) -> str:
    """Network, method and setting: what is the same model on another split."""
    columns = frame.columns
    return f"{columns['net'][row]} / {columns['method'][row]} ({setting_words(columns['setting'][row])})"

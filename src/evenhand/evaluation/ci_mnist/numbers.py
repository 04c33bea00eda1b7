"""The numbers of S3's tables: each metric's own best setting, by seed, for every width, task and model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.evaluation.ci_mnist.layout import AVERAGED, BESIDE, METRICS, MODELS, tasks_of
from evenhand.evaluation.study.numbers import sample_std
from evenhand.evaluation.study.setup import Setup
from evenhand.study.frame import Frame
from evenhand.study.select import TEST, Choice, select

NAN = float("nan")
Place = tuple[str, str, str, str]  # width, task, model, metric
Replicate = tuple[str, int]  # width, seed
Series = dict[Replicate, float]


@dataclass(frozen=True)
class Cell:
    """One number of a table: the runs of the setting that was chosen for it, by seed, and that setting."""

    values: Mapping[int, float]
    setting: Mapping[str, Any]
    chosen_among: int

    @property
    def known(self) -> FloatArray:
        """The defined values."""
        values = np.array(list(self.values.values()), dtype=np.float64)
        return values[np.isfinite(values)]

    @property
    def mean(self) -> float:
        """Over seeds; NaN without a run."""
        return float(self.known.mean()) if len(self.known) else NAN

    @property
    def std(self) -> float:
        """Over seeds, ddof 1; NaN for fewer than two runs."""
        return sample_std(self.known)


@dataclass(frozen=True, eq=False)
class Numbers:
    """Every cell that the store can fill, by width, task, model and metric; `part` is where it was chosen."""

    cells: Mapping[Place, Cell]
    widths: tuple[str, ...]
    part: str

    @classmethod
    def of(cls, frame: Frame, part: str | None = None) -> Numbers:
        """Choose on a part (the study's own; "test" is the oracle of the official code), report on test."""
        spec = Setup.of(frame, 0).selected.spec
        spec = replace(spec, rule="best-per-metric", part=part or spec.part)
        cells = {}
        for choice in select(frame, spec, tuple(METRICS)).choices:
            problem = frame.layout.problems[choice.problem]
            for key, own in choice.per_metric.items():
                if key in METRICS:
                    cells[problem.net, problem.task, choice.method, key] = _cell(frame, own, key)
        if spec.part == TEST:
            cells |= _averaged(cells)
        return cls(cells, widths_of(frame), spec.part)

    def get(self, width: str, task: str, model: str, metric: str) -> Cell | None:
        """A cell, or None where no run fills it."""
        return self.cells.get((width, task, model, metric))

    def series(
        self, models: Iterable[str], tasks: Iterable[str], metrics: Iterable[str], widths: Iterable[str] = ()
    ) -> Series:
        """The mean over models, tasks and metrics for every width and seed at which all of them are there.

        A seed at one width is one replicate: its network starts and its batches come as in no other.
        """
        places = list(product(models, tasks, metrics))
        found: Series = {}
        for width in (widths or self.widths) if places else ():
            cells = [self.get(width, task, model, key) for model, task, key in places]
            if any(cell is None for cell in cells):
                continue
            every = [cell.values for cell in cells if cell is not None]
            for seed in sorted(set.intersection(*(set(values) for values in every))):
                value = float(np.mean([values[seed] for values in every]))
                if np.isfinite(value):
                    found[width, seed] = value
        return found


def widths_of(frame: Frame) -> tuple[str, ...]:
    """The networks of the study, in its order."""
    return tuple(dict.fromkeys(problem.net for problem in frame.layout.problems))


def missing(frame: Frame) -> Iterator[dict[str, Any]]:
    """What has not been run: for every width and model how many runs and how many whole tasks are missing."""
    planned: dict[tuple[str, str], list[tuple[str, bool]]] = {}
    for row in range(frame.n):
        place = (str(frame.columns["net"][row]), str(frame.columns["method"][row]))
        planned.setdefault(place, []).append((str(frame.columns["task"][row]), bool(frame.done[row])))
    for width in widths_of(frame):
        for model in (*MODELS, BESIDE):
            runs = planned.get((width, model), [])
            have = {task for task, done in runs if done}
            lacking = [task for task in tasks_of() if task not in have]
            done = sum(done for _, done in runs)
            if lacking or done < len(runs):
                yield {"width": width, "model": model, "done": done, "planned": len(runs), "tasks": lacking}


def _cell(frame: Frame, choice: Choice, key: str) -> Cell:
    values = frame.values(TEST, key)
    by_seed = {int(frame.columns["seed"][row]): float(values[row]) for row in choice.rows.tolist()}
    return Cell(dict(sorted(by_seed.items())), dict(choice.candidate.setting), choice.runners_up + 1)


def _averaged(cells: Mapping[Place, Cell]) -> dict[Place, Cell]:
    """Accuracy and EqOdd as the official code has them: means of two numbers that were chosen apart."""
    made = {}
    for width, task, model, key in cells:
        if key not in AVERAGED:
            continue
        one, two = (cells.get((width, task, model, half)) for half in AVERAGED[key])
        if one is not None and two is not None:
            seeds = sorted(set(one.values) & set(two.values))
            values = {seed: (one.values[seed] + two.values[seed]) / 2 for seed in seeds}
            made[width, task, model, key] = Cell(values, {}, one.chosen_among)
    return made

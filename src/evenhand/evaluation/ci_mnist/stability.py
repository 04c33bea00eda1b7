"""How much a number moves from seed to seed: S3's Figure 10, and ratios of these deviations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from evenhand.arrays import FloatArray, IntArray
from evenhand.evaluation.ci_mnist.judging import Asked, resampled
from evenhand.evaluation.ci_mnist.layout import BESIDE, METRICS, MODELS, SETTINGS, tasks_of
from evenhand.evaluation.ci_mnist.numbers import NAN, Numbers
from evenhand.evaluation.study.numbers import sample_std
from evenhand.study.frame import Frame
from evenhand.study.select import TEST

Spreads = Mapping[tuple[str, str, str], FloatArray]  # by width, task and model


def deviation(
    numbers: Numbers, width: str, tasks: Iterable[str], models: Iterable[str], metrics: Iterable[str]
) -> float:
    """The deviation over seeds, pooled: the root of the mean variance over all these cells that have one."""
    found = [
        numbers.cells[place].std
        for model in models
        for task in tasks
        for key in metrics
        if (place := (width, task, model, key)) in numbers.cells
    ]
    return _root_mean_square(np.array(found, dtype=np.float64))


def deviation_rows(numbers: Numbers) -> list[dict[str, Any]]:
    """Figure 10: one row for each width, setting and model, with the pooled deviation of every metric."""
    return [
        {
            "width": width, "setting": setting.name, "model": model,
            "values": [deviation(numbers, width, tasks_of([setting]), [model], [key]) for key in METRICS],
        }
        for width in numbers.widths
        for setting in SETTINGS
        for model in (*MODELS, BESIDE)
    ]  # fmt: skip


def spreads_of(frame: Frame) -> Spreads:
    """Deviations over seeds of every setting and metric on test, by width, task and model."""
    values = np.stack([frame.values(TEST, key) for key in METRICS])
    found: dict[tuple[str, str, str], list[float]] = {}
    for candidate in frame.layout.candidates:
        problem, rows = frame.layout.problems[candidate.problem], candidate.rows[frame.done[candidate.rows]]
        if len(rows) > 1:
            place = (problem.net, problem.task, candidate.method)
            found.setdefault(place, []).extend(sample_std(line) for line in values[:, rows])
    return {place: np.array(kept) for place, kept in found.items()}


def overall_rows(numbers: Numbers, spreads: Spreads) -> list[dict[str, Any]]:
    """The pooled deviation of each model, of the chosen settings and of all: choosing favours steady ones."""
    tasks, found = tasks_of(), []
    for model in (*MODELS, BESIDE):
        chosen = [deviation(numbers, width, tasks, [model], METRICS) for width in numbers.widths]
        every = [kept for (_, _, name), kept in spreads.items() if name == model]
        pooled = _root_mean_square(np.concatenate(every)) if every else NAN
        found.append({"model": model, "chosen": _root_mean_square(np.array(chosen)), "all": pooled})
    return found


def ratio(
    spreads: Spreads, words: str, rule: str, ones: Sequence[str], others: Sequence[str], runs: int
) -> Asked:
    """How many times larger the deviation of some models is than that of others, where both have runs.

    Over all settings, metrics and widths; the interval is a bootstrap over tasks, which models share.
    """
    a, b = _by_task(spreads, ones, others)

    def statistic(places: IntArray) -> float:
        one, other = (_root_mean_square(np.concatenate([side[i] for i in places])) for side in (a, b))
        return one / other if other > 0 else NAN

    return resampled(words, rule, len(a), statistic, runs, "ratio")


def _by_task(
    spreads: Spreads, ones: Sequence[str], others: Sequence[str]
) -> tuple[list[FloatArray], list[FloatArray]]:
    """The deviations of both sides, task by task, from the widths that both sides have there."""
    sides: tuple[list[FloatArray], list[FloatArray]] = ([], [])
    for task in tasks_of():
        widths = dict.fromkeys(width for width, name, _ in spreads if name == task)
        both = [w for w in widths if all((w, task, model) in spreads for model in (*ones, *others))]
        if both:
            for side, models in zip(sides, (ones, others), strict=True):
                side.append(np.concatenate([spreads[w, task, model] for w in both for model in models]))
    return sides


def _root_mean_square(values: FloatArray) -> float:
    known = values[np.isfinite(values)]
    return float(np.sqrt(np.mean(known**2))) if len(known) else NAN

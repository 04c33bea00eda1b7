"""The two questions of the study, answered from its store as plain values (NaN is None)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from evenhand.errors import InputError
from evenhand.evaluation.ci_mnist.layout import UNPRIVILEGED
from evenhand.evaluation.ci_mnist_marks.judging import ABOVE, BELOW, Difference, by_holm, difference
from evenhand.evaluation.ci_mnist_marks.layout import (
    ADDED,
    BALANCED,
    BASE,
    BESIDE,
    CHOICE,
    COLOURS,
    DECLARED,
    MARKS,
    METHODS,
    MINORITY,
    MITIGATIONS,
    NAME,
    SHOWN,
    task_of,
)
from evenhand.evaluation.ci_mnist_marks.numbers import Model, Models, chosen_models, every_setting
from evenhand.evaluation.values import plain
from evenhand.statistics.effects import mean_interval
from evenhand.study.frame import Frame
from evenhand.study.frame_layout import setting_words

Rows = list[dict[str, Any]]


def compute(store: Any) -> dict[str, Any]:
    """Levels, what marks add, how far blue falls, what methods win back, and the same without any choice."""
    frame = Frame.open(store)
    if frame.study.get("name") != NAME:
        raise InputError(
            f"this is the study {frame.study.get('name')!r}, not {NAME!r}; give the folder of the latter"
        )
    if not frame.done.any():
        raise InputError(f"no run of this study is done: there is nothing to show of {NAME}")
    models = chosen_models(frame)
    body = {
        "name": NAME, "planned": frame.n, "done": int(frame.done.sum()), "failed": int(frame.failed.sum()),
        "seeds": sorted({int(seed) for seed in frame.columns["seed"]}), "part": CHOICE.part,
        "levels": _levels(models), "added": _added(models), "falls": _falls(models),
        "recovery": [row for marks in DECLARED for row in _recovery(models, marks)],
        "unchosen": [row for marks in DECLARED for row in _unchosen(frame, models, marks)],
    }  # fmt: skip
    clean: dict[str, Any] = plain(body)
    return clean


def _levels(models: Models) -> Rows:
    """Every chosen model with its numbers."""
    found = []
    for colours, marks, method in product(COLOURS, MARKS, METHODS):
        model = models.get((task_of(colours, marks), method))
        if model is not None:
            numbers = {key: _level(list(model.values[key].values())) for key in SHOWN}
            found.append({"colours": colours, "marks": marks, **_who(method, model), "numbers": numbers})
    return found


def _level(values: Sequence[float]) -> dict[str, Any]:
    low, high = mean_interval(values)
    mean = sum(values) / len(values) if values else float("nan")
    return {"mean": mean, "low": low, "high": high, "n": len(values)}


def _added(models: Models) -> Rows:
    """What each mark adds to each number of each method; with and without it the setting is chosen anew."""
    found = []
    for colours, method, added in product(COLOURS, METHODS, ADDED):
        more, fewer = (models.get((task_of(colours, marks), method)) for marks in (added.more, added.fewer))
        if more is not None and fewer is not None:
            numbers = {key: _told(_gain(more, fewer, key)) for key in SHOWN}
            found.append({"colours": colours, "method": method, "words": added.words, "numbers": numbers})
    return found


def _falls(models: Models) -> Rows:
    """The MLP's accuracy on blue digits where they are few, less where they are half."""
    falls = {marks: _fall(models, marks) for marks in MARKS}
    return [{"marks": marks, **_told(fall)} for marks, fall in falls.items() if fall is not None]


def _fall(models: Models, marks: str) -> Difference | None:
    few, half = (models.get((task_of(colours, marks), BASE)) for colours in (MINORITY, BALANCED))
    return None if few is None or half is None else _gain(few, half, UNPRIVILEGED)


def _recovery(models: Models, marks: str) -> Rows:
    """Each method less the MLP on blue digits where they are few, tested together; what else changes."""
    task, fall = task_of(MINORITY, marks), _fall(models, marks)
    base = models.get((task, BASE))
    if base is None:
        return []
    there = {method: models[task, method] for method in MITIGATIONS if (task, method) in models}
    gains = by_holm([_gain(model, base, UNPRIVILEGED) for model in there.values()])
    lost = -fall.mean if fall is not None and fall.side == BELOW else float("nan")
    return [
        {"marks": marks, **_who(method, model), **_told(gain), "recovers": gain.shown == ABOVE,
         "share": gain.mean / lost, "beside": {key: _told(_gain(model, base, key)) for key in BESIDE}}
        for (method, model), gain in zip(there.items(), gains, strict=True)
    ]  # fmt: skip


def _unchosen(frame: Frame, models: Models, marks: str) -> Rows:
    """How many settings of each method gain on the MLP, all settings of all methods tested together.

    Nothing is chosen here: a setting that was chosen by the runs that are tested has luck on its side.
    """
    task = task_of(MINORITY, marks)
    base = models.get((task, BASE))
    if base is None:
        return []
    every = [entry for entry in every_setting(frame, task) if entry[0] != BASE]
    gains = by_holm([difference(values, base.values[UNPRIVILEGED]) for _, _, values in every])
    found: dict[str, dict[str, Any]] = {}
    for (method, setting, _), gain in zip(every, gains, strict=True):
        empty = {"marks": marks, "method": method, "settings": 0, "gaining": [], "together": len(every)}
        row = found.setdefault(method, empty)
        row["settings"] += 1
        row["gaining"] += [setting_words(setting)] if gain.shown == ABOVE else []
    return list(found.values())


def _gain(one: Model, other: Model, key: str) -> Difference:
    return difference(one.values[key], other.values[key])


def _who(method: str, model: Model) -> dict[str, Any]:
    return {"method": method, "setting": setting_words(model.setting), "chosen_among": model.chosen_among}


def _told(found: Difference) -> dict[str, Any]:
    return {**vars(found), "side": found.side}

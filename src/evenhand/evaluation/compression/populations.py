"""The populations of a compression study: the predictions of all runs of a method at a level, row by row.

A study of this shape has an unpruned base (named `base`, or what its report names) and compressed methods,
each at one or several levels (the field `share`, or whatever else is varied), with the same seeds. Their
predictions must have been kept (`predictions = true` in the study file).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evenhand.arrays import Array, IntArray
from evenhand.data.task import Task
from evenhand.errors import DamagedFileError, InputError
from evenhand.evaluation.compression.printed import table_1
from evenhand.groups import Groups
from evenhand.study.frame import Frame
from evenhand.study.frame_layout import setting_words
from evenhand.study.store_predictions import AGAIN, file_that_is_missing
from evenhand.study.tasks import load_task

BASE, PRUNING, PART = "base", "pruning", "test"
RULE_MADE = "prune+"  # before the key of the method that a pruned net is trained by
LEVEL = "share"  # the field that says how much is taken away


@dataclass(frozen=True, eq=False)
class Population:
    """All runs of one method at one level: `labels [S, N]`, one row a seed; `role` is what claims call it."""

    method: str
    role: str
    level: str
    seeds: tuple[int, ...]
    labels: IntArray = field(repr=False)

    @property
    def name(self) -> str:
        """The method with its level."""
        return f"{self.method} at {self.level}" if self.level else self.method

    def of_seeds(self, seeds: Sequence[int]) -> IntArray:
        """The runs of these seeds, in this order."""
        return self.labels[[self.seeds.index(seed) for seed in seeds]]


@dataclass(frozen=True, eq=False)
class Compressed:
    """One task and network: its base population and the compressed ones, on the same test rows."""

    task: str
    net: str
    data: Task = field(repr=False)
    rows: IntArray = field(repr=False)  # places of the test rows in the data
    base: Population
    others: tuple[Population, ...]
    groupings: Mapping[str, Groups] = field(repr=False)

    @property
    def name(self) -> str:
        """What it is called in tables."""
        return f"{self.task} / {self.net}"

    @property
    def y(self) -> Array:
        """The classes of the test rows."""
        return self.data.y[self.rows].numpy()

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes."""
        return self.data.classes

    @property
    def levels(self) -> list[str]:
        """The levels of compression, as the study has them in order."""
        return list(dict.fromkeys(one.level for one in self.others))

    def at(self, level: str) -> list[Population]:
        """The compressed populations of a level."""
        return [one for one in self.others if one.level == level]

    def shared(self, one: Population) -> tuple[int, ...]:
        """The seeds that a population has in common with the base."""
        return tuple(seed for seed in one.seeds if seed in self.base.seeds)


def read_populations(store: Any, frame: Frame | None = None) -> list[Compressed]:
    """Every task and network of a store, with the populations of its finished runs."""
    frame = frame or Frame(store)
    places: dict[tuple[str, str], list[int]] = {}
    for row in np.flatnonzero(frame.trained & frame.done).tolist():
        key = (str(frame.columns["task"][row]), str(frame.columns["net"][row]))
        places.setdefault(key, []).append(row)
    if not places:
        raise InputError("no run of this study is done: there is nothing to compare with the base")
    base = base_name(frame.study)
    return [_compressed(store, frame, task, net, rows, base) for (task, net), rows in places.items()]


def base_name(study: Mapping[str, Any]) -> str:
    """The method that others are compared with: `report.base`, else the one called base, else the first.

    >>> base_name({"methods": [{"name": "pruning"}, {"name": "base"}]})
    'base'
    """
    names = [str(method.get("name") or method["key"]) for method in study.get("methods") or ()]
    named = str((study.get("report") or {}).get("base") or "")
    return named or (BASE if BASE in names or not names else names[0])


def role_of(name: str, key: str) -> str:
    """What a claim calls a method: its name where that is one of the paper's; else its key without pruning.

    So that pruning alone can be a distillation whose terms weigh nothing, which starts as the others do.

    >>> role_of("pruning", "prune+kd"), role_of("at and kd", "prune+at-kd"), role_of("mine", "prune+erm")
    ('pruning', 'at-kd', 'pruning')
    """
    if ":" in key or name in table_1():
        return name
    plain = key.removeprefix(RULE_MADE)
    return PRUNING if plain == "erm" and plain != key else plain


def _compressed(store: Any, frame: Frame, task: str, net: str, rows: Sequence[int], base: str) -> Compressed:
    specs = [frame.columns["spec"][row] for row in rows]
    data = _data_of(specs, task)
    tested = np.asarray(data.rows(PART))
    found: dict[tuple[str, str], list[int]] = {}
    for row in rows:
        method = str(frame.columns["method"][row])
        level = "" if method == base else level_of(frame.columns["spec"][row], frame.columns["setting"][row])
        found.setdefault((method, level), []).append(row)
    own = [_population(store, frame, *key, members, len(tested)) for key, members in found.items()]
    bases = [one for one in own if one.method == base]
    if not bases:
        raise InputError(f"no run of the base '{base}' on '{task}' is done: the others have no base")
    groups = {by: data.groups(by.split(" × ")).keep(tested) for by in _groupings(specs)}
    others = tuple(one for one in own if one.method != base)
    return Compressed(task, net, data, tested, bases[0], others, groups)


def level_of(spec: Mapping[str, Any], setting: Mapping[str, Any]) -> str:
    """How much was taken away, in words; what else is varied where it is no share.

    >>> level_of({"fields": {"share": 0.45}}, {}), level_of({"fields": {}}, {"bits": 8})
    ('45 %', 'bits=8')
    """
    share = (spec.get("fields") or {}).get(LEVEL)
    return setting_words(setting) if share is None else f"{100 * float(share):g} %"


def _groupings(specs: Sequence[Mapping[str, Any]]) -> list[str]:
    named = (by for spec in specs for by in (*spec.get("groupings", ()), spec.get("protect") or ()))
    return list(dict.fromkeys(" × ".join(by) for by in named if by))


def _data_of(specs: Sequence[Mapping[str, Any]], task: str) -> Task:
    kinds = {(spec["data"], str(sorted(spec["knobs"].items()))): spec for spec in specs}
    if len(kinds) > 1:
        raise InputError(
            f"the runs of the task '{task}' have {len(kinds)} kinds of data: exemplars need the same "
            "test rows in every run, so that no knob may be 'seeded'"
        )
    (spec,) = kinds.values()
    return load_task(spec["data"], spec["knobs"])


def _population(store: Any, frame: Frame, method: str, level: str, rows: Sequence[int], n: int) -> Population:
    labels, seeds = [], []
    for row in sorted(rows, key=lambda row: int(frame.columns["seed"][row])):
        seeds.append(int(frame.columns["seed"][row]))
        labels.append(_labels(store, frame.columns["id"][row], f"{method}, seed {seeds[-1]}", n))
    if len(set(seeds)) < len(seeds):
        raise InputError(f"the method '{method}' has several runs of one seed at the level {level!r}")
    key = str(frame.columns["spec"][rows[0]].get("method", method))
    return Population(method, role_of(method, key), level, tuple(seeds), np.stack(labels))


def _labels(store: Any, run: str, named: str, n: int) -> IntArray:
    scores = store.predictions(run).get(PART)
    if scores is None:
        raise _without_predictions(store, run, named)
    if len(scores) != n or scores.ndim != 2:
        raise InputError(f"the predictions of a run ({named}) are of {scores.shape} rows, and not of {n}")
    return np.asarray(scores.argmax(axis=1), dtype=np.int64)


def _without_predictions(store: Any, run: str, named: str) -> InputError:
    """Why a run has none: its file is gone, or the study kept those of no run."""
    missing = file_that_is_missing(store.folder, run)
    if missing is not None:
        return DamagedFileError(f"{missing} is missing: the predictions of a run ({named}); {AGAIN}")
    return InputError(
        f"the predictions of a run ({named}) were not kept: put `predictions = true` at the top of the "
        "study file (or run it with --keep-predictions) and run it in another folder"
    )

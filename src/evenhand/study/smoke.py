"""The smoke form of a study: the same study in small, which every study has whether it says so or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from evenhand.study.spec import Grid, GroupingSpec, MethodSpec, NetEntry, Search, ShiftSpec, Study, TaskSpec

SEEDS, SETTINGS, DRAWS, REPEATS, RECIPE = 2, 2, 2, 2, {"epochs": 1}
IN_SMALL = "(in small, to see that it runs: its numbers tell nothing)"  # after the title
LIMIT = "settings"  # the option that limits how many settings of a method are run

Limited = TypeVar("Limited", GroupingSpec, NetEntry, MethodSpec, ShiftSpec)


@dataclass(frozen=True)
class SmokeSpec:
    """What `[smoke]` says; empty lists keep everything.

    `knobs` are knobs by task, over the task's own; `recipe` goes over every recipe of the study.
    """

    seeds: tuple[int, ...] = ()
    tasks: tuple[str, ...] = ()
    groupings: tuple[str, ...] = ()
    nets: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    settings: int = SETTINGS
    recipe: Mapping[str, Any] = field(default_factory=dict)
    knobs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)


def smoke_form(study: Study, spec: SmokeSpec | None = None) -> Study:
    """The study in small: two seeds, one epoch and two settings of each method, unless `spec` says otherwise.

    Shifts stay, with two draws each; of identical runs there are two.

    >>> small = smoke_form(Study("s", tasks=(TaskSpec("titanic"),), seeds=(0, 1, 2), recipe={"rate": 0.1}))
    >>> small.seeds, small.recipe, small.options
    ((0, 1), {'rate': 0.1, 'epochs': 1}, {'settings': 2})
    """
    spec = spec or SmokeSpec()
    if study.kind != "train":
        return replace(study, smoke=None, options={**study.options, **spec.options})
    recipe = {**RECIPE, **spec.recipe}
    tasks = tuple(
        _small(task, spec, recipe) for task in study.tasks if task.name in (spec.tasks or [task.name])
    )
    names = [task.name for task in tasks]
    groupings = _kept(study.groupings, spec.groupings, names)
    methods = _methods_left(_kept(study.methods, spec.methods, names), [each.name for each in groupings])
    called = [method.name for method in methods]
    report = study.report if study.report.base in called else replace(study.report, base="")
    return replace(
        study,
        title=f"{study.title or study.name} {IN_SMALL}",
        smoke=None,
        tasks=tasks,
        groupings=groupings,
        nets=_nets_left(_kept(study.nets, spec.nets, names), called),
        methods=tuple(replace(method, recipe=_without(method.recipe, recipe)) for method in methods),
        recipe={**study.recipe, **recipe},
        seeds=spec.seeds or study.seeds[:SEEDS],
        repeats=min(study.repeats, REPEATS),
        report=report,
        shifts=tuple(
            replace(shift, draws=min(shift.draws, DRAWS)) for shift in _kept(study.shifts, (), names)
        ),
        options={**study.options, LIMIT: spec.settings, **spec.options},
    )


def is_small(study: Mapping[str, Any]) -> bool:
    """Whether a stored declaration is that of a small form, which has no smaller one itself.

    >>> is_small({"name": "ci-mnist", "smoke": None}), is_small({"name": "ci-mnist", "smoke": {}})
    (True, False)
    """
    return "smoke" in study and study["smoke"] is None


def _small(task: TaskSpec, spec: SmokeSpec, recipe: Mapping[str, Any]) -> TaskSpec:
    knobs = {**task.knobs, **spec.knobs.get(task.name, {})}
    return replace(task, knobs=knobs, recipe=_without(task.recipe, recipe))


def _without(values: Mapping[str, Any], recipe: Mapping[str, Any]) -> dict[str, Any]:
    """The values that the small recipe does not replace; what is varied stays varied."""
    return {
        name: value
        for name, value in values.items()
        if name not in recipe or isinstance(value, (Grid, Search))
    }


def _methods_left(methods: Sequence[MethodSpec], groupings: Sequence[str]) -> tuple[MethodSpec, ...]:
    """Those that still have a grouping to serve."""
    found = []
    for method in methods:
        left = tuple(name for name in method.groupings if name in groupings)
        found += [replace(method, groupings=left)] if left or not method.groupings else []
    return tuple(found)


def _nets_left(nets: Sequence[NetEntry], methods: Sequence[str]) -> tuple[NetEntry, ...]:
    """Those that still have a method to serve."""
    left = [replace(net, methods=tuple(name for name in net.methods if name in methods)) for net in nets]
    return tuple(new for new, net in zip(left, nets, strict=True) if new.methods or not net.methods)


def _kept(entries: Sequence[Limited], names: Sequence[str], tasks: Sequence[str]) -> tuple[Limited, ...]:
    """Those that are named (all, if none is) and whose tasks are still there."""
    found: list[Limited] = []
    for entry in entries:
        left = tuple(task for task in entry.tasks if task in tasks)
        if entry.name in (names or [entry.name]) and (left or not entry.tasks):
            found.append(replace(entry, tasks=left))
    return tuple(found)

"""Methods of one's own beside those of a study: where each of them can be run, and what it is run with.

A study's own methods are limited by its file; a method that is added from outside is run on all problems that
it can serve, and what it cannot is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evenhand.data.task import Task
from evenhand.errors import InputError
from evenhand.methods.problem import Problem
from evenhand.study.names import complete
from evenhand.study.served import knobs_of, serving
from evenhand.study.spec import MethodSpec, NetEntry, Study
from evenhand.study.tasks import load_method, look_at_task

TaskOf = Callable[[str, Mapping[str, Any]], Task]
Pair = tuple[str, str]  # a task and a grouping by name


@dataclass(frozen=True)
class Added:
    """A study with methods of one's own, and notes on what these cannot serve."""

    study: Study
    notes: tuple[str, ...] = ()


def with_added(study: Study, methods: Sequence[str], task_of: TaskOf = look_at_task) -> Added:
    """The study with further methods ("mine.py:MyMethod"), each named after its class; files in full."""
    added: list[MethodSpec] = []
    notes: list[str] = []
    study = complete(study) if methods else study
    for reference in methods:
        file, _, name = reference.rpartition(":")
        if not file or not name:
            raise InputError(f"a method to add is given as FILE.py:CLASS, not {reference!r}")
        if any(method.name == name or method.key == name for method in (*study.methods, *added)):
            raise InputError(f"the study already has a method called {name!r}; rename the class")
        method = MethodSpec(f"{Path(file).resolve()}:{name}", name=name)
        limited, reasons = _limited(study, method, task_of)
        added.append(limited)
        notes += [f"{name} is {reason}" for reason in reasons]
    found = replace(study, methods=(*study.methods, *added), nets=_nets_with(study, added))
    return Added(found if added else study, tuple(notes))


def _limited(study: Study, method: MethodSpec, task_of: TaskOf) -> tuple[MethodSpec, list[str]]:
    """The method for what it can serve: tasks, and groupings that it can serve on all of these."""
    answers = dict(_asked(study, method, task_of))
    refused = {pair: why for pair, why in answers.items() if why}
    if not refused:
        return method, []
    tasks = [
        spec.name for spec in study.tasks if any(pair[0] == spec.name for pair in answers.keys() - refused)
    ]
    lost = {name for task, name in refused if task in tasks}
    kept = [grouping.name for grouping in study.groupings if grouping.name not in lost]
    left = [pair for pair in answers if pair[0] in tasks and pair[1] in kept]
    first = next(iter(refused.values()))
    if not left:
        raise InputError(f"{method.name} can serve no problem of the study '{study.name}': {first}")
    told = f"run on {len(left)} of {len(answers)} problems; the others it cannot serve ({first})"
    some = tuple(tasks) if len(tasks) < len(study.tasks) else ()
    return replace(method, tasks=some, groupings=tuple(kept) if lost else ()), [told]


def _asked(study: Study, method: MethodSpec, task_of: TaskOf) -> Iterator[tuple[Pair, str]]:
    """Why the method cannot serve each task by each grouping; nothing where it can.

    A task that cannot be made is passed over: that it cannot is no fault of the method, and told later.
    """
    own = load_method(method.key, {})
    for spec in study.tasks:
        try:
            task = task_of(spec.data, knobs_of(spec, study.seeds[0]))
        except InputError:
            continue
        for grouping in serving(study.groupings, spec.name):
            why = ""
            try:
                own.check(Problem.of(task, grouping.attributes))
            except InputError as error:
                why = str(error)
            yield (spec.name, grouping.name), why


def _nets_with(study: Study, added: Sequence[MethodSpec]) -> tuple[NetEntry, ...]:
    """The networks, those of the method that others are compared with serving the added ones as well."""
    base = study.report.base or next((method.name for method in study.methods), "")
    names = tuple(method.name for method in added)
    return tuple(
        replace(net, methods=(*net.methods, *names)) if base in net.methods else net for net in study.nets
    )

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
from evenhand.study.smoke import LIMIT
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
        added += limited
        notes += [f"{name} is {reason}" for reason in reasons]
    found = replace(study, methods=(*study.methods, *added), nets=_nets_with(study, added))
    return Added(found if added else study, tuple(notes))


def _limited(study: Study, method: MethodSpec, task_of: TaskOf) -> tuple[list[MethodSpec], list[str]]:
    """The method for what it can serve: once for all tasks on which it can serve the same groupings."""
    answers = dict(_asked(study, method, task_of))
    refused = {pair: why for pair, why in answers.items() if why is not None}
    if not refused:
        return [method], []
    first = next(iter(refused.values()))
    left = answers.keys() - refused
    if not left:
        small = " in small (--smoke)" if study.smoke is None and LIMIT in study.options else ""
        raise InputError(f"{method.name} can serve no problem of the study '{study.name}'{small}: {first}")
    alike: dict[tuple[str, ...], list[str]] = {}
    for spec in study.tasks:
        here = [name for task, name in answers if task == spec.name]
        kept = tuple(name for name in here if (spec.name, name) in left)
        if kept:
            alike.setdefault(() if len(kept) == len(here) else kept, []).append(spec.name)
    told = f"run on {len(left)} of {len(answers)} problems; the others it cannot serve ({first})"
    every = len(alike) == 1 and len(next(iter(alike.values()))) == len(study.tasks)
    return [
        replace(method, tasks=() if every else tuple(tasks), groupings=groupings)
        for groupings, tasks in alike.items()
    ], [told]


def _asked(study: Study, method: MethodSpec, task_of: TaskOf) -> Iterator[tuple[Pair, str | None]]:
    """Why the method cannot serve each task by each grouping; None where it can.

    A task that cannot be made is passed over: that it cannot is no fault of the method, and told later.
    """
    own = load_method(method.key, {})
    for spec in study.tasks if study.seeds else ():
        try:
            task = task_of(spec.data, knobs_of(spec, study.seeds[0]))
        except InputError:
            continue
        known = {attribute.name for attribute in task.attributes}
        for grouping in serving(study.groupings, spec.name):
            if not known.issuperset(grouping.attributes):
                continue  # a mistake of the study, which is told later
            why = None
            try:
                own.check(Problem.of(task, grouping.attributes))
            except InputError as error:
                why = str(error) or "it does not say why"
            except Exception as error:
                told = f"{method.key} cannot check '{spec.name}' by '{grouping.name}'"
                raise InputError(f"{told} ({type(error).__name__}: {error})") from error
            yield (spec.name, grouping.name), why


def _nets_with(study: Study, added: Sequence[MethodSpec]) -> tuple[NetEntry, ...]:
    """The networks, those of the method that others are compared with serving the added ones as well."""
    base = study.report.base or next((method.name for method in study.methods), "")
    names = tuple(dict.fromkeys(method.name for method in added))
    return tuple(
        replace(net, methods=(*net.methods, *names)) if base in net.methods else net for net in study.nets
    )

"""What the parts of a study are called where the study does not say: after what they are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from evenhand.study.plain import plain
from evenhand.study.spec import (
    Grid,
    GroupingSpec,
    MethodSpec,
    NetEntry,
    SelectionSpec,
    ShiftSpec,
    Study,
    TaskSpec,
)

TABLE = "table:"  # before the path of a user's own table, as in `evenhand.study.tasks`
EVERYBODY = "all"  # the grouping with one group


def task_name(data: str) -> str:
    """A data set by its own name, a table by its file's, a function by its name.

    >>> task_name("adult"), task_name("table:/data/loans.csv"), task_name("/mine/tasks.py:loans")
    ('adult', 'loans', 'loans')
    """
    if data.startswith(TABLE):
        return Path(data.removeprefix(TABLE)).stem
    return data.rpartition(":")[2]


def grouping_name(attributes: tuple[str, ...]) -> str:
    """
    >>> grouping_name(("sex", "race")), grouping_name(())
    ('sex × race', 'all')
    """
    return " × ".join(attributes) or EVERYBODY


def method_name(key: str) -> str:
    """
    >>> method_name("gdro"), method_name("/mine/methods.py:Mine")
    ('gdro', 'Mine')
    """
    return key.rpartition(":")[2]


def complete(study: Study) -> Study:
    """The study with every name filled in and its values as JSON has them, so that it is stored as it is.

    >>> [task.name for task in complete(Study("s", tasks=(TaskSpec("adult"),))).tasks]
    ['adult']
    """
    smoke = None if study.smoke is None else complete(study.smoke)
    selection = study.selection
    if selection.accuracy == SelectionSpec().accuracy:  # unless told otherwise, the accuracy that is shown
        selection = replace(selection, accuracy=study.report.accuracy)
    return replace(
        study,
        selection=selection,
        tasks=tuple(map(_task, study.tasks)),
        groupings=tuple(map(_grouping, study.groupings)),
        nets=tuple(map(_net, study.nets)),
        methods=tuple(map(_method, study.methods)),
        recipe=plain(study.recipe),
        options=plain(study.options),
        shifts=tuple(map(_shift, study.shifts)),
        smoke=smoke,
    )


def _task(task: TaskSpec) -> TaskSpec:
    name = task.name or task_name(task.data)
    return replace(task, name=name, knobs=plain(task.knobs), recipe=plain(task.recipe))


def _grouping(grouping: GroupingSpec) -> GroupingSpec:
    return replace(grouping, name=grouping.name or grouping_name(grouping.attributes))


def _net(net: NetEntry) -> NetEntry:
    return replace(net, name=net.name or net.net, options=plain(net.options))


def _shift(shift: ShiftSpec) -> ShiftSpec:
    return replace(shift, severities=tuple(plain(each) for each in shift.severities))


def _method(method: MethodSpec) -> MethodSpec:
    fields, recipe = _varied(method.fields), _varied(method.recipe)
    return replace(method, name=method.name or method_name(method.key), fields=fields, recipe=recipe)


def _varied(values: Any) -> dict[str, Any]:
    """Fixed and gridded values as JSON has them; a search is left as it is."""
    found = {}
    for name, value in values.items():
        if isinstance(value, Grid):
            found[name] = Grid(tuple(plain(each) for each in value.values))
        else:
            found[name] = value if hasattr(value, "low") else plain(value)
    return found

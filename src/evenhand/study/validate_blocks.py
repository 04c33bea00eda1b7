"""What may be wrong with the tasks, groupings and networks of a study before their data is looked at."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from evenhand.data.from_table import task_from_table
from evenhand.data.registry import find_dataset
from evenhand.errors import InputError
from evenhand.kinds import checked_kind
from evenhand.nets.names import no_such
from evenhand.nets.registry import NETS, NetSpec
from evenhand.study.mistakes import Mistakes
from evenhand.study.own import load_own
from evenhand.study.read_blocks import NET_KEYS, TASK_KEYS
from evenhand.study.records import canonical
from evenhand.study.spec import NetEntry, Study, TaskSpec
from evenhand.study.tasks import TABLE
from evenhand.study.toml_lines import KeyPath
from evenhand.study.validate_methods import check_recipe

TABLE_FILES = (".csv", ".parquet")
NOT_KNOBS = ("progress", "table", "name")  # what a loader takes that is not for the user to choose


def check_tasks(study: Study, mistakes: Mistakes) -> None:
    """Data sets, knobs and recipes."""
    if not study.tasks:
        mistakes.add(("task",), 'a study needs a [[task]], such as data = "adult"')
    for task in study.tasks:
        place: KeyPath = ("task", task.name)
        with mistakes.at((*place, "file" if task.data.startswith(TABLE) else "data")):
            _check_knobs(task, _loader(task.data), place, mistakes)
        check_recipe(task.recipe, (*place, "recipe"), mistakes)


def _loader(data: str) -> Callable[..., Any]:
    """The function that makes the task, whose keyword arguments are its knobs."""
    if data.startswith(TABLE):
        path = Path(data.removeprefix(TABLE))
        if not path.is_file():
            raise InputError(f"there is no file {path}")
        if path.suffix not in TABLE_FILES:
            raise InputError(f"a task's table must be a {' or '.join(TABLE_FILES)} file, not {path.name}")
        return task_from_table
    if ":" not in data:
        return find_dataset(data).loader()
    made: Callable[..., Any] = load_own(data)
    if not callable(made):
        raise InputError(f"{data} is no function that makes a task")
    return made


def _check_knobs(task: TaskSpec, loader: Callable[..., Any], place: KeyPath, mistakes: Mistakes) -> None:
    declared = inspect.signature(loader).parameters
    known = {name: given for name, given in declared.items() if name not in NOT_KNOBS}
    free = any(given.kind is given.VAR_KEYWORD for given in declared.values())
    for name in (*task.knobs, *task.seeded):
        where = (*place, name if name in task.knobs else "seeded")
        if name not in known and not free:
            others = [key for key in TASK_KEYS if key not in ("data", "file")] if name in task.knobs else []
            keys = [*known, *others]
            mistakes.add(where, no_such(f"the task '{task.name}' has no knob", name, keys, "Its keys"))
        elif name in task.knobs and name in task.seeded:
            mistakes.add(where, f"the knob '{name}' is seeded and has a value too; leave one of them out")
        elif name in task.knobs and name in known:
            with mistakes.at(where):
                _check_kind(name, task.knobs[name], known[name].annotation)
    for name, given in known.items():
        wanted = given.default is given.empty and given.kind not in (given.VAR_KEYWORD, given.VAR_POSITIONAL)
        if wanted and name not in (*task.knobs, *task.seeded):
            mistakes.add(place, f"the task '{task.name}' needs {name} = ...")


def _check_kind(name: str, value: Any, declared: Any) -> None:
    if isinstance(value, Mapping):
        raise InputError(
            f"the knob {name} must have one value; for several write several [[task]] with names"
        )
    try:
        canonical(value)
    except (TypeError, ValueError) as error:  # a date, infinity
        raise InputError(
            f"the knob {name} must be a text, a number, a truth value or a list, not {value}"
        ) from error
    if isinstance(declared, str):
        checked_kind(f"the knob {name}", value, declared, 0 if name == "seed" else None)


def check_groupings(study: Study, mistakes: Mistakes) -> None:
    """No attribute twice; that the data has them is looked up later."""
    if not study.groupings:
        told = 'a study needs a [[grouping]], such as attributes = ["sex"]; attributes = [] is everybody'
        mistakes.add(("grouping",), told)
    for grouping in study.groupings:
        lists = [("attributes", grouping.attributes), *(("measure", names) for names in grouping.measure)]
        for key, names in lists:
            for name in sorted({name for name in names if names.count(name) > 1}):
                mistakes.add(("grouping", grouping.name, key), f"the attribute '{name}' is there twice")


def check_nets(study: Study, mistakes: Mistakes) -> None:
    """Networks and their options, one by one."""
    for net in study.nets:
        place: KeyPath = ("net", net.name)
        with mistakes.at((*place, "net")):
            NetSpec(net.net)
            _check_options(net, place, mistakes)


def _check_options(net: NetEntry, place: KeyPath, mistakes: Mistakes) -> None:
    known = NETS[net.net].options()
    for option, value in net.options.items():
        if option not in known:
            keys = [*known, *(key for key in NET_KEYS if key != "net")]
            mistakes.add(
                (*place, option), no_such(f"the network '{net.net}' has no option", option, keys, "Its keys")
            )
            continue
        with mistakes.at((*place, option)):
            NetSpec(net.net, {option: value})


def check_limits(study: Study, mistakes: Mistakes) -> None:
    """`tasks` of a block name tasks of the study, and every task is served by each kind of block."""
    names = [task.name for task in study.tasks]
    for block, entries in (("grouping", study.groupings), ("net", study.nets), ("method", study.methods)):
        for entry in entries:
            for name in (name for name in entry.tasks if name not in names):
                told = no_such("the study has no task", name, names, "Its tasks")
                mistakes.add((block, entry.name, "tasks"), told)
        for task in names if entries else ():
            if not any(task in (entry.tasks or names) for entry in entries):
                mistakes.add(
                    ("task", task), f"no [[{block}]] is for the task '{task}': their `tasks` leave it out"
                )


def check_net_methods(study: Study, mistakes: Mistakes) -> None:
    """`methods` of a network name methods of the study; every method has a network on each task."""
    names = [method.name for method in study.methods]
    for net in study.nets:
        for name in (name for name in net.methods if name not in names):
            told = no_such("the study has no method", name, names, "Its methods")
            mistakes.add(("net", net.name, "methods"), told)
    for method in study.methods if study.nets else ():
        own = [net for net in study.nets if net.is_for(method.name)]
        for task in method.tasks or [task.name for task in study.tasks]:
            if not any(task in (net.tasks or (task,)) for net in own):
                told = f"no [[net]] is for the method '{method.name}' on the task '{task}'"
                mistakes.add(("method", method.name), f"{told}: their `methods` and `tasks` leave it out")

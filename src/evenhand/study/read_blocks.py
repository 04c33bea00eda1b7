"""The blocks of a study file, `[[task]]`, `[[grouping]]`, `[[net]]`, `[[method]]`, `[[shift]]`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from evenhand.methods.techniques import Technique, find_technique
from evenhand.study.names import TABLE as TABLE_OF
from evenhand.study.names import grouping_name, method_name, task_name
from evenhand.study.plain import GRID, SEARCH, plain
from evenhand.study.spec import Grid, GroupingSpec, MethodSpec, NetEntry, Search, ShiftSpec, TaskSpec
from evenhand.study.toml_table import LISTS, NUMBER, NUMBERS, SWITCH, TABLE, TEXT, TEXTS, WHOLE, WHOLES, Table

TASK_KEYS = ("data", "file", "name", "seeded", "recipe", "drop_protected")
GROUPING_KEYS = ("attributes", "first", "counts", "name", "tasks", "measure")
NET_KEYS = ("net", "name", "tasks", "methods")
METHOD_KEYS = ("key", "technique", "name", "draws", "tasks", "recipe", "once", "groupings")
SHIFT_KEYS = ("kind", "severity", "severities", "draws", "part", "tasks")
BOUNDS = ("low", "high", "log")


def read_task(block: Table, base: Path) -> Iterator[TaskSpec]:
    """A data set of the registry, a function of the user's ("file.py:name") or a table of the user's."""
    data, file = block.take("data", TEXT), block.take("file", TEXT)
    name, seeded = block.take("name", TEXT, default=""), block.names("seeded")
    recipe = block.take("recipe", TABLE, default={})
    drop = block.take("drop_protected", SWITCH, default=False)
    if (data is None) == (file is None):
        block.wrong('a task needs either data = "NAME" or file = "TABLE.csv"')
        return
    where = f"{TABLE_OF}{_beside(file, base)}" if file is not None else own_reference(data, base)
    name = name or task_name(where)
    _called(block, name)
    yield TaskSpec(where, name, block.rest(), seeded, recipe, drop)


def read_grouping(block: Table) -> Iterator[GroupingSpec]:
    """`attributes = [...]`, or `first = [...]` for the first one, the first two, ... of a list."""
    given, first = block.take("attributes", TEXTS, TEXT), block.names("first")
    counts = block.take("counts", WHOLES, default=list(range(1, len(first) + 1)))
    name, tasks = block.take("name", TEXT, default=""), block.names("tasks")
    measure = tuple(map(tuple, block.take("measure", LISTS, default=[])))
    block.refuse_rest("a grouping", GROUPING_KEYS)
    if (given is None) == (not first):
        block.wrong(
            "a grouping needs either attributes = [...] or first = [...]; attributes = [] is everybody"
        )
        return
    lists = [(given,) if isinstance(given, str) else tuple(given)] if given is not None else []
    for place, count in enumerate(counts):
        if 1 <= count <= len(first):
            lists.append(first[:count])
        else:
            block.wrong(
                f"counts must be from 1 to {len(first)}, how many 'first' has; not {count}", "counts", place
            )
    for attributes in lists:
        numbered = f"{name} {len(attributes)}" if name and first else name
        called = numbered or grouping_name(attributes)
        _called(block, called)
        yield GroupingSpec(attributes, called, tasks, measure)


def read_net(block: Table) -> Iterator[NetEntry]:
    """A network by name; every other key is an option of it."""
    net, name = block.take("net", TEXT), block.take("name", TEXT, default="")
    tasks, methods = block.names("tasks"), block.names("methods")
    if net is None:
        block.wrong('a net needs net = "NAME"')
        return
    _called(block, name or net)
    yield NetEntry(net, name or net, block.rest(), tasks, methods)


def read_method(block: Table, base: Path, said: Collection[str] = ()) -> Iterator[MethodSpec]:
    """A method by key, or several with the same values; every other key is a field.

    Or a technique by name, which brings key, fields and recipe: the file's own values go over these, and so
    do the values of the study's and its tasks' recipes, whose names are `said`.
    """
    keys, names = block.names("key"), block.names("technique")
    name, tasks = block.take("name", TEXT, default=""), block.names("tasks")
    groupings = block.names("groupings")
    draws, once = block.take("draws", WHOLE, default=0), block.take("once", SWITCH, default=False)
    inner = block.table("recipe")
    recipe, fields = _varied(inner, inner.rest()), _varied(block, block.rest())
    if bool(keys) == bool(names):
        block.wrong('a method needs key = "KEY"' if not keys else "a method has either a key or a technique")
    if name and len(keys) + len(names) > 1:
        block.wrong(
            f"one name cannot serve {len(keys or names)} methods; give each its own [[method]]", "name"
        )
    for key in keys:
        where = own_reference(key, base)
        called = name if name and len(keys) == 1 else method_name(where)
        _called(block, called)
        yield MethodSpec(where, called, fields, recipe, draws, tasks, once, groupings)
    for technique in _techniques(block, names):
        called = name if name and len(names) == 1 else technique.name
        _called(block, called)
        own = {key: plain(value) for key, value in technique.recipe.items() if key not in said}
        yield MethodSpec(
            technique.key, called, {**technique.fields, **fields}, {**own, **recipe}, draws, tasks, once,
            groupings,
        )  # fmt: skip


def _techniques(block: Table, names: Sequence[str]) -> Iterator[Technique]:
    """Those that there are; the others are noted."""
    for name in names:
        with block.mistakes.at((*block.path, "technique")):
            yield find_technique(name)


def read_shift(block: Table) -> Iterator[ShiftSpec]:
    """A shift by kind; `severity` is one number, `severities` are several, neither is the usual ones."""
    kind, one = block.take("kind", TEXT), block.take("severity", NUMBER)
    several = block.take("severities", NUMBERS)
    draws = block.take("draws", WHOLE, default=ShiftSpec.draws)
    part, tasks = block.take("part", TEXT, default=ShiftSpec.part), block.names("tasks")
    block.refuse_rest("a shift", SHIFT_KEYS)
    if kind is None:
        block.wrong('a shift needs kind = "NAME"')
        return
    if one is not None and several is not None:
        block.wrong("a shift has either severity = NUMBER or severities = [...]", "severities")
    if several == []:
        block.wrong("'severities' is empty; leave it out for the usual ones of the shift", "severities")
    severities = tuple(several or ()) if one is None else (one,)
    shift = ShiftSpec(kind, severities, draws, part, tasks)
    _called(block, shift.name)
    yield shift


def own_reference(text: str, base: Path) -> str:
    """ "file.py:name" with the whole path of the file, which is relative to the study's; else as it is.

    >>> own_reference("mine.py:Mine", Path("/studies")), own_reference("gdro", Path("/studies"))
    ('/studies/mine.py:Mine', 'gdro')
    """
    file, sign, name = text.rpartition(":")
    return f"{_beside(file, base)}:{name}" if sign and file.endswith(".py") else text


def _beside(file: str, base: Path) -> Path:
    return (base / Path(file).expanduser()).resolve()


def _called(block: Table, name: str) -> None:
    """Later checks know a block by its name; this is how they find its line again."""
    block.mistakes.blocks[(str(block.path[0]), name)] = block.path


def _varied(block: Table, values: dict[str, Any]) -> dict[str, Any]:
    """Tables among the values are what is varied: {grid = [...]}, {search = true}, {low = 0.1, high = 1}."""
    found = {}
    for key, value in values.items():
        made = (
            _variation(Table(value, (*block.path, key), block.mistakes)) if isinstance(value, dict) else value
        )
        if made is not None:
            found[key] = made
    return found


def _variation(table: Table) -> Grid | Search | None:
    grid = table.values.pop(GRID, None)
    search = table.take(SEARCH, SWITCH)
    low, high = table.take("low", NUMBER), table.take("high", NUMBER)
    log = table.take("log", SWITCH)
    searched = bool(search) or low is not None or high is not None
    table.refuse_rest("what is varied", (GRID, SEARCH, *BOUNDS))
    if (grid is None) == (not searched):
        table.wrong("write {grid = [...]}, {search = true}, or {low = ..., high = ...}: one of them")
        return None
    if searched:
        return Search(low, high, log)
    if not isinstance(grid, list):
        table.wrong(f"a grid is a list of values, not {grid!r}", GRID)
        return None
    return Grid(tuple(grid))

"""What a fit is given, as what it works with; whatever cannot be meant is refused before training begins."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from evenhand.data.registry import DATASETS, load
from evenhand.data.task import Task
from evenhand.errors import InputError
from evenhand.train.recipe import Recipe


def tasks_of(task: Any) -> list[Task]:
    """A task, the name of one, or a list with one for each seed."""
    given = list(task) if isinstance(task, (list, tuple)) else [task]
    if not given:
        raise InputError("there must be at least one task")
    for one in given:
        if not isinstance(one, (Task, str)):
            kind = type(one).__name__
            raise InputError(f"a task is a name ('adult') or a Task, not a {kind}; Task.from_table makes one")
    return [load(one) if isinstance(one, str) else one.check() for one in given]


def protected(task: Task, protect: Sequence[str] | str | None) -> tuple[str, ...]:
    """The attributes to protect: those named, the data set's usual ones, or all that the task has."""
    if protect is None:
        own = [attribute.name for attribute in task.attributes]
        usual = DATASETS[task.name].protect if task.name in DATASETS else ()
        return tuple(name for name in usual if name in own) or tuple(own)
    names = tuple(protect) if isinstance(protect, (list, tuple)) else (protect,)
    for name in names:
        task.attribute(str(name))
        if names.count(name) > 1:
            raise InputError(f"the attribute {name!r} is to be protected twice; name it once")
    return tuple(str(name) for name in names)


def check_alike(tasks: Sequence[Task], protect: Sequence[str]) -> None:
    """Tasks that one fit is of pose one question: the same inputs, classes and groups."""
    first = tasks[0]
    for task in tasks[1:]:
        pairs: list[tuple[str, object, object]] = [
            ("inputs", first.input_shape, task.input_shape),
            ("classes", first.classes, task.classes),
        ]
        pairs += [(f"levels of '{n}'", first.attribute(n).levels, task.attribute(n).levels) for n in protect]
        for what, one, other in pairs:
            if one != other:
                raise InputError(f"the tasks have different {what}, {one} and {other}; fit them one by one")


def watched_keys(watch: Sequence[str] | str, task: Task) -> tuple[str, ...]:
    """The metrics to watch; there must be rows to watch them on."""
    keys = (watch,) if isinstance(watch, str) else tuple(watch)
    if keys and "validation" not in task.split:
        raise InputError(f"watch={keys[0]!r} needs validation rows, and '{task.name}' has none")
    return keys


def seeds_of(seeds: Any) -> list[int]:
    """The seeds 0 to n-1 for a number n, or those that are listed.

    >>> seeds_of(2), seeds_of([7, 3])
    ([0, 1], [7, 3])
    """
    if isinstance(seeds, (int, np.integer)):
        found = list(range(seeds))
    elif isinstance(seeds, Iterable) and not isinstance(seeds, str):
        found = [_seed(seed) for seed in seeds]
    else:
        raise InputError(f"seeds={seeds!r} must be how many, or a list of whole numbers")
    if not found:
        raise InputError("there must be at least one seed")
    return found


def _seed(seed: Any) -> int:
    if isinstance(seed, bool) or not hasattr(seed, "__index__"):
        raise InputError(f"the seed {seed!r} is no whole number")
    return int(seed)


def check_distinct(seeds: Sequence[int], recipe: Recipe, n_tasks: int) -> None:
    """Equal seeds give equal runs, which would look as if training had no variance.

    Unless something else tells the runs apart: a task or a number of the recipe for each.
    """
    told_apart = n_tasks > 1 or any(
        isinstance(v, tuple) for v in (recipe.rate, recipe.weight_decay, recipe.clip)
    )
    twice = next((seed for seed in seeds if seeds.count(seed) > 1), None)
    if twice is not None and not told_apart:
        raise InputError(f"the seed {twice} is given twice: the runs would be equal; give each its own")

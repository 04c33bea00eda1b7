"""Which groupings a method is for, and methods of one name: with other values on other tasks.

A method is told in tables by its name. Where a paper gives it other values on another task, a study has it
twice under one name, each limited by `tasks`; no task may have both. `groupings` limits a method to some.
"""

from __future__ import annotations

from evenhand.nets.names import no_such
from evenhand.study.mistakes import Mistakes
from evenhand.study.spec import MethodSpec, Study

Place = tuple[str, tuple[str, ...]]


def place_of(method: MethodSpec) -> Place:
    """What tells a method of a study from all others: its name, and the tasks that it is for.

    >>> place_of(MethodSpec("gdro", "gdro", tasks=("multi",)))
    ('gdro', ('multi',))
    """
    return method.name, method.tasks


def serves(method: MethodSpec, grouping: str) -> bool:
    """Whether a method is for a grouping.

    >>> serves(MethodSpec("ind-ad", groupings=("race",)), "sex"), serves(MethodSpec("ind"), "sex")
    (False, True)
    """
    return not method.groupings or grouping in method.groupings


def clashing_names(study: Study) -> list[str]:
    """The names of methods, once where those of one name are for other tasks.

    >>> study = Study("s", methods=tuple(MethodSpec("gdro", "gdro", tasks=(task,)) for task in "aab"))
    >>> clashing_names(study)
    ['gdro', 'gdro']
    """
    names = []
    for number, method in enumerate(study.methods):
        earlier = [other for other in study.methods[:number] if other.name == method.name]
        clash = any(_overlap(method.tasks, other.tasks) for other in earlier)
        names += [method.name] if clash or not earlier else []
    return names


def check_method_limits(study: Study, mistakes: Mistakes) -> None:
    """Groupings that a method names are of the study, and methods of one name are of one kind."""
    names = [grouping.name for grouping in study.groupings]
    first = {method.name: method for method in reversed(study.methods)}
    for method in study.methods:
        place = ("method", method.name)
        for name in (name for name in method.groupings if name not in names):
            told = no_such("the study has no grouping", name, names, "Its groupings")
            mistakes.add((*place, "groupings"), told)
        if method.once and method.groupings:
            told = f"'{method.name}' is trained once and measured by every grouping; leave groupings out"
            mistakes.add((*place, "groupings"), told)
        if (method.key, method.once) != (first[method.name].key, first[method.name].once):
            told = f"the methods called '{method.name}' must have one key, and be trained once or not alike"
            mistakes.add(place, f'{told}; give one of them another name = "..."')


def _overlap(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    return not one or not other or bool(set(one) & set(other))

"""What may be wrong with a method that is trained once and measured by every grouping."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.data.shift_registry import find_shift
from evenhand.errors import InputError
from evenhand.study.mistakes import Mistakes
from evenhand.study.spec import Grid, MethodSpec, Study
from evenhand.study.tasks import load_method
from evenhand.train.watching import OWN_NUMBERS

BY_GROUPS = "group-share"  # the shift that chooses rows by the groups that a run protects


def check_once(study: Study, mistakes: Mistakes) -> None:
    """A method that is trained once knows no groups, and nothing may ask which they are."""
    for method in study.methods:
        for why in _reasons(study, method) if method.once else ():
            mistakes.add(("method", method.name, "once"), f"'{method.name}' cannot be trained once: {why}")


def _reasons(study: Study, method: MethodSpec) -> Iterator[str]:
    try:
        asked = load_method(method.key, {}).asks()
    except InputError:
        return  # what is wrong with it is told elsewhere
    if asked.groups or asked.groups_at_test:
        yield "it needs the groups that it protects; leave once out, or choose erm, sd or jtt"
    if study.numbers:
        yield f"{', '.join(study.numbers)} would be taken by its groups, and it protects none"
    for shift in study.shifts:
        if _kind(shift.kind) == BY_GROUPS and _meets(shift.tasks, method.tasks):
            yield f"the shift '{shift.name}' chooses rows by the groups that a run protects"
    for monitor in dict.fromkeys(_monitors(study, method)):
        if monitor not in OWN_NUMBERS:
            yield f"its monitor '{monitor}' is by groups; watch {' or '.join(OWN_NUMBERS)}"


def _kind(name: str) -> str:
    try:
        return find_shift(name)[0].key
    except InputError:
        return name


def _meets(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    return not one or not other or bool(set(one) & set(other))


def _monitors(study: Study, method: MethodSpec) -> Iterator[Any]:
    """Every number that training watches on one of the method's tasks."""
    for task in study.tasks:
        if not method.tasks or task.name in method.tasks:
            told = {**study.recipe, **task.recipe, **method.recipe}.get("monitor", "loss")
            yield from told.values if isinstance(told, Grid) else (told,)

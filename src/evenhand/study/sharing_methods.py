"""Which methods of a study share their trainings, told from the study alone: no data is looked at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.study.plain import plain
from evenhand.study.records import canonical
from evenhand.study.served import limited_settings
from evenhand.study.sharing import is_chosen_by_validation
from evenhand.study.spec import MethodSpec, Study
from evenhand.study.tasks import load_method


def shared_methods(study: Study) -> list[tuple[str, ...]]:
    """The names of methods that are trained once and read in several ways, each set in the study's order.

    Counted are methods of a single setting: those of several share what is equal among theirs.

    >>> study = Study("s", methods=(MethodSpec("erm", "erm"), MethodSpec("ind", "ind"),
    ...                             MethodSpec("ind", "ind-sp", fields={"inference": "sum-prob"})))
    >>> shared_methods(study)
    [('ind', 'ind-sp')]
    """
    found: dict[str, list[str]] = {}
    for method in study.methods:
        for key in _keys(study, method):
            found.setdefault(key, []).append(method.name)
    return [tuple(names) for names in found.values() if len(names) > 1]


def _keys(study: Study, method: MethodSpec) -> Iterator[str]:
    """What is trained for a method, and where: nothing if every run is trained as it is."""
    settings = limited_settings(study, method)
    if len(settings) != 1:
        return
    recipe: dict[str, Any] = {**study.recipe, **settings[0].recipe}
    if any(is_chosen_by_validation({**recipe, **task.recipe}) for task in study.tasks or ()):
        return
    if is_chosen_by_validation(recipe):
        return
    made = load_method(method.key, settings[0].fields).trains_as()
    nets = [net.name for net in study.nets if net.is_for(method.name)]
    where = [method.tasks, method.groupings, method.once, nets, plain(recipe)]
    yield canonical([type(made).__module__, repr(made), where])

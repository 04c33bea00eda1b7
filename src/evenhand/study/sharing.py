"""One training, read in several ways: runs that differ only in how the trained network is read share it.

A method says by `Method.trains_as` what is trained in its place. Runs whose specifications are equal but for
the method and its fields, and whose methods train as the same thing, are one training: it is made once, and
measured once for each of them. Where validation chooses the epoch (`keep = "best"`, `patience`), each reading
would choose its own, so that every run is trained as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evenhand.methods.base import Method, float_fields
from evenhand.study.records import PlannedRun, RunSpec, canonical
from evenhand.study.shared_words import shared_words
from evenhand.study.tasks import load_method

Training = tuple[PlannedRun, ...]  # the runs of one training, in the study's order


def is_chosen_by_validation(recipe: Mapping[str, Any]) -> bool:
    """Whether what is kept of a training depends on scores of validation rows, and so on how it is read.

    >>> is_chosen_by_validation({"keep": "last", "patience": 0}), is_chosen_by_validation({"keep": "best"})
    (False, True)
    """
    return recipe.get("keep", "last") == "best" or bool(recipe.get("patience", 0))


def trained_method(spec: RunSpec) -> Method:
    """The method that a run trains: its own, unless the trained network is only read otherwise.

    >>> recipe = {"keep": "last", "patience": 0}
    >>> one = RunSpec("adult", {}, ("sex",), "mlp", {}, "ind", {"inference": "sum-prob"}, recipe, seed=0)
    >>> trained_method(one).inference
    'sum-logit'
    """
    method = load_method(spec.method, spec.fields)
    return method if is_chosen_by_validation(spec.recipe) else method.trains_as()


def trainings_of(runs: Iterable[PlannedRun]) -> list[Training]:
    """The runs by training, each where its first run stands."""
    runs = list(runs)
    known: dict[str, tuple[str, bool]] = {}
    for run in runs:
        if (method := _method_text(run.spec)) not in known:
            known[method] = _trained(run.spec)
    if not any(reads for _, reads in known.values()):  # nobody reads what another trains
        return [(run,) for run in runs]
    found: dict[str, list[PlannedRun]] = {}
    for run in runs:
        found.setdefault(canonical([known[_method_text(run.spec)][0], _rest(run.spec)]), []).append(run)
    return [tuple(members) for members in found.values()]


def _method_text(spec: RunSpec) -> str:
    return canonical([spec.method, dict(spec.fields), is_chosen_by_validation(spec.recipe)])


def _trained(spec: RunSpec) -> tuple[str, bool]:
    """What is trained, as text, and whether its network may be read by others."""
    made = trained_method(spec)
    reads = type(load_method(spec.method, spec.fields)).trains_as is not Method.trains_as
    return f"{type(made).__module__} {made!r}", reads


def _rest(spec: RunSpec) -> dict[str, Any]:
    """What a specification says beside its method."""
    return {name: value for name, value in spec.content().items() if name not in ("method", "fields")}


def readings_of(trainings: Sequence[Training]) -> list[list[PlannedRun | None]]:
    """How a stack of trainings is read: for each reading, the run of each training (None: it has none here).

    Runs of one reading have one method and differ in numbers alone, so that a whole stack is read at once.
    """
    found: dict[tuple[str, int], list[PlannedRun | None]] = {}
    for place, training in enumerate(trainings):
        seen: dict[str, int] = {}
        for run in training:
            form = form_text(run.spec)
            seen[form] = seen.get(form, -1) + 1
            found.setdefault((form, seen[form]), [None] * len(trainings))[place] = run
    return list(found.values())


def form_text(spec: RunSpec) -> str:
    """What runs that are read side by side have in common: the method, and its fields that are no numbers."""
    form = load_method(spec.method, spec.fields).stacked_form()
    numbers = float_fields(form)
    fields = {name: repr(value) for name, value in vars(form).items() if name not in numbers}
    return canonical([repr(type(form)), fields])


def sharing_notes(runs: Iterable[PlannedRun]) -> tuple[str, ...]:
    """A sentence for each set of methods that share their trainings."""
    found: dict[tuple[str, int], int] = {}
    for training in trainings_of(runs):
        if len(training) > 1:
            names = ", ".join(dict.fromkeys(run.method for run in training))
            found[names, len(training)] = found.get((names, len(training)), 0) + 1
    return tuple(shared_words(names, ways, n) for (names, ways), n in found.items())

"""What an audit under shift is asked for, checked before anything is computed: task, severities, shift."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from evenhand.data.shift_registry import Shift, check_fits, check_severity, find_shift
from evenhand.data.shifts import kind_of
from evenhand.data.task import Task
from evenhand.errors import InputError
from evenhand.evaluation.options import chosen_metrics
from evenhand.metrics.catalogue import CATALOGUE, COUNT_METRICS

if TYPE_CHECKING:
    from evenhand.evaluation.fitted import Fitted

ACCURACY = "acc"
METRICS = ("tpr.gap", "fpr.gap", "selection.gap")


def severities_of(given: object, shift: Shift) -> tuple[float, ...]:
    """The severities in order, each once, 0 (the rows as they are) first.

    >>> from evenhand.data.shift_registry import SHIFTS
    >>> severities_of([0.06, 0.03, 0.06], SHIFTS["gaussian"])
    (0.0, 0.03, 0.06)
    """
    values = shift.severities if given is None else given
    if hasattr(values, "tolist"):  # an array
        values = values.tolist()
    if isinstance(values, int | float):
        values = [values]
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InputError(f"severities are a list of numbers, such as [0.03, 0.06], not {values!r}")
    plain = [value.item() if hasattr(value, "item") else value for value in values]
    found = sorted({0.0, *(check_severity(shift, value) for value in plain)})
    if len(found) < 2:
        raise InputError(f"give at least one severity above 0, such as {shift.severities[0]:g}")
    return tuple(found)


def shift_of(key: str, task: Task) -> Shift:
    """The shift of that name, if it fits the inputs of the task."""
    shift, _ = find_shift(key)
    check_fits(shift, kind_of(task))
    return shift


def tasks_of(fitted: Fitted, task: object, part: str) -> tuple[Task, ...]:
    """The tasks to be measured on: those of the fit, or the given one (one for each run is possible)."""
    _check_fit(fitted)
    found = _given_tasks(task) if task is not None else fitted.tasks
    if not found:
        raise InputError(
            "this fit was loaded without its task; give it: audit_under_shift(fitted, task), "
            "where task is a Task or a data set's name"
        )
    if len(found) not in (1, len(fitted.seeds)):
        raise InputError(
            f"{len(found)} tasks for {len(fitted.seeds)} runs: give one task, or one for each run"
        )
    for one in found:
        if one.classes != fitted.classes:
            raise InputError(
                f"the classes of '{one.name}' ({', '.join(one.classes[:5])}) are not those that were trained "
                f"({', '.join(fitted.classes[:5])}); give the task of the fit"
            )
        if not len(one.rows(part)):
            raise InputError(f"the part {part!r} of '{one.name}' has no rows to be measured on")
        for name in fitted.protect:
            one.attribute(name)  # one that is not there is told by its name
    return found


def _check_fit(fitted: object) -> None:
    from evenhand.evaluation.fitted import Fitted

    if not isinstance(fitted, Fitted):
        raise InputError(
            f"an audit under shift is of what evenhand.fit gave back, not of a {type(fitted).__name__}; a "
            "module of your own is trained by evenhand.fit(module, ...)"
        )


def _given_tasks(task: Any) -> tuple[Task, ...]:
    from evenhand.evaluation.fit_arguments import tasks_of as named

    return tuple(named(task))


def metrics_of(wanted: object) -> tuple[str, ...]:
    """The keys to be measured, accuracy first.

    >>> metrics_of("odds.max")
    ('acc', 'odds.max')
    """
    names = [wanted] if isinstance(wanted, str) else list(wanted) if isinstance(wanted, Sequence) else None
    if names is None:
        raise InputError(f"metrics are keys such as 'tpr.gap', not {wanted!r}; see: evenhand list metrics")
    for name in names:
        if name in CATALOGUE and CATALOGUE[name].needs not in ("counts", "model"):
            raise InputError(
                f"'{name}' is not made of counts alone, and so not measured under shift; name a metric that "
                "is, such as 'tpr.gap' ('evenhand list metrics' tells what each needs)"
            )
    return tuple(dict.fromkeys([ACCURACY, *chosen_metrics(names, COUNT_METRICS)]))

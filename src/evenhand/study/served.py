"""What can only be checked with the data at hand: attributes, parts, networks, methods that cannot serve."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from evenhand.data.shift_registry import check_fits, find_shift
from evenhand.data.shifts import kind_of
from evenhand.data.task import Task
from evenhand.errors import InputError
from evenhand.methods.problem import Problem
from evenhand.nets.registry import NETS
from evenhand.study.library import find_study
from evenhand.study.method_limits import Place, place_of, serves
from evenhand.study.mistakes import Mistakes
from evenhand.study.number_names import NUMBERS_PART
from evenhand.study.read import read_with_lines
from evenhand.study.records import canonical
from evenhand.study.scoring import measured_rows
from evenhand.study.search import Setting, settings_of
from evenhand.study.served_groups import check_labels, has_attributes
from evenhand.study.shifted import names_of
from evenhand.study.smoke import LIMIT
from evenhand.study.spec import GroupingSpec, MethodSpec, NetEntry, ShiftSpec, Study, TaskSpec
from evenhand.study.tasks import data_checksum, load_method, look_at_task

TaskOf = Callable[[str, Mapping[str, Any]], Task]
ChecksumOf = Callable[[Task], str]
Limited = TypeVar("Limited", GroupingSpec, NetEntry, MethodSpec, ShiftSpec)

# The networks of a task for which the study names none. `evenhand.evaluation.defaults`, which knows more data
# sets, stands above the studies; a published study names its networks anyway.
DEFAULT_NETS = {"table": NetEntry("s4-mlp", "s4-mlp"), "image": NetEntry("convnet", "convnet")}


@dataclass(frozen=True)
class Facts:
    """What a task's data told: the checksum for each seed, the parts there are, a table or images."""

    checksums: Mapping[int, str]
    parts: tuple[str, ...]
    kind: str


def check_runs(study: Study, task_of: TaskOf | None = None) -> None:
    """Load every task of a study and refuse what its data, groups or methods cannot serve."""
    look_at_data(study, task_of, lambda task: "")


def look_at_data(
    study: Study, task_of: TaskOf | None = None, checksum_of: ChecksumOf | None = None
) -> dict[str, Facts]:
    """The facts of every task by its name; each (data, knobs) is loaded once, and let go of again."""
    load, checksum = task_of or look_at_task, checksum_of or data_checksum
    mistakes, known = lines_of(study), dict[str, str]()
    settings = {place_of(method): limited_settings(study, method) for method in study.methods}
    found: dict[str, Facts] = {}
    for spec in study.tasks:
        with mistakes.at(("task", spec.name)):
            found[spec.name] = _facts(study, spec, settings, load, checksum, known, mistakes)
    mistakes.raise_if_any()
    return found


def _facts(
    study: Study,
    spec: TaskSpec,
    settings: Mapping[Place, Sequence[Setting]],
    load: TaskOf,
    checksum: ChecksumOf,
    known: dict[str, str],
    mistakes: Mistakes,
) -> Facts:
    first = load(spec.data, knobs_of(spec, study.seeds[0]))
    kind = "image" if len(first.input_shape) == 3 else "table"
    _check_task(study, spec, first, kind, settings, mistakes)
    checksums = {}
    for seed in study.seeds:
        knobs = knobs_of(spec, seed)
        key = canonical([spec.data, knobs])
        if key not in known:
            known[key] = checksum(first if seed == study.seeds[0] else load(spec.data, knobs))
        checksums[seed] = known[key]
    return Facts(checksums, tuple(first.split), kind)


def _check_task(
    study: Study,
    spec: TaskSpec,
    task: Task,
    kind: str,
    settings: Mapping[Place, Sequence[Setting]],
    mistakes: Mistakes,
) -> None:
    _check_parts(study, spec, task, settings, mistakes)
    for net in serving(study.nets, spec.name):
        if kind not in NETS[net.net].inputs:
            told = f"the network '{net.net}' reads images, and the task '{spec.name}' is a table"
            mistakes.add(("net", net.name, "net"), f"{told}; limit it with tasks = [...]")
    for shift in serving(study.shifts, spec.name):
        groupings = serving(study.groupings, spec.name)
        _check_shift(shift, spec, task, [grouping.attributes for grouping in groupings], mistakes)
    for grouping in serving(study.groupings, spec.name):
        if has_attributes(task, spec, grouping, mistakes):
            check_labels(task, spec, grouping, mistakes)
            _check_methods(study, spec, task, grouping, settings, mistakes)


def _check_shift(
    shift: ShiftSpec, spec: TaskSpec, task: Task, groupings: Sequence[Sequence[str]], mistakes: Mistakes
) -> None:
    """Whether a shift means something for the inputs, and a group or column that it names is there."""
    place = ("shift", shift.name)
    try:
        check_fits(find_shift(shift.kind)[0], kind_of(task))
        if shift.part in task.split:
            for attributes in groupings:
                measured_rows(task, next(names_of(shift)), attributes)
    except InputError as error:
        told = f"it cannot serve the task '{spec.name}': {error}"
        mistakes.add((*place, "kind"), f"{told}; limit it with tasks = [...]")
    if shift.tasks and shift.part not in task.split:
        told = f"the task '{spec.name}' has no part '{shift.part}' (it has {', '.join(task.split)})"
        mistakes.add((*place, "part"), told)


def _check_methods(
    study: Study,
    spec: TaskSpec,
    task: Task,
    grouping: GroupingSpec,
    settings: Mapping[Place, Sequence[Setting]],
    mistakes: Mistakes,
) -> None:
    protecting = Problem.of(task, grouping.attributes)
    for method in (each for each in serving(study.methods, spec.name) if serves(each, grouping.name)):
        problem = Problem.of(task, ()) if method.once else protecting
        for setting in settings[place_of(method)]:
            try:
                load_method(method.key, setting.fields).check(problem)
            except InputError as error:
                told = f"it cannot serve the task '{spec.name}' by '{grouping.name}': {error}"
                mistakes.add(("method", method.name), told)
                break  # one setting tells it


def _check_parts(
    study: Study, spec: TaskSpec, task: Task, settings: Mapping[Place, Sequence[Setting]], mistakes: Mistakes
) -> None:
    """Parts that are measured, chosen on or stopped by must be there."""
    has = f"the task '{spec.name}' has no part"
    there = f"(it has {', '.join(task.split)})"
    methods = serving(study.methods, spec.name)
    choosing = [method.name for method in methods if len(settings[place_of(method)]) > 1]
    for part in dict.fromkeys((*study.parts, study.report.part)):
        if part in task.split:
            continue
        if part == study.selection.part and choosing:
            why = f"on which the settings of {', '.join(choosing)} are to be chosen {there}"
            mistakes.add(("task", spec.name), f"{has} '{part}', {why}{_remedy(part)}")
        elif part != "validation" or part == study.report.part:
            mistakes.add(("task", spec.name), f"{has} '{part}' {there}{_remedy(part)}")
    if study.numbers and NUMBERS_PART not in task.split:
        told = f"{has} '{NUMBERS_PART}' {there}, on which numbers are taken"
        mistakes.add(("task", spec.name), told)
    for recipe in _recipes(study, spec, settings):
        if "validation" not in task.split and (recipe.get("patience") or recipe.get("keep") == "best"):
            told = (
                f"{has} 'validation' {there}, which patience and keep = \"best\" need{_remedy('validation')}"
            )
            mistakes.add(("task", spec.name), told)
            break


def _remedy(part: str) -> str:
    return "; hold rows out with the knob validation = 0.2, say" if part == "validation" else ""


def _recipes(
    study: Study, spec: TaskSpec, settings: Mapping[Place, Sequence[Setting]]
) -> Iterator[dict[str, Any]]:
    for method in serving(study.methods, spec.name):
        for setting in settings[place_of(method)]:
            yield {**study.recipe, **spec.recipe, **setting.recipe}


def serving(entries: Sequence[Limited], task: str) -> list[Limited]:
    """The groupings, networks or methods that are for a task."""
    return [entry for entry in entries if not entry.tasks or task in entry.tasks]


def limited_settings(study: Study, method: MethodSpec) -> list[Setting]:
    """The settings of a method, at most as many as a smoke form allows."""
    return settings_of(method, study.search_seed)[: study.options.get(LIMIT)]


def knobs_of(spec: TaskSpec, seed: int) -> dict[str, Any]:
    """A task's knobs for a run: those that are seeded have its seed."""
    return {**spec.knobs, **dict.fromkeys(spec.seeded, seed)}


def lines_of(study: Study) -> Mistakes:
    """A place for mistakes that knows the lines of the file that a study came from, if it is still there."""
    try:
        mistakes = read_with_lines(find_study(study.source))[1] if study.source else Mistakes()
    except (InputError, OSError):
        return Mistakes()
    return Mistakes(mistakes.file, mistakes.lines, mistakes.blocks)

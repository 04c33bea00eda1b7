"""`expand`: a study as the runs it is made of, each with nothing left open and known by its identity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from evenhand import __version__
from evenhand.errors import InputError
from evenhand.nets.registry import NETS, NetSpec
from evenhand.study.names import complete
from evenhand.study.own import checksum_of_file
from evenhand.study.plain import plain
from evenhand.study.records import PlannedRun, RunSpec, identity
from evenhand.study.search import Setting
from evenhand.study.served import (
    DEFAULT_NETS,
    ChecksumOf,
    Facts,
    TaskOf,
    knobs_of,
    limited_settings,
    lines_of,
    look_at_data,
    serving,
)
from evenhand.study.shifted import names_of
from evenhand.study.spec import GroupingSpec, MethodSpec, NetEntry, Study, TaskSpec
from evenhand.study.tasks import TABLE, load_method
from evenhand.study.validate import find_mistakes
from evenhand.train.recipe import Recipe


@dataclass(frozen=True)
class Expanded:
    """The runs of a study in its order, and notes on what was left out because it was there already."""

    runs: list[PlannedRun]
    notes: tuple[str, ...] = ()


def expand(
    study: Study,
    version: str | None = None,
    task_of: TaskOf | None = None,
    checksum_of: ChecksumOf | None = None,
) -> list[PlannedRun]:
    """All runs by task, grouping, network, method, setting and seed, after every check of the study.

    >>> from evenhand.study.spec import GroupingSpec, MethodSpec, TaskSpec
    >>> study = Study("s", tasks=(TaskSpec("titanic"),), groupings=(GroupingSpec(("sex",)),), parts=("test",),
    ...               methods=(MethodSpec("erm"), MethodSpec("gdro")), seeds=(0, 1))
    >>> study = replace(study, selection=replace(study.selection, part="test"))
    >>> [(run.method, run.spec.seed, run.spec.fields) for run in expand(study)][:3]
    [('erm', 0, {}), ('erm', 1, {}), ('gdro', 0, {'eta': 0.01, 'adjustment': 0.0, 'by': 'label-group',
    'balanced': True})]
    """
    return expand_with_notes(study, version, task_of, checksum_of).runs


def expand_with_notes(
    study: Study,
    version: str | None = None,
    task_of: TaskOf | None = None,
    checksum_of: ChecksumOf | None = None,
) -> Expanded:
    """The runs, and what was the same twice: such a run is made once."""
    study = _checked(study)
    facts = look_at_data(study, task_of, checksum_of)
    runs: dict[str, PlannedRun] = {}
    twice: dict[tuple[str, str], int] = {}
    for run in _runs(study, facts, version or __version__):
        if run.id in runs:
            pair = (_called(run), _called(runs[run.id]))
            twice[pair] = twice.get(pair, 0) + 1
        else:
            runs[run.id] = replace(run, place=len(runs)) if run.place != len(runs) else run
    notes = tuple(
        f"{count} run{'s' if count > 1 else ''} of {later} would be the same as of {first} and are made once"
        for (later, first), count in twice.items()
    )
    return Expanded(list(runs.values()), notes)


def _checked(study: Study) -> Study:
    study, mistakes = complete(study), lines_of(study)
    if study.kind != "train":
        raise InputError(f"the study '{study.name}' is a {study.kind}: it has no runs to be trained")
    find_mistakes(replace(study, smoke=None), mistakes)
    mistakes.raise_if_any()
    return study


def _called(run: PlannedRun) -> str:
    setting = ", ".join(f"{name}={value}" for name, value in run.setting.items())
    return f"{run.task} by {run.grouping}, {run.net}, {run.method}{f' ({setting})' if setting else ''}"


def _runs(study: Study, facts: Mapping[str, Facts], version: str) -> Iterator[PlannedRun]:
    """Every combination in the order of the study; what repeats is worked out once."""
    settings = {method.name: _complete_settings(study, method) for method in study.methods}
    place = 0
    for task in study.tasks:
        fact = facts[task.name]
        nets = serving(study.nets, task.name) or [DEFAULT_NETS[fact.kind]]
        parts = measured_parts(study, task, fact)
        knobs = {seed: knobs_of(task, seed) for seed in study.seeds}
        for grouping in serving(study.groupings, task.name):
            for net in nets:
                for method in serving(study.methods, task.name):
                    if not net.is_for(method.name):
                        continue
                    for setting in settings[method.name]:
                        common = _spec(study, task, grouping, net, method, setting, parts)
                        for seed in study.seeds:
                            spec = replace(common, seed=seed, knobs=knobs[seed])
                            checksum = fact.checksums[seed]
                            yield PlannedRun(
                                identity(spec, version, checksum), spec, task.name, grouping.name, net.name,
                                method.name, setting.varied, checksum, place,
                            )  # fmt: skip
                            place += 1


def measured_parts(study: Study, task: TaskSpec, fact: Facts) -> tuple[str, ...]:
    """The parts that runs on a task are measured on: those that it has, and these under the shifts."""
    there = [part for part in study.parts if part in fact.parts]
    shifts = [shift for shift in serving(study.shifts, task.name) if shift.part in there]
    return (*there, *(name for shift in shifts for name in names_of(shift)))


def _complete_settings(study: Study, method: MethodSpec) -> list[Setting]:
    """The settings with all fields of the method, also those that the study does not name."""
    found = []
    for setting in limited_settings(study, method):
        every = plain(asdict(load_method(method.key, setting.fields)))
        found.append(replace(setting, fields=every))
    return found


def _spec(
    study: Study,
    task: TaskSpec,
    grouping: GroupingSpec,
    net: NetEntry,
    method: MethodSpec,
    setting: Setting,
    parts: tuple[str, ...],
) -> RunSpec:
    """A specification but for its seed: the task's recipe goes over the study's, the method's over both."""
    options = {**NETS[net.net].options(), **dict(NetSpec(net.net, net.options).options)}
    return RunSpec(
        data=task.data,
        knobs=task.knobs,
        protect=grouping.attributes,
        net=net.net,
        net_options=plain(options),
        method=method.key,
        fields=setting.fields,
        recipe=_recipe({**study.recipe, **task.recipe, **setting.recipe}),
        seed=0,
        parts=parts,
        groupings=_measured_by(grouping),
        sources=_sources(task.data, method.key),
        numbers=study.numbers,
    )


def _recipe(values: Mapping[str, Any]) -> dict[str, Any]:
    """Every value of a recipe; 1 is 1.0 where a float is meant, so that equal recipes are equal runs."""
    recipe: dict[str, Any] = plain(asdict(Recipe.of(**values)))
    floats = {item.name for item in fields(Recipe) if isinstance(item.default, float)}
    return {name: float(value) if name in floats else value for name, value in recipe.items()}


def _measured_by(grouping: GroupingSpec) -> tuple[tuple[str, ...], ...]:
    """The groupings that a run is measured by: its own, those asked for, and each attribute by itself."""
    single = [(name,) for name in grouping.attributes] if len(grouping.attributes) > 1 else []
    return tuple(dict.fromkeys((grouping.attributes, *grouping.measure, *single)))


def _sources(data: str, method: str) -> dict[str, str]:
    """The user's own files that a run is made with, and their checksums; a table is told by its data."""
    own = [text.rpartition(":")[0] for text in (data, method) if ":" in text and not text.startswith(TABLE)]
    return {file: checksum_of_file(file) for file in own}

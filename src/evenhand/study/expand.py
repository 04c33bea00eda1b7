"""`expand`: a study as the runs it is made of, each with nothing left open and known by its identity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from evenhand import __version__
from evenhand.errors import InputError
from evenhand.nets.registry import NETS, NetSpec
from evenhand.study.expand_notes import notes_of
from evenhand.study.fit import numbered, varied_in
from evenhand.study.method_limits import place_of, serves
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
from evenhand.study.sharing import sharing_notes
from evenhand.study.shifted import names_of
from evenhand.study.spec import GroupingSpec, MethodSpec, NetEntry, Study, TaskSpec
from evenhand.study.standing import EVERY, Standing
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
    twice: list[tuple[PlannedRun, PlannedRun]] = []
    for run in _runs(study, facts, version or __version__):
        if run.id in runs:
            twice.append((run, runs[run.id]))
        else:
            runs[run.id] = replace(run, place=len(runs)) if run.place != len(runs) else run
    return Expanded(list(runs.values()), (*notes_of(twice), *sharing_notes(runs.values())))


def _checked(study: Study) -> Study:
    study, mistakes = complete(study), lines_of(study)
    if study.kind != "train":
        raise InputError(f"the study '{study.name}' is a {study.kind}: it has no runs to be trained")
    find_mistakes(replace(study, smoke=None), mistakes)
    mistakes.raise_if_any()
    return study


def _runs(study: Study, facts: Mapping[str, Facts], version: str) -> Iterator[PlannedRun]:
    """Every combination in the order of the study; what repeats is worked out once."""
    settings = {place_of(method): _complete_settings(study, method) for method in study.methods}
    standing = Standing(study.groupings, study.methods)
    place = 0
    for task in study.tasks:
        fact = facts[task.name]
        nets = serving(study.nets, task.name) or [DEFAULT_NETS[fact.kind]]
        parts = measured_parts(study, task, fact)
        knobs = {seed: knobs_of(task, seed) for seed in study.seeds}
        for grouping, net, method in _combined(study, standing, task.name, nets):
            for setting in settings[place_of(method)]:
                common = _spec(study, task, grouping, net, method, setting, parts)
                for seed, repeat in numbered(study):
                    spec = replace(common, seed=seed, knobs=knobs[seed], repeat=repeat)
                    checksum = fact.checksums[seed]
                    yield PlannedRun(
                        identity(spec, version, checksum), spec, task.name, grouping.name, net.name,
                        method.name, setting.varied, checksum, place,
                    )  # fmt: skip
                    place += 1


def _combined(
    study: Study, standing: Standing, task: str, nets: Sequence[NetEntry]
) -> Iterator[tuple[GroupingSpec, NetEntry, MethodSpec]]:
    """Groupings x networks x methods of a task; each grouping with all that its runs are measured by.

    What is trained once comes with the first grouping, protects nothing and stands for every one.
    """
    every = GroupingSpec((), EVERY, measure=standing.all_measured(task))
    for number, grouping in enumerate(standing.serving(task)):
        own, by = standing.attributes(grouping, task), standing.measured(grouping, task)
        for net in nets:
            for method in serving(study.methods, task):
                if not (serves(method, grouping.name) and net.is_for(method.name)):
                    continue
                if not method.once:
                    yield replace(grouping, attributes=own, measure=by), net, method
                elif number == 0:
                    yield every, net, method


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
    recipe = _recipe({**study.recipe, **task.recipe, **setting.recipe})
    return RunSpec(
        data=task.data,
        knobs=task.knobs,
        protect=grouping.attributes,
        net=net.net,
        net_options=plain(options),
        method=method.key,
        fields=setting.fields,
        recipe=recipe,
        seed=0,
        parts=parts,
        groupings=grouping.measure,
        sources=_sources(task.data, method.key),
        numbers=study.numbers,
        vary=varied_in(study.vary, recipe) if study.repeats else (),
    )


def _recipe(values: Mapping[str, Any]) -> dict[str, Any]:
    """Every value of a recipe; 1 is 1.0 where a float is meant, so that equal recipes are equal runs."""
    recipe: dict[str, Any] = plain(asdict(Recipe.of(**values)))
    floats = {item.name for item in fields(Recipe) if isinstance(item.default, float)}
    return {name: float(value) if name in floats else value for name, value in recipe.items()}


def _sources(data: str, method: str) -> dict[str, str]:
    """The user's own files that a run is made with, and their checksums; a table is told by its data."""
    own = [text.rpartition(":")[0] for text in (data, method) if ":" in text and not text.startswith(TABLE)]
    return {file: checksum_of_file(file) for file in own}

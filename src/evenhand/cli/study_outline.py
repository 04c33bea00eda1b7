"""A study as a readable outline: what will run, and how many runs that is; nothing is loaded or trained."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from evenhand.cli.study_repeats import repeated, shared

if TYPE_CHECKING:
    from evenhand.study.spec import GroupingSpec, MethodSpec, NetEntry, ShiftSpec, Study, TaskSpec

FEW = 8  # values that are written out


def task_name(task: TaskSpec) -> str:
    """What a task is called in tables."""
    return task.name or task.data


def for_task(entry: GroupingSpec | NetEntry | MethodSpec, task: TaskSpec) -> bool:
    """Whether a grouping, a network or a method is meant for a task; one that names none is for all."""
    return not entry.tasks or task_name(task) in entry.tasks


def number_of_settings(method: MethodSpec, most: int | None = None) -> int:
    """Points of the grid times points of the random search; at most so many where a small form says so.

    >>> from evenhand.study.spec import Grid, MethodSpec, Search
    >>> varied = {"eta": Grid((0.1, 1.0)), "adjustment": Search()}
    >>> number_of_settings(MethodSpec("gdro", fields=varied, draws=5))
    10
    """
    varied = varied_values(method).values()
    grids = [len(value.values) for value in varied if hasattr(value, "values")]
    searched = any(hasattr(value, "low") for value in varied)
    every = prod(grids) * (max(method.draws, 1) if searched else 1)
    return every if most is None else min(every, most)


def most_settings(study: Study) -> int | None:
    """The limit that a smoke form sets."""
    found = study.options.get("settings")
    return int(found) if found is not None else None


def varied_values(method: MethodSpec) -> dict[str, Any]:
    """The grids and searches among a method's fields and its part of the recipe."""
    everything = {**method.fields, **{f"recipe.{name}": value for name, value in method.recipe.items()}}
    return {name: value for name, value in everything.items() if is_varied(value)}


def is_varied(value: Any) -> bool:
    """Whether a value is a grid or a search; told by its parts, so that no study has to be imported."""
    return type(value).__name__ in ("Grid", "Search")


def number_of_runs(study: Study) -> int:
    """Tasks x groupings x networks x settings x seeds, before anything is loaded."""
    return sum(runs_of_task(study, task) for task in study.tasks)


def runs_of_task(study: Study, task: TaskSpec) -> int:
    """The runs on one task; without a network of its own it has the usual one. Equal ones are made once."""
    groupings = [grouping.name for grouping in study.groupings if for_task(grouping, task)]
    runs = {
        _trained_as(method, net): number_of_settings(method, most_settings(study))
        * _number_of_groupings(method, groupings)
        for method in study.methods
        if for_task(method, task)
        for net in _nets_of(study, task, method.name)
    }
    return sum(runs.values()) * len(study.seeds) * (study.repeats or 1)


def _trained_as(method: MethodSpec, net: NetEntry | None) -> str:
    """What tells one training from another, whatever method and network are called.

    In small, methods that differ in epochs alone are one.
    """
    own = (method.key, method.fields, method.recipe, method.draws, method.groupings, method.once)
    return repr((own, net and (net.net, net.options)))


def _number_of_groupings(method: MethodSpec, groupings: Sequence[str]) -> int:
    own = [name for name in groupings if not method.groupings or name in method.groupings]
    return min(len(own), 1) if method.once else len(own)


def _nets_of(study: Study, task: TaskSpec, method: str) -> list[NetEntry] | list[None]:
    """The networks that a method is trained with on a task; None for the usual one."""
    return [net for net in study.nets if for_task(net, task) and net.is_for(method)] if study.nets else [None]


def outline(study: Study) -> Iterator[tuple[str, list[str]]]:
    """Headings, each with its lines."""
    if study.tasks:
        yield "tasks", [_task(study, task) for task in study.tasks]
        yield "groupings", [_grouping(grouping) for grouping in study.groupings]
        yield (
            "networks",
            [_entry(n.name or n.net, n.net, n.options, n.tasks) for n in study.nets]
            or ["the usual one of each data set"],
        )
        yield "methods", [_method(method, most_settings(study)) for method in study.methods]
    if study.recipe:
        yield "recipe", [spelled(study.recipe)]
    if study.options:
        yield "options", [spelled(study.options)]
    if study.tasks:
        yield "seeds", [seeds_words(study.seeds)]
        yield from repeated(study)
        yield from _measured(study)
        yield "selection", [_selection(study)]
        yield (
            "shown",
            [f"{study.report.accuracy} and {', '.join(study.report.metrics)} on {study.report.part}"],
        )
        yield "runs", [f"{number_of_runs(study):,} in all"]
        yield from shared(study)


def _measured(study: Study) -> Iterator[tuple[str, list[str]]]:
    """What every run is measured under beside its parts as they are, and the numbers that are taken."""
    if study.shifts:
        yield "shifts", [_shift(shift) for shift in study.shifts]
    if study.numbers:
        yield "numbers", [f"{', '.join(study.numbers)} of every trained model"]


def _shift(shift: ShiftSpec) -> str:
    sizes = ", ".join(f"{severity:g}" for severity in shift.severities) or "of its usual severities"
    told = [f"{shift.kind} {sizes} on {shift.part}", f"{shift.draws} draw{'s' if shift.draws > 1 else ''}"]
    return "; ".join([*told, *([f"only {', '.join(shift.tasks)}"] if shift.tasks else [])])


def seeds_words(seeds: Sequence[int]) -> str:
    """Seeds, short.

    >>> seeds_words(range(16)), seeds_words((3, 7))
    ('16: 0 to 15', '2: 3, 7')
    """
    row = list(seeds) == list(range(seeds[0], seeds[0] + len(seeds))) if seeds else False
    told = f"{seeds[0]} to {seeds[-1]}" if row and len(seeds) > 2 else ", ".join(map(str, seeds))
    return f"{len(seeds)}: {told}"


def spelled(values: Mapping[str, Any]) -> str:
    """Values by name in a line, as TOML would have them.

    >>> spelled({"epochs": 3, "widths": (64, 32), "keep": "best"})
    'epochs = 3, widths = [64, 32], keep = "best"'
    """
    return ", ".join(f"{name} = {value_words(value)}" for name, value in values.items())


def value_words(value: Any) -> str:
    """A fixed value, the values of a grid, or the bounds of a search."""
    kind = type(value).__name__
    if kind == "Grid":
        shown = [value_words(part) for part in value.values[:FEW]]
        more = [f"... {len(value.values)} in all"] if len(value.values) > FEW else []
        return f"one of {', '.join([*shown, *more])}"
    if kind == "Search":
        bounds = "its usual range" if value.low is None else f"{value.low:g} to {value.high:g}"
        return f"drawn from {bounds}{', log' if value.log else ''}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(value_words(part) for part in value)}]"
    return (
        f'"{value}"'
        if isinstance(value, str)
        else str(value).lower()
        if isinstance(value, bool)
        else str(value)
    )


def _task(study: Study, task: TaskSpec) -> str:
    seeded = [f"{', '.join(task.seeded)} as the run's seed"] if task.seeded else []
    own = [f"recipe: {spelled(task.recipe)}"] if task.recipe else []
    told = [_entry(task_name(task), task.data, task.knobs, ()), *seeded, *own]
    return "; ".join([*told, f"{runs_of_task(study, task):,} runs"])


def _entry(name: str, what: str, values: Mapping[str, Any], tasks: Sequence[str], after: str = "") -> str:
    told = [f"{name} ({what})" if name != what else name]
    told += [spelled(values)] if values else []
    told += [f"only {', '.join(tasks)}"] if tasks else []
    return "; ".join([*told, *([after] if after else [])])


def _grouping(grouping: GroupingSpec) -> str:
    crossed = " × ".join(grouping.attributes) or "everybody"
    told = [f"{grouping.name} ({crossed})" if grouping.name not in ("", crossed) else crossed]
    measured = [" × ".join(names) for names in grouping.measure]
    told += [f"measured by {', '.join(measured)} too"] if measured else []
    return "; ".join([*told, *([f"only {', '.join(grouping.tasks)}"] if grouping.tasks else [])])


def _method(method: MethodSpec, most: int | None) -> str:
    settings = number_of_settings(method, most)
    values = {**method.fields, **{f"recipe.{name}": value for name, value in method.recipe.items()}}
    count = f"{settings} settings" if settings > 1 else "1 setting"
    count += ", trained once for all groupings" if method.once else ""
    count += f", by {', '.join(method.groupings)}" if method.groupings else ""
    return _entry(method.name or method.key, method.key, values, method.tasks, count)


def _selection(study: Study) -> str:
    chosen = study.selection
    oracle = " (an oracle: it looks at the test rows)" if chosen.part == "test" else ""
    return f"{chosen.rule} by {chosen.metric} on {chosen.part}{oracle}"

"""Which groupings of a study a run stands for: one training, and a row of the tables for each of them.

A method that is trained once (`once = true`) knows no groups: its runs stand in the problems of every
grouping that serves their task. Where two groupings have the same attributes, in whatever order, the runs of
the first stand for the second as well. Tables, selection and statistics see a row for each; what is counted
as trained, and what it cost, is counted once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.study.names import grouping_name, method_name
from evenhand.study.spec import GroupingSpec, MethodSpec

EVERY = "every grouping"  # what a run is called by that stands for all of them
Attributes = tuple[str, ...]


@dataclass(frozen=True)
class Stand:
    """A grouping that a run stands for, and its attributes in the order in which the run is measured.

    `measured` are the groupings that a run of its own would be measured by.
    """

    grouping: str
    attributes: Attributes
    measured: tuple[Attributes, ...]


class Standing:
    """What the runs of a study stand for, by task, grouping and method.

    >>> lists = {"mine": ("a", "b"), "theirs": ("b", "a"), "c": ("c",)}
    >>> groupings = [GroupingSpec(names, name) for name, names in lists.items()]
    >>> standing = Standing(groupings, [MethodSpec("erm", "erm", once=True), MethodSpec("gdro", "gdro")])
    >>> [stand.grouping for stand in standing.of("faces", "mine", "gdro")]
    ['mine', 'theirs']
    >>> [(stand.grouping, stand.attributes) for stand in standing.of("faces", EVERY, "erm")][1:]
    [('theirs', ('a', 'b')), ('c', ('c',))]
    """

    def __init__(self, groupings: Sequence[GroupingSpec], methods: Sequence[MethodSpec] = ()) -> None:
        self.groupings, self._methods = list(groupings), list(methods)
        self.once = frozenset(method.name for method in methods if method.once)
        self._known: dict[tuple[str, str, str], tuple[Stand, ...]] = {}

    @classmethod
    def of_study(cls, study: Mapping[str, Any]) -> Standing:
        """Of a study as a store keeps it; one that declares no groupings has none that stand for others."""
        groupings = [_grouping(entry) for entry in study.get("groupings") or ()]
        return cls(groupings, [_method(entry) for entry in study.get("methods") or ()])

    def of(self, task: str, grouping: str, method: str) -> tuple[Stand, ...]:
        """What a run stands for, in the order of the study; nothing where its grouping is not known."""
        key = (task, grouping, method)
        if key not in self._known:
            here, limit = self.serving(task), self._limit(task, method)
            alike = {g.name for g in here if method in self.once or _same(g, grouping, here)}
            names = {name for name in alike if limit is None or name in limit}
            self._known[key] = tuple(
                Stand(g.name, self.attributes(g, task), self.measured(g, task))
                for g in here
                if g.name in names
            )
        return self._known[key]

    def _limit(self, task: str, method: str) -> Collection[str] | None:
        """The groupings that a method is for on a task; None: all."""
        mine = [m for m in self._methods if m.name == method and task in (m.tasks or (task,))]
        free = not mine or any(not m.groupings for m in mine)
        return None if free else {name for m in mine for name in m.groupings}

    def serving(self, task: str) -> list[GroupingSpec]:
        """The groupings that are for a task."""
        return [grouping for grouping in self.groupings if not grouping.tasks or task in grouping.tasks]

    def attributes(self, grouping: GroupingSpec, task: str) -> Attributes:
        """The attributes of a grouping, in the order of the first that has the same ones."""
        return next(g.attributes for g in self.serving(task) if _content(g) == _content(grouping))

    def measured(self, grouping: GroupingSpec, task: str) -> tuple[Attributes, ...]:
        """What a run is measured by: its groups, those asked for, and each attribute by itself."""
        own = self.attributes(grouping, task)
        single = [(name,) for name in own] if len(own) > 1 else []
        return tuple(dict.fromkeys((own, *grouping.measure, *single)))

    def all_measured(self, task: str) -> tuple[Attributes, ...]:
        """What a run that stands for every grouping of a task is measured by."""
        return tuple(dict.fromkeys(by for g in self.serving(task) for by in self.measured(g, task)))


def _content(grouping: GroupingSpec) -> tuple[frozenset[str], tuple[Attributes, ...]]:
    return frozenset(grouping.attributes), grouping.measure


def _same(grouping: GroupingSpec, name: str, among: Iterable[GroupingSpec]) -> bool:
    return any(other.name == name and _content(other) == _content(grouping) for other in among)


def _method(entry: Mapping[str, Any]) -> MethodSpec:
    """What matters here of a method."""
    tasks, groupings = (tuple(entry.get(name) or ()) for name in ("tasks", "groupings"))
    name = entry.get("name") or method_name(entry["key"])
    return MethodSpec(entry["key"], name, tasks=tasks, once=bool(entry.get("once")), groupings=groupings)


def _grouping(entry: Mapping[str, Any]) -> GroupingSpec:
    attributes = tuple(entry.get("attributes") or ())
    return GroupingSpec(
        attributes,
        entry.get("name") or grouping_name(attributes),
        tuple(entry.get("tasks") or ()),
        tuple(map(tuple, entry.get("measure") or ())),
    )

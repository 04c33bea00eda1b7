"""The rows of a frame: one for each run and each grouping that it stands for, and how each is measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from evenhand.arrays import Array
from evenhand.study.names import grouping_name, method_name, task_name
from evenhand.study.standing import Standing

Columns = dict[str, list[Any]]


@dataclass(frozen=True)
class Place:
    """A row: a run by its number in the table, a grouping that it stands for, and how it is measured there.

    `measured` are the groupings that it may be asked for by; None: by all that the run was measured by.
    """

    run: int
    grouping: str
    attributes: tuple[str, ...]
    measured: frozenset[str] | None = None

    @cached_property
    def own(self) -> str:
        """The grouping that it is measured by unless another is asked for."""
        return grouping_name(self.attributes)


@dataclass(frozen=True, eq=False)
class Rows:
    """The columns of a store's table with a row for each (run, grouping), and the places of these rows.

    The column `protect` has the attributes of a row's grouping, also where the run itself protects none.
    `dropped` are labels that take no part in a row, because its grouping protects them; `trained` marks the
    first row of each run.
    """

    columns: Columns
    places: list[Place]
    dropped: list[tuple[str, ...]]
    trained: Array

    @cached_property
    def of_run(self) -> dict[str, list[int]]:
        """The rows of each run."""
        found: dict[str, list[int]] = {}
        for row, run in enumerate(self.columns["id"]):
            found.setdefault(run, []).append(row)
        return found


def rows_of(table: Mapping[str, Sequence[Any]], study: Mapping[str, Any]) -> Rows:
    """The rows of a table of runs in the order of the study, each run once for all that it stands for."""
    order = sorted(range(len(table["id"])), key=lambda run: table["place"][run])
    places = _places(table, order, Standing.of_study(study))
    if len(places) > len(order):  # what stands for several groupings is put among what stands for one
        places.sort(key=_in_order(table, study))
    columns = {name: [values[place.run] for place in places] for name, values in table.items()}
    columns["grouping"] = [place.grouping for place in places]
    columns["protect"] = [place.attributes for place in places]
    number_repeats(columns)
    dropping = {_name(task, task_name) for task in study.get("tasks") or () if task.get("drop_protected")}
    both = zip(columns["task"], columns["protect"], strict=True)
    dropped = [protect if task in dropping else () for task, protect in both]
    runs = np.array([place.run for place in places], dtype=np.int64)
    trained = np.zeros(len(places), dtype=bool)
    trained[np.unique(runs, return_index=True)[1]] = True
    return Rows(columns, places, dropped, trained)


def number_repeats(columns: Columns) -> None:
    """Identical runs are runs as those of several seeds are: their numbers stand in the place of seeds.

    The column `repeat` has the number of each, and None for a run that has no others like it.
    """
    repeats = [spec.get("repeat") for spec in columns["spec"]]
    pairs = zip(repeats, columns["seed"], strict=True)
    columns["seed"] = [seed if repeat is None else repeat for repeat, seed in pairs]
    columns["repeat"] = repeats


def _places(table: Mapping[str, Sequence[Any]], order: Sequence[int], standing: Standing) -> list[Place]:
    """Every run with each grouping that it stands for; a grouping with runs of its own needs no others."""
    names = ("task", "grouping", "method")
    taken = set(zip(*(table[name] for name in names), strict=True))
    found: list[Place] = []
    for run in order:
        task, grouping, method = (table[name][run] for name in names)
        stands = standing.of(task, grouping, method)
        if method in standing.once:
            found += [Place(run, s.grouping, s.attributes, frozenset(map(grouping_name, s.measured)))
                      for s in stands]  # fmt: skip
            continue
        own = tuple(table["spec"][run]["protect"])
        others = [s.grouping for s in stands if (task, s.grouping, method) not in taken]
        found += [Place(run, name, own) for name in (grouping, *others)]
    return found


def _in_order(table: Mapping[str, Sequence[Any]], study: Mapping[str, Any]) -> Any:
    """By task, grouping, network and method as the study declares them, then by the run's own place."""
    called = {
        "task": [_name(entry, task_name) for entry in study.get("tasks") or ()],
        "grouping": [grouping.name for grouping in Standing.of_study(study).groupings],
        "net": [entry.get("name") or entry["net"] for entry in study.get("nets") or ()],
        "method": [_name(entry, method_name) for entry in study.get("methods") or ()],
    }
    numbers = {
        block: {name: number for number, name in reversed(list(enumerate(names)))}
        for block, names in called.items()
    }

    def key(place: Place) -> tuple[int, ...]:
        names = {block: table[block][place.run] for block in numbers} | {"grouping": place.grouping}
        return (*(numbers[block].get(name, len(numbers[block])) for block, name in names.items()), place.run)

    return key


def _name(entry: Mapping[str, Any], made: Any) -> str:
    return str(entry.get("name") or made(entry.get("data") or entry.get("key") or ""))

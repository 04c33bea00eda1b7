"""A study as JSON values and back: what the store keeps and what a report shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from evenhand.study.spec import (
    Grid,
    GroupingSpec,
    MethodSpec,
    NetEntry,
    ReportSpec,
    Search,
    SelectionSpec,
    ShiftSpec,
    Study,
    TaskSpec,
)

GRID, SEARCH = "grid", "search"
_LISTS = {
    "tasks": TaskSpec, "groupings": GroupingSpec, "nets": NetEntry, "methods": MethodSpec,
    "shifts": ShiftSpec,
}  # fmt: skip
_TABLES = {"selection": SelectionSpec, "report": ReportSpec}
# left out where empty, as in what was stored before
_LATER = ("shifts", "numbers", "repeats", "vary", "predictions")
_SWITCHES = {"methods": ("once", "groupings"), "tasks": ("drop_protected",)}  # the same, of entries of a list


def study_to_dict(study: Study) -> dict[str, Any]:
    """The study as JSON values; a grid is {"grid": [...]}, a search {"search": {...}}, smoke is nested.

    >>> study = Study("s", methods=(MethodSpec("gdro", fields={"eta": Grid((0.1, 1.0))}),))
    >>> study_to_dict(study)["methods"][0]["fields"]
    {'eta': {'grid': [0.1, 1.0]}}
    >>> study_from_dict(study_to_dict(study)) == study
    True
    """
    found: dict[str, Any] = plain(study)
    for block, switches in _SWITCHES.items():
        found[block] = [{k: v for k, v in entry.items() if v or k not in switches} for entry in found[block]]
    small = {} if study.smoke is None else {"smoke": study_to_dict(study.smoke)}
    return {name: value for name, value in {**found, **small}.items() if value or name not in _LATER}


def study_from_dict(values: Mapping[str, Any]) -> Study:
    """The study again; what an older version did not write has its default."""
    made: dict[str, Any] = {
        name: tuple(_record(kind, each) for each in values[name])
        for name, kind in _LISTS.items()
        if name in values
    }
    made |= {name: _record(kind, values[name]) for name, kind in _TABLES.items() if name in values}
    if values.get("smoke") is not None:
        made["smoke"] = study_from_dict(values["smoke"])
    rest = {name: value for name, value in values.items() if name not in made}
    study: Study = _record(Study, {**rest, **made})
    return study


def plain(value: Any) -> Any:
    """A value as JSON has it: tuples are lists, numbers of numpy Python's, records dictionaries.

    >>> plain({"betas": (0.9, 0.999), "rate": Search(low=0.1, high=1.0)})
    {'betas': [0.9, 0.999], 'rate': {'search': {'low': 0.1, 'high': 1.0, 'log': None}}}
    """
    if isinstance(value, Grid):
        return {GRID: [plain(each) for each in value.values]}
    if isinstance(value, Search):
        return {SEARCH: dict(vars(value))}
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if hasattr(value, "__dataclass_fields__"):
        return {item.name: plain(getattr(value, item.name)) for item in fields(value)}
    return value.item() if getattr(value, "ndim", None) == 0 and hasattr(value, "item") else value


def _record(kind: Any, values: Mapping[str, Any]) -> Any:
    """A record of a study from its values: lists are tuples where the record has tuples."""
    found = {}
    for item in fields(kind):
        if item.name not in values:
            continue
        value = values[item.name]
        if str(item.type).startswith("tuple"):
            value = tuple(tuple(each) if isinstance(each, list) else each for each in value)
        elif kind is MethodSpec and item.name in ("fields", "recipe"):
            value = {name: _varied(each) for name, each in value.items()}
        found[item.name] = value
    return kind(**found)


def _varied(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    return Grid(tuple(value[GRID])) if GRID in value else Search(**value[SEARCH])

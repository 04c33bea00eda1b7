"""Mean, deviation and range over seeds of every number that the page of hair-colour shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evenhand.evaluation.hair_colour.layout import CHANGES
from evenhand.evaluation.study.run_spread import run_spread

Json = Mapping[str, Any]
Lines = Iterator[dict[str, Any]]
RATES = {key: f"{told[0].upper()}{told[1:]}" for key, told in CHANGES.items()}  # shares: 1 is twice the rate
GROUPS = {"accuracy": "Top-1", "cev_norm": "CEV norm.", "sde_norm": "SDE norm.", **RATES}
CHANCE = {"cev": "CEV, raw", "sde": "SDE, raw", "ahead": "Accuracy less complement's"}
BEYOND = {"cev": "CEV beyond complement's", "sde": "SDE beyond complement's"}
ALL_ROWS, ALL_CLASSES = "all rows", "all classes"


def spread_lines(whole: Json, groups: Sequence[Json], classes: Sequence[str]) -> dict[str, list[Any]]:
    """Lines by where the page shows them: Table 4, what is set against chance, and each class."""
    everyone = run_spread(_place(ALL_ROWS), GROUPS["accuracy"], whole["runs"])
    return {
        "groups": [everyone, *(line for row in groups for line in _values(row, row, GROUPS))],
        "chance": [line for row in groups for line in _beside_chance(row)],
        "classes": [line for row in groups for line in _classes(row, classes)],
    }


def _values(row: Json, found: Json, names: Mapping[str, str]) -> Lines:
    for key, name in names.items():
        yield run_spread(_place(row["name"]), name, found[key]["runs"])


def _beside_chance(row: Json) -> Lines:
    yield from _values(row, row, CHANCE)
    yield from _values(row, {key: row[key]["beyond_complement"] for key in BEYOND}, BEYOND)


def _classes(row: Json, classes: Sequence[str]) -> Lines:
    for key, name in RATES.items():
        for own, found in zip(classes, row["classes"][key], strict=True):
            yield run_spread(_place(row["name"], own), name, found["runs"])


def _place(subgroup: str, of_class: str = ALL_CLASSES) -> dict[str, str]:
    return {"subgroup": subgroup, "class": of_class}

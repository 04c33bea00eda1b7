"""The techniques by name: found, listed, and put together where they are one training."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.errors import InputError
from evenhand.methods.registry import method_of
from evenhand.methods.technique import Technique
from evenhand.methods.technique_table import TABLE
from evenhand.nets.names import no_such

__all__ = ["TECHNIQUES", "Technique", "find_technique", "shared_training", "technique_rows"]

TECHNIQUES: dict[str, Technique] = {technique.name: technique for technique in TABLE}


def find_technique(name: str) -> Technique:
    """The technique of that name; what is misspelt is told with the nearest.

    >>> find_technique("S-UC").key
    'a-cens'
    >>> find_technique("S-DD5")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    evenhand.errors.InputError: there is no technique 'S-DD5'; did you mean 'S-DD4' or 'S-DD3' or ...
    """
    known = {key.lower(): technique for key, technique in TECHNIQUES.items()}
    if name.lower() not in known:
        raise InputError(no_such("there is no technique", name.upper(), TECHNIQUES, "There are"))
    return known[name.lower()]


def shared_training(technique: Technique) -> tuple[str, ...]:
    """The techniques that this one shares one trained network with; nothing where it has one of its own.

    They differ in how the network is read alone: `Method.trains_as`.

    >>> shared_training(TECHNIQUES["S-DI1"])
    ('S-DI1', 'S-DI2')
    """
    alike = tuple(name for name, other in TECHNIQUES.items() if _trained(other) == _trained(technique))
    return alike if len(alike) > 1 else ()


def _trained(technique: Technique) -> tuple[Any, ...]:
    made = method_of(technique.key, **technique.fields).trains_as()
    return technique.family, type(made), made, dict(technique.recipe)


def technique_rows() -> Iterator[dict[str, Any]]:
    """What a listing says of each, as JSON has it."""
    for technique in TECHNIQUES.values():
        yield technique_row(technique)


def technique_row(technique: Technique) -> dict[str, Any]:
    """One technique, every value of it.

    >>> row = technique_row(TECHNIQUES["A-L2"])
    >>> row["method"], row["fields"]["lam"], row["published"], row["data"]
    ('gap', 0.1, {'lam': 20.0}, 'celeba')
    """
    return {
        "name": technique.name,
        "family": technique.family,
        "base": technique.base,
        "method": technique.key,
        "fields": dict(technique.fields),
        "recipe": {
            key: list(value) if isinstance(value, tuple) else value for key, value in technique.recipe.items()
        },
        "data": technique.data,
        "net": technique.net,
        "shared": list(shared_training(technique)),
        "published": dict(technique.published),
        "about": technique.about,
    }

"""Levels: a field that a study varies to ask about every value of it, and that is not tuned.

How much is pruned in the studies of compression. Their page in the shape of the paper reports every level;
the report that all studies have shows one setting of each method, and has to say which of many, and why.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.evaluation.study.papers import PAGE, level_field
from evenhand.study.frame import Frame

Values = list[Any]


def levels_of(study: Mapping[str, Any]) -> tuple[str, Values]:
    """The field that holds levels, and its values; ("", []) where settings are tuned or nothing is varied.

    >>> grid = {"fields": {"share": {"grid": [0.45, 0.7]}, "every": 1}}
    >>> levels_of({"name": "compression-mine", "methods": [{"fields": {}}, grid]})
    ('share', [0.45, 0.7])
    >>> levels_of({"name": "first-look", "methods": [grid]})
    ('', [])
    """
    field = level_field(str(study.get("name", "")), study.get("claims") or ())
    varied = [found for method in study.get("methods") or () for found in _varied(method)]
    if not field or not varied or any(name != field for name, _ in varied):
        return "", []
    return field, list(dict.fromkeys(value for _, values in varied for value in values))


def _varied(method: Mapping[str, Any]) -> list[tuple[str, Values]]:
    """Fields and parts of the recipe that have several values; a search has none that are known."""
    everything = {**(method.get("fields") or {}), **(method.get("recipe") or {})}
    found = [(name, value) for name, value in everything.items() if isinstance(value, Mapping)]
    return [(name, value.get("grid") or []) for name, value in found]


def level_words(study: Mapping[str, Any]) -> str:
    """That there are levels, and where all of them are; nothing where there are none.

    >>> methods = [{"fields": {"share": {"grid": [0.4, 0.8]}}}]
    >>> level_words({"name": "compression-x", "methods": methods}).split(": ")[0]
    'share (0.4, 0.8) is a level of this study and was not tuned'
    """
    field, values = levels_of(study)
    if not field:
        return ""
    named = ", ".join(map(str, values))
    return (
        f"{field} ({named}) is a level of this study and was not tuned: this report shows one level of each "
        f"method, and {PAGE} all of them"
    )


def same_at_each_level(frame: Frame) -> bool:
    """Whether every setting of every method has equally many runs: then no method had a larger budget."""
    return len({len(candidate.rows) for candidate in frame.layout.candidates}) == 1

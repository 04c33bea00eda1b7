"""What must be known before the page of a study is read: runs are missing, or small and judge nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any

Json = Mapping[str, Any]
SMALL = "These are runs in small: they show that it runs, and tell nothing."
NOT_JUDGED = "not judged"  # in the place of a verdict
UNJUDGED = "These are runs in small: no claim of the paper is judged by them, and no question is answered."
Told = Callable[[Json], list[str]]


def unfinished(study: Json) -> str:
    """What must be said of a store that lacks runs; nothing of a whole one.

    >>> unfinished({"name": "s", "done": 1, "planned": 3}), unfinished({"name": "s", "done": 3, "planned": 3})
    ('Not everything of s was run, and what follows may change.', '')
    """
    if study["done"] == study["planned"]:
        return ""
    return f"Not everything of {study['name']} was run, and what follows may change."


def warned(studies: Sequence[Json]) -> str:
    """The same of all studies of a page, and whether any of them was run in small.

    >>> warned([{"name": "s", "done": 3, "planned": 3, "small": True}]) == SMALL
    True
    """
    small = SMALL if any(study["small"] for study in studies) else ""
    return " ".join(filter(None, [*(unfinished(study) for study in studies), small]))


def unless_small(tell: Told) -> Told:
    """What tells the findings of a study, which of runs in small tells that there are none.

    >>> said = unless_small(lambda study: ["It holds."])
    >>> said({"small": False}), said({"small": True}) == [UNJUDGED]
    (['It holds.'], True)
    """

    @wraps(tell)
    def told(study: Json) -> list[str]:
        return [UNJUDGED] if study.get("small") else tell(study)

    return told

"""The sets of techniques of several studies, one after the other, each with what it is called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.report.fixed_seed_origin import ours

Json = Mapping[str, Any]


def sets_of(body: Json) -> list[tuple[str, Json, Json]]:
    """(what a page calls it, its study, the set); a single set needs no name.

    >>> sets = [{"name": "", "origin": {"A-Base": {"data": "Adult"}}}, {"name": "mixing 0"}]
    >>> two = {"name": "s", "sets": sets}
    >>> [title for title, *_ in sets_of({"studies": [two]})]
    ['Adult', 'mixing 0']
    >>> [title for title, *_ in sets_of({"studies": [two, {"name": "t", "sets": [{"name": ""}]}]})]
    ['s: Adult', 's: mixing 0', 't']
    """
    found = []
    for study in body["studies"]:
        named = [study["name"]] if len(body["studies"]) > 1 else []
        for one in study["sets"]:
            own = one["name"] or (ours(one) if len(study["sets"]) > 1 else "")
            found.append((": ".join(filter(None, [*named, own])), study, one))
    return found if len(found) > 1 else [("", study, one) for _, study, one in found]

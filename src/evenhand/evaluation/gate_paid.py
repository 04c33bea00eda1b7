"""Gates on who paid: `paid.classes>0`, `paid.groups>0`, `paid.cells>0`, `paid.worst>0.05`.

- `paid.classes`, `paid.groups`, `paid.cells` (classes within groups): how many are shown to have paid;
- `paid.worst`: the largest loss among all of these, as a positive share of rows; 0 where none is shown.

Where nothing could be tested there is no number, which fails a gate: who was not looked at is not cleared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Json = Mapping[str, Any]
KINDS = ("classes", "groups", "cells")
WORST = "paid.worst"
PAID_KEYS = (*(f"paid.{kind}" for kind in KINDS), WORST)
NO_GROUPS = "there are no groups; name a group column"
TOO_MANY = "there are too many classes within groups to test each"
TOO_SMALL = "none of the {} has enough rows to be tested"


def paid_number(key: str, paid: Json) -> tuple[float | None, str]:
    """The number that a key of `PAID_KEYS` names, of one alternative; and why there is none.

    >>> cat = {"name": "cat", "difference": -0.2, "p": 0.001, "verdict": "paid"}
    >>> dog = {"name": "dog", "difference": -0.1, "p": 0.4, "verdict": "not shown"}
    >>> paid = {"classes": [cat, dog], "groups": []}
    >>> paid_number("paid.classes", paid), paid_number("paid.worst", paid)
    ((1, ''), (0.2, ''))
    >>> paid_number("paid.groups", paid)
    (None, 'there are no groups; name a group column')
    """
    kinds = KINDS if key == WORST else (key.removeprefix("paid."),)
    tested = [one for kind in kinds for one in paid.get(kind) or () if _is_number(one["p"])]
    if not tested:
        return None, _why_untested(kinds, paid)
    losses = [-one["difference"] for one in tested if one["verdict"] == "paid"]
    return max(losses, default=0.0) if key == WORST else len(losses), ""


def _is_number(p: float | None) -> bool:
    return p is not None and p == p


def _why_untested(kinds: Sequence[str], paid: Json) -> str:
    if any(paid.get(kind) for kind in kinds):
        return TOO_SMALL.format("classes within groups" if kinds == ("cells",) else kinds[0])
    return TOO_MANY if kinds == ("cells",) and paid.get("groups") else NO_GROUPS


__all__ = ["PAID_KEYS", "paid_number"]

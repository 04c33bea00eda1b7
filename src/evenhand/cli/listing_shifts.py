"""`evenhand list shifts`: what can happen to test data, to which, and how strongly."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenhand.cli.listing_parts import AsJson, print_entry, print_json, print_table

if TYPE_CHECKING:
    from evenhand.data.shift_registry import Shift

ShiftKey = Annotated[
    str | None, typer.Argument(metavar="[KEY]", help="One shift, with formula and severities.")
]


def shifts(key: ShiftKey = None, json: AsJson = False) -> None:
    """The distribution shifts: what each acts on, its standard severities and their unit."""
    from evenhand.data.shift_registry import SHIFTS, find_shift

    if key is not None:
        shift, _ = find_shift(key)
        print_json(_fields(shift)) if json else _print_shift(shift)
    elif json:
        print_json([_fields(shift) for shift in SHIFTS.values()])
    else:
        rows = [{**_fields(shift), **_spelled(shift)} for shift in SHIFTS.values()]
        print_table(rows, ("key", "title", "acts on", "fits", "severities", "unit"))


def _spelled(shift: Shift) -> dict[str, str]:
    return {
        "acts on": shift.acts_on,
        "fits": ", ".join(shift.fits),
        "severities": " ".join(f"{value:g}" for value in shift.severities),
    }


def _print_shift(shift: Shift) -> None:
    top = {"greatest severity": f"{shift.most:g}"} if shift.most < float("inf") else {}
    choice = {"may choose": f"{shift.key}:NAME, {shift.chooses}"} if shift.chooses else {}
    random = {"random": "yes" if shift.random else "no: the same for every seed"}
    facts = {"title": shift.title, "does": shift.words, **_spelled(shift), "unit": shift.unit}
    print_entry(shift.key, {**facts, **top, **random, **choice})


def _fields(shift: Shift) -> dict[str, Any]:
    return {**asdict(shift), "most": shift.most if shift.most < float("inf") else None}

"""`evenhand list techniques`: the configurations that a paper named, as methods of ours with its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from evenhand.cli.listing_parts import AsJson, print_entry, print_json, print_table

TechniqueName = Annotated[
    str | None, typer.Argument(metavar="[NAME]", help="One technique, with all of its values.")
]


def techniques(name: TechniqueName = None, json: AsJson = False) -> None:
    """The 27 techniques of S0: method, fields, which of them are one training, and the paper's data."""
    from evenhand.methods.techniques import find_technique, technique_row, technique_rows

    if name is not None:
        row = technique_row(find_technique(name))
        print_json(row) if json else _print_technique(row)
        return
    rows = list(technique_rows())
    if json:
        print_json(rows)
        return
    shown = [
        {**row, "technique": row["name"], "fields": _values(row["fields"]), "one training": _shared(row)}
        for row in rows
    ]
    print_table(shown, ("technique", "method", "fields", "one training", "data"))
    typer.echo('in a study file: [[method]] technique = "S-UC"; values beside it go over its own')


def _print_technique(row: Mapping[str, Any]) -> None:
    facts = {
        "about": row["about"],
        "method": row["method"],
        "fields": _values(row["fields"]) or "none",
        "recipe": _values(row["recipe"]),
        "compared with": row["base"],
        "one training": _shared(row) or "its own",
        "data": f"{row['data']}, with {row['net']}",
        "in S0's program": _values(row["published"]) or "the same fields",
    }
    print_entry(row["name"], facts)


def _values(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={_spelled(value)}" for name, value in values.items())


def _spelled(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_spelled, value)) + "]"
    return str(value).lower() if isinstance(value, bool) else f"{value}"


def _shared(row: Mapping[str, Any]) -> str:
    others = [name for name in row["shared"] if name != row["name"]]
    return f"with {', '.join(others)}" if others else ""

"""`evenhand data NAME`: the card of a data set, its rows and groups, its files verified."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from evenhand.cli import choices, messages
from evenhand.cli.knobs import parse_knobs

FACTS = ("about", "target", "origin", "licence", "citation")
MOST_LEVELS = 12  # levels of an attribute, or classes, that are listed one by one

Name = Annotated[str, typer.Argument(metavar="NAME", help="A data set; see: evenhand list datasets.")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KNOB=VALUE", help="Choose a knob of the data set; repeatable."),
]


def data(
    name: Name,
    knobs: Set = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    pictures: Annotated[
        Path | None,
        typer.Option(metavar="FILE.png", help="Write the first training pictures on one sheet."),
    ] = None,
    debug: choices.Debug = False,
) -> None:
    """Show what a data set holds and verify its files; what is not there is downloaded first."""
    from evenhand.data.registry import find_dataset, load_sketch

    dataset = find_dataset(name)
    defaults = dataset.knobs()
    task = load_sketch(name, **parse_knobs(knobs or [], defaults, f"the data set '{name}'"))
    from evenhand.data.describe import describe

    found = {**describe(task), "kind": dataset.kind, "defaults": defaults, "protect": list(dataset.protect)}
    if json:
        import json as library

        typer.echo(library.dumps(found, indent=2, ensure_ascii=False, allow_nan=False, default=str))
    else:
        _print(found)
    if pictures is not None:
        from evenhand.data.contact_sheet import write_sheet

        count = write_sheet(task, pictures)
        messages.console(stderr=True).print(f"{count} pictures written to {pictures}", markup=False)


def _print(found: Mapping[str, Any]) -> None:
    from rich.table import Table

    from evenhand.report.terminal_parts import bullets, safe, words

    printer = messages.console()
    facts: Any = Table.grid(padding=(0, 2))
    facts.add_row(words((found["name"], "bold cyan")), words((safe(found["title"]), "bold")))
    shape = " x ".join(str(size) for size in found["inputs"])
    for fact, value in (*((key, found[key]) for key in FACTS), ("inputs", shape)):
        facts.add_row(words((fact, "dim")), words(safe(value)))
    printer.print(facts)
    for made in (_parts(found), _attributes(found), _knobs(found)):
        if made is not None:
            printer.print(made)
    if found["notes"]:
        printer.print(bullets(found["notes"], "·", "dim"))
    for file, checksum in found["files"].items():
        line = words(_how(file, found), f"{safe(file)} ", (f"SHA-256 {checksum}", "dim"))
        printer.print(line, soft_wrap=True)


def _how(file: str, found: Mapping[str, Any]) -> tuple[str, str]:
    """Whether a checksum was compared with a published one, or only says which data these are."""
    if not Path(file).suffix:
        return ("known by ", "dim")
    return ("read, not verified: ", "yellow") if file in found["unchecked"] else ("verified ", "green")


def _parts(found: Mapping[str, Any]) -> Any:
    """Rows of each part and the share of each class, or how many classes there are."""
    from evenhand.report.terminal_parts import Column, safe, table, words

    parts = found["parts"]
    columns = [
        Column("part", [words((part, "cyan")) for part in parts], right=False),
        Column("rows", [words(f"{entry['rows']:,}") for entry in parts.values()]),
    ]
    if len(found["classes"]) <= MOST_LEVELS:
        for place, name in enumerate(found["classes"]):
            cells = [_share(entry["classes"][name], entry["rows"]) for entry in parts.values()]
            columns.append(Column(safe(name), [words(cell) for cell in cells], rank=place + 1))
    return table(columns, messages.console().width, title="Rows by class")


def _attributes(found: Mapping[str, Any]) -> Any:
    from evenhand.report.terminal_parts import Column, safe, table, words

    if not found["attributes"]:
        return None
    rows = found["attributes"]
    columns = [
        Column("attribute", [words((safe(entry["name"]), "cyan")) for entry in rows], right=False),
        Column("levels", [words(_levels(entry["levels"])) for entry in rows], right=False, least=20),
        Column("unknown", [words(f"{entry['unknown']:,}") for entry in rows]),
    ]
    return table(columns, messages.console().width, title="Rows by attribute")


def _levels(levels: Mapping[str, int]) -> str:
    from evenhand.report.terminal_parts import safe

    listed = [f"{safe(name)} ({count:,})" for name, count in list(levels.items())[:MOST_LEVELS]]
    more = len(levels) - len(listed)
    return ", ".join([*listed, *([f"and {more} more"] if more else [])])


def _knobs(found: Mapping[str, Any]) -> Any:
    from evenhand.report.terminal_parts import Column, safe, table, words

    if not found["defaults"]:
        return None
    chosen = [found["knobs"].get(name, default) for name, default in found["defaults"].items()]
    columns = [
        Column("knob", [words((name, "cyan")) for name in found["defaults"]], right=False),
        Column("here", [words(safe(_spelled(value))) for value in chosen], right=False, least=10),
        Column(
            "default", [words(safe(_spelled(value))) for value in found["defaults"].values()], right=False
        ),
    ]
    return table(columns, messages.console().width, title="Knobs")


def _spelled(value: object) -> str:
    return {"": "none", None: "unset"}.get(value, str(value)) if isinstance(value, str | None) else str(value)


def _share(count: int, rows: int) -> str:
    return f"{count / rows:.1%}" if rows else "none"

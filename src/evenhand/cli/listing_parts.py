"""How listings are printed: as a table that fits, as one entry, as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from evenhand.cli import messages

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
FOLDED = {
    "name": 18,
    "formula": 18,
    "columns": 20,
    "about": 24,
    "summary": 20,
    "origin": 16,
    "title": 20,
    "default": 10,
    "fields": 24,
    "one training": 14,
}
DISPENSABLE = ("needs", "better", "origin")
NUMBERS = ("ideal", "rows")


def print_table(rows: Sequence[Mapping[str, Any]], heads: Sequence[str]) -> None:
    """A row each; where room is short some columns are folded, and some left out."""
    from evenhand.report.terminal_parts import Column, table, words

    columns = [
        Column(
            head,
            [words((str(row[head]), "cyan" if head == heads[0] else "")) for row in rows],
            right=head in NUMBERS,
            rank=place if head in DISPENSABLE else 0,
            least=FOLDED.get(head),
        )
        for place, head in enumerate(heads)
    ]
    printer = messages.console(unbound=200)
    printer.print(table(columns, printer.width))


def print_entry(key: str, facts: Mapping[str, str]) -> None:
    """One thing with its facts, a line each."""
    from rich.table import Table

    from evenhand.report.terminal_parts import words

    made = Table.grid(padding=(0, 2))
    made.add_row(words((key, "bold cyan")))
    for name, value in facts.items():
        made.add_row(words((name, "dim")), words(value))
    messages.console(unbound=200).print(made)


def print_json(body: Any) -> None:
    """JSON on stdout."""
    import json

    typer.echo(json.dumps(body, indent=2, ensure_ascii=False, allow_nan=False))

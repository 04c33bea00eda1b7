"""`evenhand list metrics|rates|datasets`: what there is, and what one thing means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenhand.cli import messages

if TYPE_CHECKING:
    from evenhand.metrics.metric import Metric

app = typer.Typer(help="List metrics, rates and packaged data sets.", add_completion=False)
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.callback(invoke_without_command=True)
def _overview(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command("metrics")
def metrics(
    key: Annotated[
        str | None, typer.Argument(metavar="[KEY]", help="One metric, with formula and citation.")
    ] = None,
    family: Annotated[
        list[str] | None,
        typer.Option("--family", metavar="NAME", help="Only rates, scores, S0, S1, ...; repeatable."),
    ] = None,
    search: Annotated[
        str | None, typer.Option("--search", metavar="WORD", help="Only those that mention this.")
    ] = None,
    json: AsJson = False,
) -> None:
    """Every metric: key, name, ideal value, which way is better, what it needs."""
    found = [_one(key)] if key else _chosen(family or [], search)
    if json:
        rows = [_fields(row) for row in found]
        _print_json(rows[0] if key else rows)
    elif key:
        messages.console(unbound=200).print(_entry(found[0]))
    else:
        _print_table([_summary(row) for row in found], ("key", "name", "ideal", "better", "needs"))


@app.command("rates")
def rates(json: AsJson = False) -> None:
    """The rates of each group, which the metrics compare."""
    from evenhand.metrics.rates import RATES
    from evenhand.metrics.score_rates import SCORE_RATES

    found = [
        {"key": rate.key, "name": rate.name, "formula": rate.formula, "better": rate.better, "needs": needs}
        for table, needs in ((RATES, "counts"), (SCORE_RATES, "scores"))
        for rate in table.values()
    ]
    _print_json(found) if json else _print_table(found, ("key", "name", "formula", "better", "needs"))


@app.command("datasets")
def datasets(json: AsJson = False) -> None:
    """The data files that come with the package."""
    import csv
    import gzip

    from evenhand.data.cache import CHECKSUMS, packaged

    found: list[dict[str, Any]] = []
    for name in sorted(CHECKSUMS):
        with gzip.open(packaged(name), "rt", encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
        found.append({"file": name, "rows": len(rows), "columns": header, "path": str(packaged(name))})
    if json:
        _print_json(found)
        return
    shown = [
        {**entry, "rows": f"{entry['rows']:,}", "columns": ", ".join(entry["columns"])} for entry in found
    ]
    _print_table(shown, ("file", "rows", "columns"))
    typer.echo(f"in {packaged('titanic.csv.gz').parent}")


def _one(key: str) -> Metric:
    from evenhand.errors import InputError
    from evenhand.evaluation.options import unknown_metric
    from evenhand.metrics.catalogue import CATALOGUE

    if key not in CATALOGUE:
        family = [known for known in CATALOGUE if known.startswith(f"{key}.")]
        raise InputError(unknown_metric(key, family or list(CATALOGUE)))
    return CATALOGUE[key]


def _chosen(families: Sequence[str], search: str | None) -> list[Metric]:
    from evenhand.errors import InputError
    from evenhand.metrics.catalogue import CATALOGUE

    known = dict.fromkeys(row.family for row in CATALOGUE.values())
    for family in families:
        if family.lower() not in {name.lower() for name in known}:
            raise InputError(f"there is no family '{family}' of metrics; there are: {', '.join(known)}")
    wanted = {family.lower() for family in families}
    rows = [row for row in CATALOGUE.values() if not wanted or row.family.lower() in wanted]
    word = (search or "").lower()
    found = [row for row in rows if word in " ".join((row.key, row.name, row.formula, row.citation)).lower()]
    if not found:
        raise InputError(f"no metric mentions '{search}'; 'evenhand list metrics' shows all")
    return found


def _number(value: float) -> str:
    return "none" if value != value else f"{value:g}"


def _summary(row: Metric) -> dict[str, str]:
    better = "neither" if row.better == "none" else row.better
    return {
        "key": row.key,
        "name": row.name,
        "ideal": _number(row.ideal),
        "better": better,
        "needs": row.needs,
    }


def _fields(row: Metric) -> dict[str, Any]:
    names = ("key", "name", "formula", "family", "ideal", "low", "high", "better", "citation", "needs")
    values = {name: getattr(row, name) for name in names}
    finite = {"ideal", "low", "high"}
    # JSON knows neither NaN nor infinity: no ideal, no limit
    return {k: None if k in finite and (v != v or abs(v) == float("inf")) else v for k, v in values.items()}


def _entry(row: Metric) -> Any:
    from rich.table import Table

    from evenhand.report.terminal_parts import words

    facts = {
        "name": row.name,
        "formula": row.formula,
        "ideal": f"{_number(row.ideal)} ({row.better} is better)" if row.better != "none" else "none",
        "range": f"{_number(row.low)} to {_number(row.high)}",
        "needs": row.needs,
        "family": row.family,
        "source": row.citation,
    }
    made = Table.grid(padding=(0, 2))
    made.add_row(words((row.key, "bold cyan")))
    for name, value in facts.items():
        made.add_row(words((name, "dim")), words(value))
    return made


def _print_table(rows: Sequence[dict[str, Any]], heads: Sequence[str]) -> None:
    from evenhand.report.terminal_parts import Column, table, words

    folded = {"name": 18, "formula": 18, "columns": 20}
    columns = [
        Column(
            head,
            [words((str(row[head]), "cyan" if head == heads[0] else "")) for row in rows],
            right=head in ("ideal", "rows"),
            rank=place if head in ("needs", "better") else 0,
            least=folded.get(head),
        )
        for place, head in enumerate(heads)
    ]
    printer = messages.console(unbound=200)
    printer.print(table(columns, printer.width))


def _print_json(body: Any) -> None:
    import json

    typer.echo(json.dumps(body, indent=2, ensure_ascii=False, allow_nan=False))

"""`evenhand list metrics|rates|methods|techniques|datasets|nets|shifts|files`: what there is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenhand.cli import listing_shifts, listing_techniques, listing_training
from evenhand.cli.listing_parts import AsJson, print_entry, print_json, print_table

if TYPE_CHECKING:
    from evenhand.metrics.metric import Metric

app = typer.Typer(
    help="List metrics, methods, techniques, data sets, networks and shifts.", add_completion=False
)
for _command in (
    listing_training.methods,
    listing_techniques.techniques,
    listing_training.datasets,
    listing_training.nets,
    listing_shifts.shifts,
    listing_training.files,
):
    app.command(_command.__name__)(_command)


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
        print_json(rows[0] if key else rows)
    elif key:
        _print_entry(found[0])
    else:
        print_table([_summary(row) for row in found], ("key", "name", "ideal", "better", "needs"))


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
    print_json(found) if json else print_table(found, ("key", "name", "formula", "better", "needs"))


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


def _print_entry(row: Metric) -> None:
    facts = {
        "name": row.name,
        "formula": row.formula,
        "ideal": f"{_number(row.ideal)} ({row.better} is better)" if row.better != "none" else "none",
        "range": f"{_number(row.low)} to {_number(row.high)}",
        "needs": row.needs,
        "family": row.family,
        "source": row.citation,
    }
    print_entry(row.key, facts)

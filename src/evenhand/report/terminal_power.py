"""How many runs are needed, on a terminal: a table by comparison."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.report.numbers import number
from evenhand.report.terminal_parts import Column, Fitted, Json, bullets, safe, table, words

MOST_NOTES = 8


def power_table(body: Json) -> Fitted:
    """The plan, for rich to print."""
    return Fitted(lambda width: _parts(body, width))


def _parts(body: Json, width: int) -> Iterator[Any]:
    size = f"{body['difference']:g}"
    asked = f"{body['metric']} on {body['part']}: runs of each side that tell a difference of {size}"
    yield words((safe(body["study"]), "bold"), f"  {safe(asked)}")
    how = f"chance {body['power']:g}, level {body['alpha']:g}, {body['test']}, two-sided"
    yield words((f"{how}; {body['draws']:,} simulated studies each", "dim"))
    problems = dict.fromkeys(line["problem"] for line in body["comparisons"])
    for problem in problems:
        lines = [line for line in body["comparisons"] if line["problem"] == problem]
        yield _table(lines, width, problem)
    if body["notes"]:
        more = len(body["notes"]) - MOST_NOTES
        told = [*body["notes"][:MOST_NOTES], *([f"and {more} more notes"] if more > 0 else [])]
        yield bullets(told, "›", "bold cyan")


def _table(lines: list[Json], width: int, problem: str) -> Any:
    names = [words((safe(f"{line['method']} / {line['base']}"), "cyan")) for line in lines]
    spreads = [words(f"{number(line['std'][1])} / {number(line['std'][0])}") for line in lines]
    heads = [
        Column("method", names, False),
        Column("runs", [words(_runs(line)) for line in lines], rank=2),
        Column("deviations", spreads, rank=3),
        Column("difference", [words(number(line["observed"])) for line in lines], rank=4),
        Column("needed", [words((_needed(line), "bold")) for line in lines]),
        Column("range", [words(_range(line)) for line in lines], rank=1),
        Column("these see it", [words(_own(line)) for line in lines]),
        Column("and could see", [words(number(line["detectable"])) for line in lines]),
    ]
    return table(heads, width, problem)


def _runs(line: Json) -> str:
    here, base = line["n"][1], line["n"][0]
    return f"{here}" if here == base else f"{here} / {base}"


def _needed(line: Json) -> str:
    if line["runs"] is not None:
        return f"{line['runs']:g}"
    return "> 1000" if line["own"] is not None else "?"


def _range(line: Json) -> str:
    low, high = line["runs_low"], line["runs_high"]
    if low is None:
        return ""
    return f"{low:g} to {high:g}" if high is not None else f"{low:g} or more"


def _own(line: Json) -> str:
    own = line["own"]
    if own is None:
        return "always" if line["runs"] == 1 else "?"
    return f"{own['power']:.0%} ({own['low']:.0%} to {own['high']:.0%})"

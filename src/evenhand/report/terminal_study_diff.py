"""The difference between two folders of a study, on a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.report.numbers import count, interval, number
from evenhand.report.terminal_parts import Column, Fitted, Json, bullets, safe, table, words

MOST = 8  # keys and runs that are named
MOVED = ("lower", "higher")


def diff_table(body: Json) -> Fitted:
    """What differs, for rich to print."""
    return Fitted(lambda width: _parts(body, width))


def _parts(body: Json, width: int) -> Iterator[Any]:
    one, two = safe(body["one"]["folder"]), safe(body["two"]["folder"])
    verdict = "equal" if body["equal"] else "different"
    yield words((verdict, "bold"), f"  {one} and {two}")
    yield bullets([*_declared(body), *_runs(body), *_bits(body)], "›", "bold cyan")
    if body["moved"]:
        yield _moved(body, width)


def _declared(body: Json) -> list[str]:
    if not body["spec"]:
        return ["they declare the same"]
    told = [
        f"{entry['key']}: {_short(entry['one'])} against {_short(entry['two'])}"
        for entry in body["spec"][:MOST]
    ]
    more = len(body["spec"]) - MOST
    return [*told, *([f"and {more} more keys"] if more > 0 else [])]


def _short(value: Any) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _runs(body: Json) -> list[str]:
    runs = body["runs"]
    other = runs["shared"] - runs["same_identity"]
    by_version = f", {count(other)} of them made by another version of evenhand" if other else ""
    told = [f"{count(runs['shared'])} runs in both{by_version}"]
    for key, place in (("only_one", "first"), ("only_two", "second")):
        if runs[key]:
            told.append(f"{count(runs[key])} only in the {place}: {_run_names(runs['examples'][key])}")
    if runs["status"]:
        told.append(f"{count(runs['status'])} ended differently: {_run_names(runs['examples']['status'])}")
    return told


def _run_names(runs: list[Json], most: int = 3) -> str:
    names = [f"{run['method']} on {run['task']}, seed {run['seed']}" for run in runs[:most]]
    return "; ".join([*names, *(["..."] if len(runs) > most else [])])


def _bits(body: Json) -> list[str]:
    bits = body["bits"]
    if not bits["compared"]:
        return ["no run is finished in both"]
    known = bits["compared"] - bits["weights_unknown"]
    weights = f", weights of {count(bits['weights_equal'])} of {count(known)}" if known else ""
    counts = f"counts of {count(bits['counts_equal'])} of {count(bits['compared'])} runs"
    told = [f"equal to the bit: {counts}{weights}"]
    if bits["different"]:
        told.append(f"different bits: {_run_names(bits['examples'])}")
    for row in body.get("numbers", ()):
        equal = f"{safe(row['key'])} of {count(row['equal'])} of {count(row['compared'])} runs"
        apart = f", the others at most {number(row['farthest'])} apart"
        told.append(f"equal to the bit: {equal}{apart if row['equal'] < row['compared'] else ''}")
    return told


def _moved(body: Json, width: int) -> Any:
    """The metrics that moved; where none did, all of them."""
    rows = [row for row in body["moved"] if row["verdict"] in MOVED]
    rows = rows or [row for row in body["moved"] if row["verdict"] != "equal"]
    if not rows:
        return words("no metric of any method differs")
    columns = [
        Column("method", [words((safe(row["method"]), "cyan")) for row in rows], right=False, least=10),
        Column("on", [words(_where(row)) for row in rows], right=False, rank=4, least=12),
        Column("metric", [words(row["metric"]) for row in rows], right=False),
        Column("first", [words(number(row["one"])) for row in rows], rank=2),
        Column("second", [words(number(row["two"])) for row in rows], rank=3),
        Column("difference", [words(number(row["difference"], signed=True)) for row in rows]),
        Column("interval", [words(interval((row["low"], row["high"]), signed=True)) for row in rows], rank=1),
        Column("verdict", [_verdict(row) for row in rows], right=False, least=10),
    ]  # fmt: skip
    return table(columns, width)


def _where(row: Json) -> str:
    return f"{safe(row['task'])} by {safe(row['grouping'])}"


def _verdict(row: Json) -> Any:
    return words((row["verdict"], "bold" if row["verdict"] in MOVED else "dim"))

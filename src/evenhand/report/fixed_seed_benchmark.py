"""What deterministic mode costs, what it cannot do, and which modes vary: the benchmark's file as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.report.numbers import UNDEFINED, count
from evenhand.report.study_table_files import to_markdown
from evenhand.report.study_tables import Table

Json = Mapping[str, Any]
YES = {True: "yes", False: "no", None: "not measured"}


def benchmark_markdown(body: Json | None) -> list[str]:
    """The parts of the page about deterministic mode; nothing where it was not measured."""
    if not body:
        return []
    made = [f"**{one.title}**\n\n{to_markdown(one).rstrip()}" for one in benchmark_tables(body)]
    return ["### Deterministic mode", measured_on(body), *made]


def measured_on(body: Json) -> str:
    """Where the benchmark was run, in a sentence."""
    machine = body["machine"]
    program = "Measured by `python benchmarks/deterministic_mode.py`"
    return f"{program} on {machine['name']}, torch {machine['torch']}."


def benchmark_tables(body: Json) -> list[Table]:
    """Those of its three tables that have rows."""
    return [one for one in (overhead_table(body), modes_table(body), exceptions_table(body)) if one.rows]


def overhead_table(body: Json) -> Table:
    """The overhead of each network beside the printed one."""
    rows = [
        (row["net"], row["batch"], row["size"], _ms(row["plain"]), _ms(row["deterministic"]),
         f"{_percent(row['overhead'])} ({_percent(row['low'])} to {_percent(row['high'])})", row["rounds"],
         _percent(row["printed"]))
        for row in body["overhead"]
    ]  # fmt: skip
    heads = ("Network", "Batch", "Pixels", "Step, ms", "Deterministic, ms", "Overhead", "Rounds", "S0")
    note = "Both take turns; the overhead is the median over rounds, its 95 % interval by order statistics."
    return Table("What deterministic mode costs", heads, tuple(rows), note)


def modes_table(body: Json) -> Table:
    """Whether two trainings in two processes end in the same bits, and how fast each mode is."""
    rows = [
        (row["name"], YES[row["deterministic"]], YES[row.get("equal")], row["steps"],
         count(round(row["images"])) if row.get("images") else UNDEFINED)
        for row in body["modes"]
    ]  # fmt: skip
    heads = ("Mode", "Deterministic", "Equal to the bit", "Steps", "Images a second")
    note = "The same training in two fresh processes; first steps, which choose kernels, are not timed."
    return Table("Which modes vary", heads, tuple(rows), note)


def exceptions_table(body: Json) -> Table:
    """Operations and whether they have a deterministic form on this device now."""
    rows = [
        (row["operation"], {True: "raises", False: "works", None: "cannot be run"}[row["raises"]], row["why"])
        for row in body["exceptions"]
    ]
    heads = ("Operation", "Forward and backward", "What torch names")
    return Table("Operations in deterministic mode", heads, tuple(rows))


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.2f}"


def _percent(share: float | None) -> str:
    return UNDEFINED if share is None else f"{100 * share:.1f} %"

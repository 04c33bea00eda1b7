"""S3's Tables 4 to 31: one for each model and setting, and all their numbers in one long table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.report.ci_mnist_body import ORACLE, Cells, tables_of
from evenhand.report.numbers import UNDEFINED, number
from evenhand.report.spread_table import spread_table
from evenhand.report.study_tables import Cell, Table

Json = Mapping[str, Any]


def tables(body: Json) -> dict[str, Table]:
    """Every table that has a number, by the name of its file; the oracle's beside it."""
    cells = Cells(body)
    found = {}
    for place, setting, model in tables_of(body):
        name = f"table-{place:02d}-{setting['name']}-{model}"
        for ending, oracle in (("", False), ("-oracle", True)):
            table = one_table(body, cells, setting, model, oracle)
            if any(set(row[2:]) != {UNDEFINED} for row in table.rows):
                found[name + ending] = table
    runs = spread_table(body["runs"], ORACLE)
    return {**found, "numbers": long_table(body), "runs": runs, "claims": claims_table(body)}


def one_table(body: Json, cells: Cells, setting: Json, model: str, oracle: bool = False) -> Table:
    """A table of the paper: a row for each width and ratio, a column for each metric, mean ± deviation."""
    rows = tuple(
        (width, row["label"], *(
            mean_and_deviation(cells.get(width, row["task"], model, key), oracle) for key in body["metrics"]
        ))
        for width in body["widths"]
        for row in setting["rows"]
    )  # fmt: skip
    where = ORACLE if oracle else f"Each metric's own best setting on {body['part']}, reported on test."
    title = f"Table {setting['tables'][model]}: {body['models'][model]}, {setting['name']}"
    note = f"Mean ± deviation over seeds {', '.join(map(str, body['seeds']))}. {where}"
    return Table(title, ("Width", setting["knob"], *body["metrics"].values()), rows, note)


def mean_and_deviation(entry: Json | None, oracle: bool = False) -> str:
    """A cell of a table.

    >>> mean_and_deviation({"mean": 0.95, "std": 0.004}), mean_and_deviation(None)
    ('0.950 ± 0.004', '–')
    """
    found = (entry.get("oracle") if oracle else entry) if entry else None
    if not found or found["mean"] is None:
        return UNDEFINED
    return f"{number(found['mean'])} ± {number(found['std'])}"


def long_table(body: Json) -> Table:
    """Every number with all its digits, its setting and its runs."""
    heads = (
        "width",
        "task",
        "model",
        "metric",
        "mean",
        "std",
        "runs",
        "setting",
        "oracle mean",
        "oracle std",
    )
    rows: list[tuple[Cell, ...]] = []
    for entry in body["numbers"]:
        oracle = entry["oracle"] or {"mean": None, "std": None}
        told = (entry[key] for key in ("width", "task", "model", "metric", "mean", "std", "n", "setting"))
        rows.append((*told, oracle["mean"], oracle["std"]))
    return Table("Every number of the tables", heads, tuple(rows), ORACLE)


def claims_table(body: Json) -> Table:
    """The parts of all claims with what decides them."""
    heads = ("claim", "part", "effect", "low", "high", "replicates", "rule", "verdict")
    rows = tuple(
        (
            found["id"],
            *(part[key] for key in ("words", "effect", "low", "high", "replicates", "rule", "verdict")),
        )
        for found in body["findings"]
        for part in found["parts"]
    )
    return Table("The claims of S3 in parts", heads, rows)

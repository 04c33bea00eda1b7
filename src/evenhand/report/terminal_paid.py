"""Who paid on a terminal: the classes and groups that an alternative is shown to have hurt or helped."""

from __future__ import annotations

from typing import Any

from evenhand.report.comparison_paid import paid_rows
from evenhand.report.numbers import count, interval, number, p_value
from evenhand.report.terminal_parts import Column, Json, safe, table, words

MOST_SHOWN = 12
TOO_MANY = "and {} more, in the full report"


def shown_payers(comparison: Json, model: str) -> list[dict[str, Any]]:
    """Those that paid, the largest loss first, then those that gained; classes within groups are left out.

    >>> lost = {"name": "cat", "difference": -0.2, "verdict": "paid"}
    >>> spared = {"name": "dog", "difference": -0.1, "verdict": "not shown"}
    >>> [row["name"] for row in shown_payers({"paid": {"small": {"classes": [lost, spared]}}}, "small")]
    ['cat']
    """
    rows = paid_rows({"paid": {model: (comparison.get("paid") or {}).get(model) or {}}})
    return [row for row in rows if row["verdict"] != "not shown" and row["kind"] in ("class", "group")]


def paid_table(rows: list[dict[str, Any]], model: str, width: int) -> Any:
    """Who, the share of rows answered rightly before and after, the change, its interval and Holm's p."""
    shown, more = rows[:MOST_SHOWN], len(rows) - MOST_SHOWN
    columns = [
        Column("who", [words((safe(row["name"]), "cyan")) for row in shown], right=False, least=12),
        Column("kind", [words(row["kind"]) for row in shown], right=False, rank=2),
        Column("rows", [words(count(row["n"])) for row in shown], rank=4),
        Column("base", [words(number(row["base"])) for row in shown], rank=3),
        Column(safe(model)[:24], [words(number(row["value"])) for row in shown], rank=3),
        Column("change", [words((number(row["difference"], signed=True), "bold")) for row in shown]),
        Column(
            "interval", [words(interval((row["low"], row["high"]), signed=True)) for row in shown], rank=1
        ),
        Column("p (Holm)", [words(p_value(row["p"])) for row in shown], rank=1),
        Column("verdict", [words(row["verdict"]) for row in shown], right=False, rank=2),
    ]
    return table(
        columns, width, _title(rows, safe(model)) + (f" ({TOO_MANY.format(more)})" if more > 0 else "")
    )


def _title(rows: list[dict[str, Any]], model: str) -> str:
    verdicts = {row["verdict"] for row in rows}
    if "paid" not in verdicts:
        return f"Who gained by {model}"
    return f"Who paid for {model}" + (", and who gained" if "gained" in verdicts else "")

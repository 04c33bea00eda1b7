"""What became of the gates, as a short table."""

from __future__ import annotations

from typing import Any

from evenhand.report.numbers import count, number
from evenhand.report.terminal_parts import Column, Fitted, Json, safe, table, words


def gate_table(gate: Json) -> Fitted:
    """The conditions and the changes against an earlier audit, each with what became of it."""
    return Fitted(lambda width: filter(None, (_conditions(gate, width), _changes(gate, width))))


def _verdict(failed: bool) -> Any:
    return words(("failed", "bold red") if failed else ("passed", "green"))


def _value(value: float | None) -> str:
    """A count as it is.

    >>> _value(3), _value(0.5), _value(None)
    ('3', '0.5000', '–')
    """
    return count(value) if isinstance(value, int) else number(value, 4)


def _conditions(gate: Json, width: int) -> Any:
    checks = gate["conditions"]
    if not checks:
        return None
    reasons = [check["reason"] if check["value"] is None else "" for check in checks]
    columns = [
        Column("gate", [_verdict(check["failed"]) for check in checks], right=False),
        Column("fails if", [words(safe(check["condition"])) for check in checks], right=False, least=16),
        Column("value", [words(_value(check["value"])) for check in checks]),
    ]
    if any(reasons):
        columns.append(Column("why", [words(safe(reason)) for reason in reasons], right=False, least=12))
    return table(columns, width)


def _changes(gate: Json, width: int) -> Any:
    """Regressions first, then what moved for the worse without being one; the rest is only counted."""
    found = gate.get("against")
    if not found:
        return None
    told = [change for change in found["changes"] if change["regressed"] or change["reason"]]
    told.sort(key=lambda change: not change["regressed"])
    quiet = len(found["changes"]) - len(told)
    columns = [
        Column("gate", [_verdict(change["regressed"]) for change in told], right=False),
        Column("metric", [words((change["key"], "cyan")) for change in told], right=False),
        *(
            Column(head, [words(number(change[when], 4)) for change in told])
            for head, when in (("then", "old"), ("now", "new"))
        ),
        Column("why", [words(safe(_why(change))) for change in told], right=False, least=12, rank=1),
    ]
    made = table(columns, width, f"Against {safe(found['name'])}")
    made.caption, made.caption_justify = f"{quiet} metrics are no worse than before", "left"
    return made


def _why(change: Json) -> str:
    if change["reason"] or change["worse_by"] is None:
        return str(change["reason"])
    return f"worse by {number(change['worse_by'], 4)}"

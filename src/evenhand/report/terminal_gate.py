"""What became of the gates, as a short table."""

from __future__ import annotations

from typing import Any

from evenhand.report.numbers import number
from evenhand.report.terminal_parts import Fitted, Json, safe, table, words


def gate_table(gate: Json) -> Fitted:
    """The conditions and the changes against an earlier audit, each with what became of it."""
    return Fitted(lambda width: [made for made in (_conditions(gate), _changes(gate)) if made is not None])


def _verdict(failed: bool) -> tuple[str, str]:
    return ("failed", "bold red") if failed else ("passed", "green")


def _conditions(gate: Json) -> Any:
    if not gate["conditions"]:
        return None
    made = table([("gate", "left"), ("fails if", "left"), ("value", "right"), ("", "left")])
    for check in gate["conditions"]:
        reason = check["reason"] if check["value"] is None else ""
        cells = (words(safe(check["condition"])), words(number(check["value"], 4)), words(safe(reason)))
        made.add_row(words(_verdict(check["failed"])), *cells)
    return made


def _changes(gate: Json) -> Any:
    """Regressions first, then what moved for the worse without being one; the rest is only counted."""
    found = gate.get("against")
    if not found:
        return None
    changes = found["changes"]
    told = [change for change in changes if change["regressed"] or change["reason"]]
    heads = [("gate", "left"), ("metric", "left"), ("then", "right"), ("now", "right"), ("", "left")]
    made = table(heads, f"Against {safe(found['name'])}")
    for change in sorted(told, key=lambda change: not change["regressed"]):
        cells = (words(change["key"]), *(words(number(change[when], 4)) for when in ("old", "new")))
        made.add_row(words(_verdict(change["regressed"])), *cells, words(safe(change["reason"])))
    quiet = len(changes) - len(told)
    if quiet:
        made.add_row(
            words(_verdict(False)), words(f"{quiet} {'other metrics' if told else 'metrics'} no worse")
        )
    return made

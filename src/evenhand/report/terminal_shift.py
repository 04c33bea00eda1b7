"""An audit under shift on a terminal: findings, a line for each metric, what to be careful of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.report.numbers import count, number
from evenhand.report.terminal_parts import Column, Fitted, Json, bullets, safe, table, words
from evenhand.report.verdict_shift import MOVED, metric_name, shift_sentences


def shift_table(body: Json) -> Fitted:
    """The summary of an audit under shift, for rich to print."""
    return Fitted(lambda width: _parts(body, width))


def _parts(body: Json, width: int) -> Iterator[Any]:
    facts = f"{count(body['n'])} rows · {body['runs']} runs · {body['draws']} draws"
    yield words((f"{safe(body['name'])} under {safe(body['shift']['asked'])}", "bold"), f"  {facts}")
    yield bullets(shift_sentences(body), "›", "bold cyan")
    made = table(_columns(body), width)
    made.caption, made.caption_justify = "mean over runs and draws; * moved away from severity 0", "left"
    yield made
    if body.get("warnings"):
        yield bullets(body["warnings"], "!", "bold yellow")


def _columns(body: Json) -> list[Column]:
    """Metrics down, severities across; the first and the last severity stay where room is short."""
    found = body["metrics"]
    names = [words((metric_name(key), "cyan")) for key in found]
    columns = [Column("severity", names, right=False, least=16)]
    last = len(body["severities"]) - 1
    for place, severity in enumerate(body["severities"]):
        cells = [_number(curve["points"][place]) for curve in found.values()]
        columns.append(Column(f"{severity:g}", cells, rank=0 if place in (0, last) else 1 + place))
    verdicts = [
        words((curve["verdict"], "bold" if curve["verdict"] in MOVED else "")) for curve in found.values()
    ]
    return [*columns, Column("verdict", verdicts, right=False)]


def _number(point: Json) -> Any:
    moved = ((point.get("moved") or {}).get("verdict")) in MOVED
    return words((f"{number(point['value'])}{'*' if moved else ''}", "bold" if moved else ""))

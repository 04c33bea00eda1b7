"""A trade-off on a terminal: findings, every method with its numbers, what to be careful of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.report.numbers import count, number
from evenhand.report.terminal_parts import Column, Fitted, Json, bullets, safe, table, words
from evenhand.report.verdict_tradeoff import clear, column_head, tradeoff_sentences


def tradeoff_table(body: Json) -> Fitted:
    """The summary of a trade-off, for rich to print."""
    return Fitted(lambda width: _parts(body, width))


def _parts(body: Json, width: int) -> Iterator[Any]:
    runs = sum(len(method["seeds"]) for method in body["methods"])
    rows, base = f"{count(body['n'])} test rows", safe(body["base"])
    facts = f"{len(body['methods'])} methods · {runs} runs · {rows} · base {base}"
    yield words((f"Trade-off on {safe(body['name'])}", "bold"), f"  {facts}")
    yield bullets(tradeoff_sentences(body), "›", "bold cyan")
    made = table(_columns(body), width)
    made.caption, made.caption_justify = (
        "mean ± standard deviation over seeds; * differs from the base",
        "left",
    )
    yield made
    if body.get("warnings"):
        yield bullets(body["warnings"], "!", "bold yellow")


def _columns(body: Json) -> list[Column]:
    methods = body["methods"]
    columns = [
        Column(
            "method", [words((safe(method["name"]), "cyan")) for method in methods], right=False, least=12
        ),
        Column("accuracy", [_number(method["accuracy"], method, "acc") for method in methods]),
    ]
    for place, key in enumerate(body["metrics"]):
        cells = [_number(method["metrics"][key], method, key) for method in methods]
        columns.append(Column(column_head(key), cells, rank=place))
    seconds = [words(number(method.get("seconds"), 1)) for method in methods]
    return [*columns, Column("seconds", seconds, rank=len(body["metrics"]) + 1)]


def _number(found: Json, method: Json, key: str) -> Any:
    moved = (method.get("against_base") or {}).get(key)
    differs = moved is not None and clear(moved)
    spread = f" ± {number(found['std'])}" if (found.get("n") or 0) > 1 else ""
    return words((f"{number(found['mean'])}{spread}{'*' if differs else ''}", "bold" if differs else ""))

"""Equalized Robustness on a terminal: the number, the curvatures of each group, the farthest pair."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.report.numbers import count, number, probability
from evenhand.report.terminal_parts import Column, Fitted, Json, bullets, safe, table, words


def robustness_table(body: Json) -> Fitted:
    """The summary of Equalized Robustness, for rich to print."""
    return Fitted(lambda width: _parts(body, width))


def _parts(body: Json, width: int) -> Iterator[Any]:
    runs, by = len(body["values"]), safe(" × ".join(body["protect"]))
    facts = f"{safe(body['task'])} by {by} · {body['part']} rows · {runs} run{'s' if runs > 1 else ''}"
    yield words((f"Delta ER {number(body['delta_er'], 4)}", "bold"), f"  {facts}")
    yield table(_columns(body["groups"]), width)
    kernels = body["kernels"] if isinstance(body["kernels"], str) else "own"
    estimate = f"one-shot, h = {body['h']:g}" if body["how"] == "one-shot" else "power iteration"
    yield words((f"0: the groups' losses are equally curved; {estimate}; {kernels} kernels", "dim"))
    if body["p"]:
        shown = ", ".join(probability(p) for p in body["p"])
        yield words(f"groups dealt at random are as far apart with {shown}")
    if body["warnings"]:
        yield bullets(body["warnings"], "!", "bold yellow")


def _columns(groups: list[Json]) -> list[Column]:
    return [
        Column("group", [words((safe(group["name"]), "cyan")) for group in groups], right=False, least=12),
        Column("rows", [words(count(group["n"])) for group in groups]),
        Column("mean curvature", [words(number(group["curvature_mean"], 4)) for group in groups]),
        Column("median", [words(number(group["curvature_median"], 4)) for group in groups], rank=1),
    ]

"""The report of a replay of published runs: its dictionary into one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.report import page
from evenhand.report.figures import both_widths
from evenhand.report.figures.replay_cost import CostBlock, replay_cost
from evenhand.report.numbers import number, percent, without_nan
from evenhand.report.replay_words import METRIC_NAMES, checks, sentences

Json = Mapping[str, Any]
COST_TITLE = "What mitigation costs: accuracy and its variation over runs"


def render(body: Json) -> str:
    """The HTML report of a replay."""
    body = without_nan(body)
    return page.render(
        "replay.html.j2",
        replay=body,
        title=body["title"],
        sentences=sentences(body),
        checks=checks(body),
        cost=both_widths(lambda width: replay_cost(_blocks(body), title=COST_TITLE, width=width)),
        metrics=METRIC_NAMES,
        matrix=outcome_matrix(body),
        spreads=spread_rows(body),
        venn={row["region"]: row["pairs"] for row in body["venn"]},
    )


def figures(body: Json) -> dict[str, str]:
    """The figures of the page as SVG texts, by a name that can be a file's."""
    return {"cost": replay_cost(_blocks(body), title=COST_TITLE)}


def _blocks(body: Json) -> list[CostBlock]:
    return [
        CostBlock(row["technique"], row["accuracy"], row["variance"], row["cross"], row["official_variance"])
        for row in body["cost"]
    ]


def outcome_matrix(body: Json) -> list[dict[str, Any]]:
    """A line for each mitigation, a coloured cell for each metric: which way the bias went, and how far."""
    found: dict[str, list[dict[str, str]]] = {}
    for row in body["tests"]:
        colour = {"-": "b3", "+": "a3"}.get(row["direction"], "zero")
        note = (
            f"{row['technique']}, {row['metric']}\n{percent(row['base_mean'])} to {percent(row['mean'])}\n"
            f"p = {row['p']:.2g}, d = {number(row['d'], 2, True)}\nits variation: {row['variance_direction']}"
        )
        shown = {"-": "↓", "+": "↑"}.get(row["direction"], "·")
        wider = {"+": " ~", "-": " ="}.get(row["variance_direction"], "")
        found.setdefault(row["technique"], []).append(
            {"colour": colour, "text": f"{shown}{wider}", "note": note}
        )
    return [{"technique": name, "cells": cells} for name, cells in found.items()]


def spread_rows(body: Json) -> list[dict[str, Any]]:
    """All variance rows for the page, with the spread relative to the mean."""
    return [
        {**row, "name": METRIC_NAMES[row["metric"]],
         "relative": row["max_diff"] / row["mean"] if row["mean"] else None}
        for row in body["variance"]
    ]  # fmt: skip

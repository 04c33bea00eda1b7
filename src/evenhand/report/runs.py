"""Headline metrics over several runs: what a second training with another seed would have shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.report.definitions import define
from evenhand.report.figures import StripRow, both_widths, strip
from evenhand.report.headline import KINDS, headline, present, short_label
from evenhand.report.numbers import defined

Json = Mapping[str, Any]


def run_view(audit: Json) -> dict[str, Any] | None:
    """Figures and table of the headline metrics over runs; None for an audit of one run."""
    if not audit.get("runs"):
        return None
    metrics = {key: m["runs"] for key, m in audit["metrics"].items() if _summarised(m.get("runs"))}
    names = audit["runs"].get("names") or []
    panels = []
    for title, keys, _ in KINDS:
        rows = [strip_row(short_label(key), metrics[key]) for key in present(metrics, keys)]
        if rows:
            panels.append({"title": title, "figures": _strips(rows, title, names)})
    return {"panels": panels, "table": [(define(key), metrics[key]) for key in headline(metrics)]}


def _summarised(runs: Json | None) -> bool:
    return bool(runs) and runs is not None and defined(runs.get("mean"))


def _strips(rows: list[StripRow], title: str, names: list[str]) -> list[tuple[str, str]]:
    return both_widths(lambda width: strip(rows, title=f"{title}, over runs", names=names, width=width))


def strip_row(label: str, runs: Json) -> StripRow:
    """The row of a metric in the strip plot.

    >>> strip_row("tpr gap", {"mean": 0.2, "std": 0.1, "min": 0.1, "max": 0.3}).high
    0.3
    """
    values = tuple(x for x in runs.get("values") or () if defined(x))
    low = runs["min"] if defined(runs.get("min")) else runs["mean"]
    high = runs["max"] if defined(runs.get("max")) else runs["mean"]
    return StripRow(label, runs["mean"], runs.get("std"), low, high, values)

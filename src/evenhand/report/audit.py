"""The report of one audit: `Audit.to_dict()` into one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.report import page, tables
from evenhand.report.definitions import define
from evenhand.report.figures import ForestRow, StripRow, diverging_legend, forest, strip
from evenhand.report.headline import GAPS, RATIOS, WORST, headline, present
from evenhand.report.names import main_rates, rate_name
from evenhand.report.numbers import defined
from evenhand.report.verdict import audit_sentences

Json = Mapping[str, Any]
WIDTHS = (("wide", 760.0), ("narrow", 360.0))
DRAWN_GROUPS = 24  # more groups than that are drawn by their extremes; the table holds them all


def render(audit: Json) -> str:
    """The HTML report of an audit."""
    return page.render(
        "audit.html.j2",
        audit=audit,
        title=audit.get("name") or "Audit",
        sentences=audit_sentences(audit),
        panels=headline_panels(audit["metrics"]),
        rates=tables.rates_table(audit["groups"], audit["overall"]),
        dots=[group_dots(audit, key) for key in main_rates(audit["groups"])],
        attributes=attribute_views(audit),
        crossings=[t for key in main_rates(audit["groups"]) if (t := tables.crossing(audit, key))],
        ladder=ladder(audit),
        classes=tables.class_table(audit),
        metrics=metric_rows(audit["metrics"]),
        families=sorted({define(key).family for key in audit["metrics"]}),
        runs=run_view(audit),
        legend=diverging_legend(),
        kept=audit.get("method") or {},
    )


def both_widths(draw: Any) -> list[tuple[str, str]]:
    """The same figure for wide and for narrow screens: text keeps its size, the layout changes."""
    return [(name, draw(width)) for name, width in WIDTHS]


def metric_row(key: str, metric: Json, label: str = "") -> ForestRow:
    """The row of a metric in a forest plot."""
    bounds = metric.get("bounds")
    usable = bounds is not None and all(defined(x) for x in bounds)
    note = "" if defined(metric.get("value")) else "undefined: " + ("; ".join(metric.get("undefined") or []) or "no groups to compare")
    return ForestRow(
        label or define(key).name, metric.get("value"), metric.get("low"), metric.get("high"), metric.get("chance"),
        (bounds[0], bounds[1]) if bounds is not None and usable else None, note,
    )


def headline_panels(metrics: Mapping[str, Json]) -> list[dict[str, Any]]:
    """Forest plots of the headline metrics, one for each kind."""
    kinds = (
        ("Gaps between the highest and the lowest group", GAPS, ("ideal", 0.0)),
        ("Ratios of the lowest to the highest group", RATIOS, ("ideal", 1.0)),
        ("Rates of the lowest group", WORST, None),
    )
    panels = []
    for title, keys, reference in kinds:
        rows = [metric_row(key, metrics[key]) for key in present(metrics, keys)]
        if rows:
            panels.append({"title": title, "figures": _forests(rows, title, reference, within=(0.0,) if reference else (0.0, 1.0))})
    if not panels and metrics:
        rows = [metric_row(key, metrics[key]) for key in headline(metrics)]
        panels.append({"title": "Metrics", "figures": _forests(rows, "Metrics", None)})
    return panels


def _forests(
    rows: Sequence[ForestRow], title: str, reference: tuple[str, float] | None, within: Sequence[float] = ()
) -> list[tuple[str, str]]:
    return both_widths(lambda width: forest(rows, title=title, reference=reference, width=width, within=within))


def group_dots(audit: Json, key: str) -> dict[str, Any]:
    """One rate in every group with its interval, against the rate of all rows."""
    groups = [group for group in audit["groups"] if defined(group["rates"].get(key))]
    ordered = sorted(groups, key=lambda group: -group["rates"][key])
    half = DRAWN_GROUPS // 2
    drawn = ordered if len(ordered) <= DRAWN_GROUPS else ordered[:half] + ordered[-half:]
    rows = [
        ForestRow(g["name"], g["rates"][key], *((g.get("intervals") or {}).get(key) or (None, None)), note=f"n = {g['n']:,}")
        for g in drawn
    ]
    overall = audit["overall"]["rates"].get(key)
    figures = _forests(rows, f"{rate_name(key)} by group", ("all rows", overall) if defined(overall) else None)
    return {"key": key, "rate": rate_name(key), "figures": figures, "hidden": len(ordered) - len(drawn)}


def attribute_views(audit: Json) -> list[dict[str, Any]]:
    """Each attribute by itself, as a table of rates."""
    alone = audit.get("attributes") or {}
    return [{"name": name, "rates": tables.rates_table(view["groups"], audit["overall"])} for name, view in alone.items()]


def ladder(audit: Json) -> list[tuple[str, str]]:
    """The headline gaps by each attribute alone and by the intersection: the intersection can hide no gap."""
    alone = audit.get("attributes") or {}
    if not alone:
        return []
    rows: list[ForestRow] = []
    for key in present(audit["metrics"], GAPS)[:5]:
        rows.append(ForestRow(define(key).name, None, heading=True))
        rows += [metric_row(key, view["metrics"][key], name) for name, view in alone.items() if key in view["metrics"]]
        rows.append(metric_row(key, audit["metrics"][key], " × ".join(audit["grouping"])))
    return _forests(rows, "Gaps by each attribute alone and by their intersection", ("ideal", 0.0), (0.0,)) if rows else []


def metric_rows(metrics: Mapping[str, Json]) -> list[dict[str, Any]]:
    """The rows of the full table."""
    return [{"key": key, "definition": define(key), **metric} for key, metric in metrics.items()]


def run_view(audit: Json) -> dict[str, Any] | None:
    """Headline metrics over several runs; None for an audit of one."""
    if not audit.get("runs"):
        return None
    found = [(key, audit["metrics"][key].get("runs")) for key in headline(audit["metrics"])]
    known = [(key, runs) for key, runs in found if runs and defined(runs.get("mean"))]
    rows = [_strip_row(key, runs) for key, runs in known]
    names = audit["runs"].get("names") or []
    figures = both_widths(lambda width: strip(rows, title="Headline metrics over runs", names=names, width=width))
    return {"figures": figures if rows else [], "table": [(define(key), runs) for key, runs in known]}


def _strip_row(key: str, runs: Json) -> StripRow:
    values = tuple(x for x in runs.get("values") or () if defined(x))
    low = runs["min"] if defined(runs.get("min")) else runs["mean"]
    high = runs["max"] if defined(runs.get("max")) else runs["mean"]
    return StripRow(define(key).name, runs["mean"], runs.get("std"), low, high, values)

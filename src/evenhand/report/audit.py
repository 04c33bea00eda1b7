"""The report of one audit: `Audit.to_dict()` into one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.report import page, runs, tables
from evenhand.report.definitions import define
from evenhand.report.figures import ForestRow, both_widths, diverging_legend, forest
from evenhand.report.headline import GAPS, KINDS, beyond_chance, headline, present, short_label
from evenhand.report.names import main_rates, rate_name
from evenhand.report.numbers import count, defined, without_nan
from evenhand.report.verdict import audit_sentences

Json = Mapping[str, Any]
DRAWN_GROUPS = 24  # more groups than that are drawn by their extremes; the table holds them all


def render(audit: Json) -> str:
    """The HTML report of an audit."""
    audit = without_nan(audit)
    return page.render(
        "audit.html.j2",
        audit=audit,
        title=audit.get("name") or "Audit",
        sentences=audit_sentences(audit),
        panels=headline_panels(audit["metrics"]),
        rates=tables.rates_table(audit["groups"], audit["overall"]),
        dots=[group_dots(audit, key) for key in main_rates(audit)],
        attributes=attribute_views(audit),
        crossings=[t for key in main_rates(audit) if (t := tables.crossing(audit, key))],
        ladder=ladder(audit),
        classes=tables.class_table(audit),
        class_gaps=tables.class_gaps(audit),
        metrics=metric_rows(audit["metrics"]),
        families=sorted({define(key).family for key in audit["metrics"]}),
        runs=runs.run_view(audit),
        legend=diverging_legend(),
        kept=page.method_of(audit),
    )


def metric_row(key: str, metric: Json, label: str = "") -> ForestRow:
    """The row of a metric in a forest plot."""
    bounds = metric.get("bounds")
    usable = bounds is not None and all(defined(x) for x in bounds)
    reasons = "; ".join(metric.get("undefined") or []) or "no groups to compare"
    note = "" if defined(metric.get("value")) else f"undefined: {reasons}"
    return ForestRow(
        label or define(key).name,
        metric.get("value"),
        metric.get("low"),
        metric.get("high"),
        metric.get("chance"),
        (bounds[0], bounds[1]) if bounds is not None and usable else None,
        note,
        remarkable=beyond_chance(key, metric) is not False,
    )


def headline_panels(metrics: Mapping[str, Json]) -> list[dict[str, Any]]:
    """Forest plots of the headline metrics, one for each kind."""
    panels = []
    for title, keys, reference in KINDS:
        rows = [metric_row(key, metrics[key], short_label(key)) for key in present(metrics, keys)]
        if rows:
            panels.append(
                {
                    "title": title,
                    "figures": _forests(rows, title, reference, within=(0.0,) if reference else (0.0, 1.0)),
                }
            )
    if not panels and metrics:
        rows = [metric_row(key, metrics[key]) for key in headline(metrics)]
        panels.append({"title": "Metrics", "figures": _forests(rows, "Metrics", None)})
    return panels


def _forests(
    rows: Sequence[ForestRow], title: str, reference: tuple[str, float] | None, within: Sequence[float] = ()
) -> list[tuple[str, str]]:
    return both_widths(
        lambda width: forest(rows, title=title, reference=reference, width=width, within=within)
    )


def group_dots(audit: Json, key: str) -> dict[str, Any]:
    """One rate in every group with its interval, against the rate of all rows."""
    groups = [group for group in audit["groups"] if defined(group["rates"].get(key))]
    ordered = sorted(groups, key=lambda group: -group["rates"][key])
    half = DRAWN_GROUPS // 2
    drawn = ordered if len(ordered) <= DRAWN_GROUPS else ordered[:half] + ordered[-half:]
    rows = [_group_row(group, key) for group in drawn]
    overall = audit["overall"]["rates"].get(key)
    # an axis of at least a tenth: rates that hardly differ should look as if they hardly differ
    within = (max(0.0, overall - 0.05), overall + 0.05) if defined(overall) else ()
    reference = ("all rows", overall) if defined(overall) else None
    figures = _forests(rows, f"{rate_name(key)} by group", reference, within)
    return {"key": key, "rate": rate_name(key), "figures": figures, "hidden": len(ordered) - len(drawn)}


def _group_row(group: Json, key: str) -> ForestRow:
    low, high = (group.get("intervals") or {}).get(key) or (None, None)
    return ForestRow(group["name"], group["rates"][key], low, high, note=f"n = {count(group['n'])}")


def attribute_views(audit: Json) -> list[dict[str, Any]]:
    """Each attribute by itself, as a table of rates."""
    alone = audit.get("attributes") or {}
    return [
        {"name": name, "rates": tables.rates_table(view["groups"], audit["overall"])}
        for name, view in alone.items()
    ]


def ladder(audit: Json) -> list[tuple[str, str]]:
    """The headline gaps by each attribute alone and by the intersection: the intersection can hide no gap."""
    alone = audit.get("attributes") or {}
    if not alone:
        return []
    rows: list[ForestRow] = []
    for key in present(audit["metrics"], GAPS)[:5]:
        rows.append(ForestRow(short_label(key), None, heading=True))
        rows += [
            metric_row(key, view["metrics"][key], name)
            for name, view in alone.items()
            if key in view["metrics"]
        ]
        rows.append(metric_row(key, audit["metrics"][key], " × ".join(audit["grouping"])))
    return (
        _forests(rows, "Gaps by each attribute alone and by their intersection", ("ideal", 0.0), (0.0,))
        if rows
        else []
    )


def metric_rows(metrics: Mapping[str, Json]) -> list[dict[str, Any]]:
    """The rows of the full table."""
    return [{"key": key, "definition": define(key), **metric} for key, metric in metrics.items()]

"""A small card for notebooks: one self-contained fragment of HTML that takes the notebook's own colours."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from evenhand.report.definitions import define
from evenhand.report.names import main_rates, rate_head, rate_name
from evenhand.report.numbers import UNDEFINED, count, defined, interval, number, percent
from evenhand.report.terminal import short_names, shown_metrics
from evenhand.report.terminal_comparison import differs, shown_differences
from evenhand.report.terminal_parts import Json
from evenhand.report.verdict import audit_sentences
from evenhand.report.verdict_comparison import alternatives, comparison_sentences

MOST_GROUPS = 24
# translucent colours read well on light and dark notebooks alike
BELOW, ABOVE = "56,132,190", "214,132,30"
CELL = "padding:.15em .7em;text-align:{align};white-space:nowrap;border-bottom:1px solid rgba(128,128,128,.2)"


def audit_card(audit: Json) -> str:
    """The card of an audit: its sentences, headline metrics and groups.

    >>> group = {"name": "<a>", "levels": {"g": "<a>"}, "n": 3, "rates": {"tpr": 0.5}}
    >>> overall = {"rates": {"tpr": 0.5}}
    >>> audit = {"n": 3, "grouping": ["g"], "groups": [group], "overall": overall, "metrics": {}}
    >>> card = audit_card(audit)
    >>> "&lt;a&gt;" in card, "<a>" in card
    (True, False)
    """
    by = " × ".join(str(name) for name in audit["grouping"])
    title = f"Audit of {count(audit['n'])} rows, {len(audit['groups'])} groups by {by}"
    parts = [_metrics(audit), _groups(audit)]
    return _card(title, audit_sentences(audit)[:3], parts, audit.get("warnings") or ())


def comparison_card(comparison: Json) -> str:
    """The card of a comparison: its sentences, the models and the headline differences of each."""
    title = f"Comparison on {count(comparison['n'])} rows, base {comparison['base']}"
    parts = [_models(comparison), *(_differences(comparison, name) for name in alternatives(comparison)[:4])]
    return _card(title, comparison_sentences(comparison)[:3], parts, comparison.get("warnings") or ())


def _card(title: str, sentences: Sequence[str], tables: Sequence[str], warnings: Sequence[str]) -> str:
    said = "".join(f"<p style='margin:.3em 0'>{escape(sentence)}</p>" for sentence in sentences)
    notes = "".join(f"<li>{escape(str(note))}</li>" for note in warnings)
    listed = f"<ul style='margin:.5em 0;padding-left:1.4em;opacity:.8'>{notes}</ul>" if notes else ""
    body = f"<div style='overflow-x:auto'>{''.join(tables)}</div>"
    style = "font-family:system-ui,sans-serif;font-size:13px;max-width:60em;line-height:1.4"
    return f"<div class='evenhand' style='{style}'><b>{escape(title)}</b>{said}{body}{listed}</div>"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "") -> str:
    """Rows of ready cells; the first column is text, the others numbers."""
    top = "".join(f"<th style='{_cell(place)}'>{escape(head)}</th>" for place, head in enumerate(heads))
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    said = f"<caption style='text-align:left;padding:.4em 0'>{escape(caption)}</caption>" if caption else ""
    style = "border-collapse:collapse;margin:.6em 0;font-variant-numeric:tabular-nums"
    return f"<table style='{style}'>{said}<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _cell(place: int, extra: str = "") -> str:
    return CELL.format(align="right" if place else "left") + extra


def _cells(texts: Sequence[str], first: int = 0) -> list[str]:
    return [f"<td style='{_cell(first + place)}'>{escape(text)}</td>" for place, text in enumerate(texts)]


def _metrics(audit: Json) -> str:
    short = short_names(audit["groups"])
    rows = []
    for key in shown_metrics(audit["metrics"]):
        metric = audit["metrics"][key]
        by = " / ".join(short.get(name, str(name)) for name in metric.get("decided_by") or [])
        spread = interval((metric.get("low"), metric.get("high")))
        texts = [number(metric["value"]), spread, number(metric.get("chance")), by or UNDEFINED]
        name = f"<td style='{_cell(0)}' title='{escape(define(key).text)}'>{escape(key)}</td>"
        rows.append([name, *_cells(texts, 1)])
    level = f"{(audit.get('method') or {}).get('confidence', 0.95) * 100:g}% interval"
    return _table(["metric", "value", level, "chance level", "decided by"], rows) if rows else ""


def _groups(audit: Json) -> str:
    keys, overall, short = main_rates(audit), audit["overall"], short_names(audit["groups"])
    shown = audit["groups"][:MOST_GROUPS]
    rows = [
        [*_cells([short[group["name"]], count(group["n"])]), *(_rate(group, key, overall) for key in keys)]
        for group in shown
    ]
    rows.append(_cells(["all rows", count(audit["n"]), *(number(overall["rates"].get(key)) for key in keys)]))
    left = len(audit["groups"]) - len(shown)
    return _table(
        ["group", "n", *(rate_head(key) for key in keys)], rows, f"{left} more groups" if left else ""
    )


def _rate(group: Json, key: str, overall: Json) -> str:
    value, reference = group["rates"].get(key), overall["rates"].get(key)
    colour = ""
    if defined(value) and defined(reference):
        strength = min(abs(value - reference) / 0.3, 1) * 0.55
        colour = f";background:rgba({ABOVE if value > reference else BELOW},{strength:.2f})"
    return f"<td style='{_cell(1, colour)}' title='{escape(rate_name(key))}'>{number(value)}</td>"


def _models(comparison: Json) -> str:
    rows = []
    for model in comparison["models"]:
        pair: list[Any] = [(comparison[key].get(model) or {}).get("value") for key in ("cev", "sde")]
        own = [number(comparison["accuracy"].get(model)), percent(comparison["disagreement"].get(model))]
        rows.append(_cells([str(model), *own, *(number(value, 4) for value in pair)]))
    return _table(["model", "accuracy", differs(comparison), "CEV", "SDE"], rows)


def _differences(comparison: Json, model: str) -> str:
    found = comparison["differences"][model]
    rows = [
        _cells(
            [
                key,
                *(number(found[key][side]) for side in ("base", "value")),
                number(found[key]["difference"], signed=True),
                interval((found[key]["low"], found[key]["high"]), signed=True),
            ]
        )
        for key in shown_differences(found)
    ]
    heads = ["metric", str(comparison["base"]), str(model), "difference", "interval"]
    return _table(heads, rows, f"{model} minus {comparison['base']}") if rows else ""

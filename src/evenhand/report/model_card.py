"""The fairness section of a model card, in Markdown."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.report.definitions import define
from evenhand.report.headline import headline
from evenhand.report.names import main_rates, rate_name
from evenhand.report.numbers import UNDEFINED, count, defined, interval, number, percent
from evenhand.report.verdict import audit_sentences

Json = Mapping[str, Any]
LISTED_GROUPS = 40


def escaped(text: str) -> str:
    """Text that Markdown takes as text: names come from the data.

    >>> escaped("a|b <i>*x*")
    'a\\\\|b &lt;i&gt;\\\\*x\\\\*'
    """
    flat = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_{}\[\]#|!~])", r"\\\1", flat)


def render(audit: Json) -> str:
    """A `## Fairness evaluation` section: what was measured, groups, headline metrics, caveats, method."""
    parts = ["## Fairness evaluation", _measured(audit), *(_sentences(audit)), "### Groups", _groups(audit)]
    parts += ["### Metrics", _metrics(audit), "### Caveats", _caveats(audit), "### Method", _method(audit)]
    return "\n\n".join(parts) + "\n"


def _measured(audit: Json) -> str:
    by = " × ".join(escaped(name) for name in audit["grouping"])
    positive = (
        f", positive class {escaped(str(audit['positive']))}" if audit.get("positive") is not None else ""
    )
    return (
        f"Predictions on {count(audit['n'])} rows ({audit['task']}, {len(audit['classes'])} classes"
        f"{positive}) were audited over {len(audit['groups'])} groups by {by}."
    )


def _sentences(audit: Json) -> list[str]:
    return ["\n".join(f"- {escaped(sentence)}" for sentence in audit_sentences(audit))]


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    align = ["---", *("---:" for _ in heads[1:])]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (heads, align, *rows))


def _groups(audit: Json) -> str:
    keys = main_rates(audit)
    shown = [audit["overall"], *audit["groups"][:LISTED_GROUPS]]
    rows = [
        [escaped(group["name"]), count(group["n"]), *(number(group["rates"].get(key)) for key in keys)]
        for group in shown
    ]
    table = _table(["Group", "n", *(rate_name(key) for key in keys)], rows)
    left = len(audit["groups"]) - LISTED_GROUPS
    return f"{table}\n\n{left} more groups are in the full report." if left > 0 else table


def _metrics(audit: Json) -> str:
    rows = []
    for key in headline(audit["metrics"]):
        metric = audit["metrics"][key]
        spread = interval((metric.get("low"), metric.get("high")))
        by = " / ".join(escaped(str(name)) for name in metric.get("decided_by") or []) or UNDEFINED
        rows.append(
            [escaped(define(key).name), number(metric.get("value")), spread, number(metric.get("chance")), by]
        )
    level = f"{(audit.get('method') or {}).get('confidence', 0.95) * 100:g}%"
    return _table(["Metric", "Value", f"{level} interval", "Chance level", "Decided by"], rows)


def _caveats(audit: Json) -> str:
    groups = audit["groups"]
    small = [escaped(g["name"]) for g in groups if g.get("small") or g.get("excluded")]
    missing = [
        escaped(g["name"])
        for g in groups
        if any(not defined(g["rates"].get(key)) for key in main_rates(audit))
    ]
    undefined = [
        escaped(define(key).name)
        for key, metric in audit["metrics"].items()
        if not defined(metric.get("value"))
    ]
    points = [f"Small groups, uncertain or left out: {', '.join(small)}."] if small else []
    if audit.get("unknown"):
        share = percent(audit["unknown"] / audit["n"]) if audit["n"] else UNDEFINED
        points.append(f"{count(audit['unknown'])} rows ({share}) have no known group.")
    points += [f"Some rates are undefined ({UNDEFINED}) for: {', '.join(missing)}."] if missing else []
    points += [f"Undefined metrics: {'; '.join(undefined)}."] if undefined else []
    points += [escaped(warning.rstrip(".")) + "." for warning in audit.get("warnings") or []]
    points.append(
        "The numbers describe these rows alone; other data, other groups or another use can differ."
    )
    return "\n".join(f"- {point}" for point in points)


def _method(audit: Json) -> str:
    method = audit.get("method") or {}
    versions = method.get("versions") or {}
    made = ", ".join(f"{escaped(str(name))} {escaped(str(version))}" for name, version in versions.items())
    facts = [
        f"{name.replace('_', ' ')} {escaped(str(method[name]))}"
        for name in ("confidence", "resampling", "replicates", "seed", "min_count", "convention")
        if method.get(name) is not None
    ]
    return f"{'; '.join(facts)}. Measured with {made or 'evenhand'}."

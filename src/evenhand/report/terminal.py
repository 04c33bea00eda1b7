"""An audit on a terminal of any width: what was audited, headline metrics, groups, notes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from evenhand.report.definitions import define
from evenhand.report.headline import GAPS, WORST, present
from evenhand.report.names import main_rates, rate_head
from evenhand.report.numbers import UNDEFINED, count, defined, interval, number, percent
from evenhand.report.terminal_comparison import comparison_table
from evenhand.report.terminal_parts import Fitted, Json, bullets, safe, shade, table, words
from evenhand.report.verdict import audit_sentences

HEADLINE = (*GAPS, "selection.ratio", *WORST)
FEW_METRICS = 20  # an audit of so few metrics was asked for just these, and shows them all
MOST_GROUPS = 24
SENTENCES = 2


def audit_table(audit: Json) -> Fitted:
    """The summary of an audit, for rich to print."""
    return Fitted(lambda width: _parts(audit, width))


def _parts(audit: Json, width: int) -> Iterator[Any]:
    yield _title(audit)
    yield bullets(audit_sentences(audit)[:SENTENCES], "›", "bold cyan")
    yield _metrics(audit, width)
    yield _groups(audit, width)
    if audit.get("warnings"):
        yield bullets(audit["warnings"], "!", "bold yellow")


def _title(audit: Json) -> Any:
    occurring = sum(1 for group in audit["groups"] if group["n"])
    by = " × ".join(safe(name) for name in audit["grouping"])
    facts = [f"{count(audit['n'])} rows", f"{occurring} groups by {by}"]
    if audit.get("positive") is not None:
        facts.append(f"positive class {safe(audit['positive'])}")
    elif audit.get("classes"):
        facts.append(f"{len(audit['classes'])} classes")
    if audit.get("runs"):
        facts.append(f"{audit['runs']['n']} runs")
    if audit.get("weighted"):
        facts.append("weighted")
    name = f"Audit of {safe(audit['name'])}" if audit.get("name") else "Audit"
    return words((name, "bold"), f"  {' · '.join(facts)}")


def _metrics(audit: Json, width: int) -> Any:
    level = f"{(audit.get('method') or {}).get('confidence', 0.95) * 100:g}%"
    runs, roomy = bool(audit.get("runs")), width >= 76
    heads = [("metric", "left"), ("value", "right"), (f"{level} interval", "right")]
    heads += [("over runs", "right"), ("run share", "right")] if runs else []
    heads += [("chance level", "right")] if roomy and not runs else []
    heads += [("decided by", "left")] if roomy else []
    made = table(heads)
    short = short_names(audit["groups"])
    for key in shown_metrics(audit["metrics"]):
        metric = audit["metrics"][key]
        cells = [
            words((key, "cyan")),
            words((number(metric["value"]), "bold" if _beyond(key, metric) else "")),
        ]
        cells.append(words(interval((metric.get("low"), metric.get("high")))))
        cells += _run_cells(metric) if runs else []
        cells += [words(_chance(key, metric))] if roomy and not runs else []
        cells += [_decided(metric, short)] if roomy else []
        made.add_row(*cells)
    return made


def shown_metrics(metrics: Json) -> list[str]:
    """The headline; all metrics where there are few.

    >>> shown_metrics({"dp": {"value": 0.1}})
    ['dp']
    """
    return list(metrics) if len(metrics) <= FEW_METRICS else present(metrics, HEADLINE)


def short_names(groups: Sequence[Json]) -> dict[str, str]:
    """Groups by their levels alone: the title already says of which attributes.

    >>> short_names([{"name": "sex=f · age=old", "levels": {"sex": "f", "age": "old"}}])
    {'sex=f · age=old': 'f · old'}
    """
    levels = {group["name"]: " · ".join((group.get("levels") or {}).values()) for group in groups}
    return {name: safe(short or name) for name, short in levels.items()}


def _beyond(key: str, metric: Json) -> bool:
    if not defined(metric.get("chance")) or not defined(metric["value"]):
        return False
    worse = metric["value"] < metric["chance"] if define(key).better == "higher" else None
    return bool(metric["value"] > metric["chance"] if worse is None else worse)


def _chance(key: str, metric: Json) -> str:
    """The level that group labels dealt at random reach in 1 of 20 cases, and on which side the value lies."""
    if not defined(metric.get("chance")):
        return UNDEFINED
    side = "below" if define(key).better == "higher" else "above"
    return f"{side if _beyond(key, metric) else 'within'} {number(metric['chance'])}"


def _run_cells(metric: Json) -> list[Any]:
    runs = metric.get("runs")
    if not runs:
        return [words(UNDEFINED), words(UNDEFINED)]
    return [words(interval((runs["min"], runs["max"]))), words(percent(runs.get("share")))]


def _decided(metric: Json, short: dict[str, str]) -> Any:
    if not defined(metric["value"]):
        reasons = metric.get("undefined") or ["no groups to compare"]
        more = f" and {len(reasons) - 1} more" if len(reasons) > 1 else ""
        return words((f"undefined: {safe(reasons[0])}{more}", "dim"))
    named = " / ".join(short.get(name, safe(name)) for name in metric.get("decided_by") or [])
    in_class = (
        f" (class {safe(metric['decided_in'])})"
        if metric.get("decided_in") and metric.get("per_class")
        else ""
    )
    return words(named + (in_class if named and len(metric["per_class"] or ()) > 2 else ""))


def _groups(audit: Json, width: int) -> Any:
    keys = main_rates(audit)
    keys += [key for key in ("auc",) if defined(audit["overall"]["rates"].get(key))]
    room = width - min(26, max(len(name) for name in short_names(audit["groups"]).values())) - 10
    keys = keys[: max(1, room // 10)]
    made = table([("group", "left"), ("n", "right"), *((rate_head(key), "right") for key in keys)])
    short = short_names(audit["groups"])
    largest = sorted(audit["groups"], key=lambda group: -group["n"])[:MOST_GROUPS]
    overall = audit["overall"]
    made.add_row(
        "all rows", words(count(audit["n"])), *(words(number(overall["rates"].get(k))) for k in keys)
    )
    made.add_section()
    for group in [group for group in audit["groups"] if group in largest]:
        made.add_row(short[group["name"]], _size(group), *(_rate(group, key, overall) for key in keys))
    if audit.get("unknown"):
        made.add_row(words(("unknown group", "dim")), words((count(audit["unknown"]), "dim")))
    made.caption, made.caption_justify = _caption(audit, len(largest)), "left"
    return made


def _size(group: Json) -> Any:
    mark = "†" if group.get("excluded") and group["n"] else "*" if group.get("small") and group["n"] else ""
    return words((f"{count(group['n'])}{mark}", "dim" if mark else ""))


def _rate(group: Json, key: str, overall: Json) -> Any:
    value, reference = group["rates"].get(key), overall["rates"].get(key)
    known = defined(value) and defined(reference) and not group.get("excluded")
    return words((number(value), shade(value - reference) if known else ""))


def _caption(audit: Json, shown: int) -> str | None:
    groups = [group for group in audit["groups"] if group["n"]]
    notes = []
    if any(group.get("small") and not group.get("excluded") for group in groups):
        notes.append("* few rows: uncertain")
    if any(group.get("excluded") for group in groups):
        notes.append("† too few rows: left out of comparisons")
    if len(audit["groups"]) > shown:
        notes.append(f"the {shown} largest of {len(audit['groups'])} groups")
    return "; ".join(notes) or None


__all__ = ["HEADLINE", "audit_table", "comparison_table", "short_names", "shown_metrics"]

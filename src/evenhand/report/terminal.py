"""An audit on a terminal of any width: what was audited, headline metrics, groups, notes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from evenhand.report.definitions import define
from evenhand.report.headline import GAPS, WORST, present
from evenhand.report.names import main_rates, rate_head
from evenhand.report.numbers import UNDEFINED, count, defined, interval, number, percent
from evenhand.report.terminal_comparison import comparison_table
from evenhand.report.terminal_parts import Column, Fitted, Json, bullets, safe, shade, table, words
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
    short, keys = short_names(audit["groups"]), shown_metrics(audit["metrics"])
    found = [(key, audit["metrics"][key]) for key in keys]
    columns = [
        Column("metric", [words((key, "cyan")) for key in keys], right=False),
        Column("value", [words((number(m["value"]), "bold" if _beyond(key, m) else "")) for key, m in found]),
        Column(
            f"{level} interval", [words(interval((m.get("low"), m.get("high")))) for _, m in found], rank=1
        ),
        *(_run_columns(found) if audit.get("runs") else _chance_columns(found)),
        Column(
            "decided by",
            [_decided(m, short) for _, m in found],
            right=False,
            rank=5 if audit.get("runs") else 2,
            least=16,
        ),
    ]
    return table(columns, width)


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


def _chance_columns(found: Sequence[tuple[str, Json]]) -> list[Column]:
    return [Column("chance", [words(_chance(key, metric)) for key, metric in found], rank=3)]


def _chance(key: str, metric: Json) -> str:
    """What group labels dealt at random reach in 1 of 20 cases, and on which side of it the value lies.

    >>> _chance("tpr.gap", {"value": 0.3, "chance": 0.1}), _chance("tpr.ratio", {"value": 0.9, "chance": 0.8})
    ('> 0.100', '≥ 0.800')
    """
    if not defined(metric.get("chance")):
        return UNDEFINED
    beyond, within = ("<", "≥") if define(key).better == "higher" else (">", "≤")
    return f"{beyond if _beyond(key, metric) else within} {number(metric['chance'])}"


def _run_columns(found: Sequence[tuple[str, Json]]) -> list[Column]:
    """From the lowest to the highest run, and how much of the variance comes from the run."""
    runs = [metric.get("runs") or {} for _, metric in found]
    return [
        Column("over runs", [words(interval((run.get("min"), run.get("max")))) for run in runs], rank=3),
        Column("run share", [words(percent(run.get("share"))) for run in runs], rank=4),
    ]


def _decided(metric: Json, short: dict[str, str]) -> Any:
    if not defined(metric["value"]):
        reasons = metric.get("undefined") or ["no groups to compare"]
        more = f" and {len(reasons) - 1} more" if len(reasons) > 1 else ""
        return words((f"undefined: {safe(reasons[0])}{more}", "dim"))
    by = [short.get(name, safe(name)) for name in metric.get("decided_by") or []]
    named = " / ".join(name.replace(" · ", "·") for name in by)  # so that a line is broken between groups
    in_class = (
        f" (class {safe(metric['decided_in'])})"
        if metric.get("decided_in") and metric.get("per_class")
        else ""
    )
    return words(named + (in_class if named and len(metric["per_class"] or ()) > 2 else ""))


def _groups(audit: Json, width: int) -> Any:
    keys = main_rates(audit)
    keys += [key for key in ("auc",) if defined(audit["overall"]["rates"].get(key))]
    largest = sorted(audit["groups"], key=lambda group: -group["n"])[:MOST_GROUPS]
    shown = [group for group in audit["groups"] if group in largest]
    short, overall = short_names(audit["groups"]), audit["overall"]
    names = [words("all rows"), *(words(short[group["name"]]) for group in shown)]
    sizes = [words(count(audit["n"])), *(_size(group) for group in shown)]
    rates = {key: [_rate(row, key, overall) for row in (overall, *shown)] for key in keys}
    if audit.get("unknown"):
        names.append(words(("unknown group", "dim")))
        sizes.append(words((count(audit["unknown"]), "dim")))
        rates = {key: [*cells, words("")] for key, cells in rates.items()}
    columns = [Column("group", names, right=False, least=16), Column("n", sizes)]
    columns += [Column(rate_head(key), rates[key], rank=place) for place, key in enumerate(keys)]
    made = table(columns, width)
    made.caption, made.caption_justify = _caption(audit, len(shown)), "left"
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

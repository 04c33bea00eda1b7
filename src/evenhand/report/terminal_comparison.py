"""A comparison of models on a terminal: the models, how far each moved, the differences that matter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.report.headline import GAPS, WORST
from evenhand.report.numbers import UNDEFINED, count, defined, interval, number, p_value, percent
from evenhand.report.terminal_paid import paid_table, shown_payers
from evenhand.report.terminal_parts import Column, Fitted, Json, bullets, safe, table, words
from evenhand.report.told_apart import most_p, told_from_zero
from evenhand.report.verdict_comparison import alternatives, comparison_sentences, of_runs

SENTENCES = 3
MOST_ALTERNATIVES = 4
FEW_METRICS = 20


def comparison_table(comparison: Json) -> Fitted:
    """The summary of a comparison, for rich to print."""
    return Fitted(lambda width: _parts(comparison, width))


def _parts(comparison: Json, width: int) -> Iterator[Any]:
    names = alternatives(comparison)
    base = safe(comparison["base"])
    rows = "row" if comparison["n"] == 1 else "rows"
    facts = f"{count(comparison['n'])} {rows} · {len(comparison['classes'])} classes · base {base}"
    yield words(("Comparison", "bold"), f"  {facts}")
    yield bullets(comparison_sentences(comparison)[:SENTENCES], "›", "bold cyan")
    yield _models(comparison, width)
    for name in names[:MOST_ALTERNATIVES]:
        if payers := shown_payers(comparison, name):
            yield paid_table(payers, name, width)
        if shown_differences(comparison["differences"][name]):
            yield _differences(comparison, name, width)
    if len(names) > MOST_ALTERNATIVES:
        yield words((f"{len(names) - MOST_ALTERNATIVES} more alternatives are in the full report", "dim"))
    if comparison.get("warnings"):
        yield bullets(comparison["warnings"], "!", "bold yellow")


def differs(comparison: Json) -> str:
    """The head of the column: of several runs it is the class that most of them predict that differs.

    >>> differs({"runs": {"a": 5, "b": 5}}), differs({"runs": {"a": 1, "b": 1}})
    ('usual differs in', 'differs in')
    """
    return "usual differs in" if of_runs(comparison) else "differs in"


def _models(comparison: Json, width: int) -> Any:
    models, base = comparison["models"], comparison["base"]
    accuracy, cie = comparison["accuracy"], comparison.get("cie")
    moved = {
        name: accuracy[name] - accuracy[base]
        for name in models
        if name != base and defined(accuracy[name]) and defined(accuracy[base])
    }
    changes = [words("base" if name == base else number(moved.get(name), signed=True)) for name in models]
    columns = [
        Column("model", [words((safe(name), "cyan")) for name in models], right=False, least=16),
        Column("accuracy", [words(number(accuracy[name])) for name in models]),
        Column("change", changes),
        Column(
            differs(comparison),
            [words(percent(comparison["disagreement"].get(name))) for name in models],
            rank=1,
        ),
        *(Column(key.upper(), _pair(comparison, key), rank=2) for key in ("cev", "sde")),
    ]
    if cie:
        rows = [words(count((cie.get(name) or {}).get("count"))) for name in models]
        columns.append(Column("CIE rows", rows, rank=3))
    return table(columns, width)


def _pair(comparison: Json, key: str) -> list[Any]:
    found = [comparison[key].get(name) or {} for name in comparison["models"]]
    return [words(number(entry.get("value"), 4)) for entry in found]


def shown_differences(differences: Json) -> list[str]:
    """The headline gaps and worst groups; all metrics where there are few.

    >>> shown_differences({"acc": {"difference": 0.1}})
    ['acc']
    """
    if len(differences) <= FEW_METRICS:
        return list(differences)
    return [key for key in (*GAPS, *WORST) if key in differences]


def _differences(comparison: Json, model: str, width: int) -> Any:
    keys = shown_differences(comparison["differences"][model])
    found = [comparison["differences"][model][key] for key in keys]
    most = most_p(comparison)
    moved = [
        words((number(d["difference"], signed=True), "bold" if told_from_zero(d, most) else ""))
        for d in found
    ]
    columns = [
        Column("metric", [words((key, "cyan")) for key in keys], right=False),
        Column("base", [words(number(d["base"])) for d in found], rank=2),
        Column(safe(model)[:24], [words(number(d["value"])) for d in found], rank=1),
        Column("difference", moved),
        Column("interval", [words(interval((d["low"], d["high"]), signed=True)) for d in found], rank=3),
        Column("p", [words(p_value(d.get("p"))) for d in found], rank=4),
    ]
    if any(d.get("runs") for d in found):
        columns.append(Column("beyond runs", [words(_beyond_runs(d)) for d in found], rank=3))
    return table(columns, width, f"{safe(model)} minus {safe(comparison['base'])}")


def _beyond_runs(found: Json) -> str:
    runs = found.get("runs")
    return UNDEFINED if not runs else "yes" if runs["exceeds"] else "no"

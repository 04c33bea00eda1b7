"""A comparison of models on a terminal: the models, how far each moved, the differences that matter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.report.headline import GAPS, WORST
from evenhand.report.numbers import UNDEFINED, count, defined, interval, number, percent
from evenhand.report.terminal_parts import Fitted, Json, bullets, safe, table, words
from evenhand.report.verdict_comparison import alternatives, comparison_sentences

SENTENCES = 3
MOST_ALTERNATIVES = 4
FEW_METRICS = 20


def comparison_table(comparison: Json) -> Fitted:
    """The summary of a comparison, for rich to print."""
    return Fitted(lambda width: _parts(comparison, width))


def _parts(comparison: Json, width: int) -> Iterator[Any]:
    names = alternatives(comparison)
    base = safe(comparison["base"])
    facts = f"{count(comparison['n'])} rows · {len(comparison['classes'])} classes · base {base}"
    yield words(("Comparison", "bold"), f"  {facts}")
    yield bullets(comparison_sentences(comparison)[:SENTENCES], "›", "bold cyan")
    yield _models(comparison, width)
    for name in names[:MOST_ALTERNATIVES]:
        if shown_differences(comparison["differences"][name]):
            yield _differences(comparison, name, width)
    if len(names) > MOST_ALTERNATIVES:
        yield words((f"{len(names) - MOST_ALTERNATIVES} more alternatives are in the full report", "dim"))
    if comparison.get("warnings"):
        yield bullets(comparison["warnings"], "!", "bold yellow")


def _models(comparison: Json, width: int) -> Any:
    pairs = ("cev", "sde") if width >= 70 else ()
    heads = [("model", "left"), ("accuracy", "right"), ("change", "right"), ("differs in", "right")]
    heads += [(key.upper(), "right") for key in pairs]
    heads += [("CIE", "right")] if comparison.get("cie") else []
    made = table(heads)
    base = comparison["accuracy"][comparison["base"]]
    for model in comparison["models"]:
        own = comparison["accuracy"][model]
        cells = [words((safe(model), "cyan")), words(number(own))]
        if model == comparison["base"]:
            made.add_row(*cells, words("base"))
            continue
        moved = own - base if defined(own) and defined(base) else None
        cells += [words(number(moved, signed=True)), words(percent(comparison["disagreement"].get(model)))]
        cells += [words(number((comparison[key].get(model) or {}).get("value"), 4)) for key in pairs]
        cells += [words(count(comparison["cie"][model]["count"]))] if comparison.get("cie") else []
        made.add_row(*cells)
    return made


def shown_differences(differences: Json) -> list[str]:
    """The headline gaps and worst groups; all metrics where there are few.

    >>> shown_differences({"acc": {"difference": 0.1}})
    ['acc']
    """
    if len(differences) <= FEW_METRICS:
        return list(differences)
    return [key for key in (*GAPS, *WORST) if key in differences]


def _differences(comparison: Json, model: str, width: int) -> Any:
    runs = any(found.get("runs") for found in comparison["differences"][model].values())
    heads = [("metric", "left"), ("base", "right"), (safe(model), "right"), ("difference", "right")]
    heads += [("interval", "right")] if width >= 70 else []
    heads += [("p", "right")] if width >= 84 else []
    heads += [("beyond runs", "left")] if runs and width >= 96 else []
    made = table(heads, f"{safe(model)} minus {safe(comparison['base'])}")
    for key in shown_differences(comparison["differences"][model]):
        found = comparison["differences"][model][key]
        clear = defined(found["low"]) and defined(found["high"]) and found["low"] * found["high"] > 0
        cells = [words((key, "cyan")), *(words(number(found[side])) for side in ("base", "value"))]
        cells.append(words((number(found["difference"], signed=True), "bold" if clear else "")))
        cells += [words(interval((found["low"], found["high"]), signed=True))] if width >= 70 else []
        cells += [words(number(found.get("p")))] if width >= 84 else []
        cells += [words(_beyond_runs(found))] if runs and width >= 96 else []
        made.add_row(*cells)
    return made


def _beyond_runs(found: Json) -> str:
    runs = found.get("runs")
    return UNDEFINED if not runs else "yes" if runs["exceeds"] else "no"

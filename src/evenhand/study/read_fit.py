"""What a study file says of identical runs: `repeat`, `runs` and `[fit]`."""

from __future__ import annotations

from typing import Any

from evenhand.nets.names import no_such
from evenhand.study.fit import IDENTICAL, IMPLEMENTATION, RUNS, SOURCES
from evenhand.study.toml_table import TEXT, TEXTS, WHOLE, Table


def read_fit(top: Table) -> dict[str, Any]:
    """`repeats` and `vary` of a study; both empty where nothing is repeated."""
    repeat, runs = top.take("repeat", TEXT), top.take("runs", WHOLE)
    fit = top.table("fit")
    given = fit.take("vary", TEXTS)
    fit.refuse_rest("[fit]", ("vary",))
    if repeat is None:
        if runs is not None or given is not None:
            told = f'belongs to identical runs: say repeat = "{IDENTICAL}" at the top'
            top.wrong(f"'{'fit' if runs is None else 'runs'}' {told}", "fit" if runs is None else "runs")
        return {}
    if repeat != IDENTICAL:
        top.wrong(no_such("there is no way to repeat", repeat, (IDENTICAL,), "There is"), "repeat")
        return {}
    if runs is not None and runs < 2:
        top.wrong(f"'runs' must be at least 2, not {runs}", "runs")
    vary = _checked(fit, given, top.values.get("recipe"))
    return {"repeats": max(RUNS if runs is None else runs, 2), "vary": vary}


def _checked(fit: Table, given: list[str] | None, recipe: Any) -> tuple[str, ...]:
    """What may differ, in one order; without a word, the implementation."""
    if given is None:
        return IMPLEMENTATION
    for place, source in enumerate(given):
        if source not in SOURCES:
            fit.wrong(no_such("there is no source of variance", source, SOURCES, "There are"), "vary", place)
    held = [source for source in given if source in IMPLEMENTATION]
    if held and isinstance(recipe, dict) and recipe.get("deterministic") is True:
        fit.wrong(f"deterministic = true leaves no room for {', '.join(held)} to vary", "vary")
    return tuple(source for source in SOURCES if source in given)

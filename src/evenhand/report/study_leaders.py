"""The leader table of a problem: each method's selected setting, with intervals, marks and verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.report.numbers import UNDEFINED, defined, interval, number, probability
from evenhand.report.run_words import runs_word
from evenhand.report.study_body import NOT_ENOUGH, SHOWN, keys_of, setting_words, wanted

Json = Mapping[str, Any]
COLOURS = {1: "b2", 0: "", -1: "a2"}  # blue went the wanted way, orange the other
MARKS = {"lower": "▼", "higher": "▲", "no difference shown": "=", NOT_ENOUGH: "?"}
FAMILIES = ("differs from the base", "no difference shown", NOT_ENOUGH)
SEVERAL = "a setting for each metric"


def leader_rows(body: Json, problem: Json) -> list[dict[str, Any]]:
    """A row for each method: what it is, a cell for accuracy and every metric, seconds."""
    return [
        {
            "method": entry["method"],
            "setting": SEVERAL if entry["per_metric"] else setting_words(entry["setting"]),
            "one_model": one_model,
            "base": entry["against"] is None and entry["method"] == body["base"],
            "cells": [leader_cell(body, entry, key) for key in keys_of(body)],
            "runs": entry["n"],
            "failed": entry["failed"],
            "seconds": run_seconds((entry["seconds"] or {}).get("mean")),
            "family": family(entry),
        }
        for entry, one_model in shown_entries(problem)
    ]


def shown_entries(problem: Json) -> list[tuple[Json, bool]]:
    """Every method; after one whose metrics have settings of their own, also the one model that has them all.

    The numbers of the first belong to several models, which nobody can have at the same time.
    """
    found: list[tuple[Json, bool]] = []
    for entry in problem["methods"]:
        found.append((entry, False))
        if entry["single"]:
            found.append(({**entry, **entry["single"], "per_metric": None}, True))
    return found


def run_seconds(x: Any) -> str:
    """The seconds of a run with two digits: stacked runs take a small part of one.

    >>> run_seconds(0.0341), run_seconds(12.34), run_seconds(1234.5), run_seconds(None)
    ('0.034', '12', '1,234', '–')
    """
    if not defined(x):
        return UNDEFINED
    return f"{x:.2g}" if 0.001 <= x < 10 else number(x) if x < 10 else f"{x:,.0f}"


def family(entry: Json) -> str:
    """Whether a method differs from the base in anything, for the filter.

    >>> family({"against": {"acc": {"verdict": "no difference shown"}, "tpr.gap": {"verdict": "lower"}}})
    'differs from the base'
    """
    verdicts = [found.get("verdict") for found in (entry["against"] or {}).values()]
    if not verdicts:
        return "the base"
    if any(verdict in SHOWN for verdict in verdicts):
        return FAMILIES[0]
    return NOT_ENOUGH if all(verdict == NOT_ENOUGH for verdict in verdicts) else FAMILIES[1]


def leader_cell(body: Json, entry: Json, key: str) -> dict[str, str]:
    """A cell: mean, interval, the mark and words of the verdict, its colour, and all the rest as a note."""
    own = (entry["per_metric"] or {}).get(key)
    found = own or entry["numbers"].get(key) or {}
    moved = (entry["against"] or {}).get(key)
    spread = interval((found.get("low"), found.get("high")))
    return {
        "text": number(found.get("mean")),
        "interval": spread if spread != UNDEFINED else "",
        "mark": MARKS.get((moved or {}).get("verdict") or "", ""),
        "words": verdict_words(moved),
        "colour": COLOURS[wanted(body, key, found.get("mean"), moved)],
        "setting": setting_words((own or {}).get("setting")),
        "note": _note(body, found, moved, own),
    }


def verdict_words(moved: Json | None) -> str:
    """The verdict with its adjusted p-value, as words.

    >>> verdict_words({"verdict": "lower", "p_adjusted": 0.012}), verdict_words(None)
    ('lower, p = 0.012', '')
    """
    if not moved or not moved.get("verdict"):
        return ""
    p = f", {probability(moved['p_adjusted'])}" if defined(moved.get("p_adjusted")) else ""
    told = {"no difference shown": "no diff. shown", NOT_ENOUGH: "too few runs"}  # no column grows for them
    return told.get(moved["verdict"]) or str(moved["verdict"]) + p


def _note(body: Json, found: Json, moved: Json | None, own: Json | None) -> str:
    lines = []
    if own and own.get("setting"):
        lines.append(f"chosen for this metric: {setting_words(own['setting'])}")
    if moved and defined(moved.get("difference")):
        spread = interval((moved.get("low"), moved.get("high")), signed=True)
        lines.append(f"{number(moved['difference'], signed=True)} ({spread}) against {body['base']}")
        lines.append(f"p {_p(moved.get('p'))}, adjusted {_p(moved.get('p_adjusted'))}: {moved['verdict']}")
        if defined(moved.get("effect")):
            lines.append(f"Cohen's d {number(moved['effect'], 2, signed=True)} ({moved.get('band') or '–'})")
    if defined(found.get("std")):
        ends = interval((found.get("min"), found.get("max")))
        lines.append(f"over {runs_word(body)} ± {number(found['std'])}, {ends}")
    return "\n".join(lines)


def _p(p: Any) -> str:
    return number(p) if defined(p) else "unknown"


def overall_rows(body: Json) -> list[dict[str, Any]]:
    """A row for each method over all problems: its mean rank, and where it beats the base or is beaten."""
    rows = []
    for entry in body["leaders"]:
        cells = []
        for key in keys_of(body):
            found = entry["numbers"].get(key) or {}
            won = [found.get(which) for which in ("wins", "losses", "ties")]
            tally = f"{won[0]} better, {won[1]} worse" if any(won) else ""
            spread = interval((found.get("low"), found.get("high")))
            told = [
                f"mean {number(found.get('mean'))} ({spread})",
                f"on {won[2] or 0} no difference shown",
                found.get("verdict"),
            ]
            note = "\n".join(line for line in told if line)
            cells.append({"rank": number(found.get("mean_rank"), 2), "tally": tally, "note": note})
        rows.append({"method": entry["method"], "base": entry["method"] == body["base"], "cells": cells})
    return rows

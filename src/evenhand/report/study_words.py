"""The findings of a study in plain sentences: what moved, at what cost, and what cannot be told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.report.names import isolated, listed
from evenhand.report.numbers import UNDEFINED, count, defined, interval, number, probability
from evenhand.report.run_words import runs_word
from evenhand.report.study_body import (
    NOT_ENOUGH,
    SHOWN,
    better,
    ideal,
    metrics_of,
    problem_name,
    wanted,
    words,
)
from evenhand.report.verdict_tradeoff import clear, size

Json = Mapping[str, Any]
MOST_PROBLEMS = 3
LOSSES = {
    "levelled down": "the best group lost and the worst did not gain (levelled down)",
    "worst lost": "it lost",
    "both lost": "both it and the best group lost",
}
CORRECTIONS = {"holm": "Holm's correction", "benjamini-hochberg": "Benjamini and Hochberg's correction"}


def study_sentences(body: Json) -> list[str]:
    """What a reader should know first; `body` is completed (`study_body.completed`)."""
    if not any(problem["methods"] for problem in body["problems"]):
        return [_nothing(body["state"])]
    every = comparisons(body)
    told = _problems(body) if any(found.get("verdict") != NOT_ENOUGH for found in every) else []
    told = told or [_uncompared(body, every)]
    return [*told, *_counted(every, body), *_levelled(body), *_chosen(body), *_left_open(body)]


def _problems(body: Json) -> list[str]:
    sentences = [problem_sentence(body, problem) for problem in body["problems"][:MOST_PROBLEMS]]
    more = len(body["problems"]) - MOST_PROBLEMS
    rest = [f"{more} more problem{'s are' if more > 1 else ' is'} in the tables."] if more > 0 else []
    return [*filter(None, sentences), *rest]


def _uncompared(body: Json, every: Sequence[Json]) -> str:
    """Why nothing is compared, or what the comparisons lack."""
    base = isolated(body["base"])
    if body["equal_runs"]:
        return (
            "The identical runs of every method are equal to the bit: each counts as one run, and "
            f"whether a method differs from {base} over other seeds cannot be told from them."
        )
    if every:
        return f"There are not enough runs to tell whether any method differs from {base} in any metric."
    finished = {entry["method"] for problem in body["problems"] for entry in problem["methods"]}
    if len(finished) == 1:
        (only,) = finished
        return f"Only {isolated(only)} has finished runs, so that nothing is compared; its numbers are below."
    if body["base"] in finished:  # with networks that no other method was run with
        return f"Nothing is compared: no problem has finished runs of both {base} and another method."
    return f"Nothing is compared: {base}, which the others are compared with, has no finished run."


def _nothing(state: Json) -> str:
    planned, failed = count(state["planned"]), state["failed"]
    if failed and failed == state["planned"]:
        reasons = listed([f"{one['reason']} ({count(one['runs'])})" for one in state["failures"]])
        which = "The only run" if failed == 1 else f"All {planned} runs"
        return f"{which} failed, so nothing can be told{': ' if reasons else '.'}{reasons}"
    lost = f", {count(failed)} failed" if failed else ""
    return f"No run has finished yet: of {planned} planned, 0 are done{lost}. Nothing can be told."


def problem_sentence(body: Json, problem: Json) -> str:
    """The method that moved the first metric farthest in the wanted direction, and what accuracy it cost."""
    keys = [key for key in metrics_of(body) if better(body, key) or ideal(body, key) is not None]
    others = [entry for entry in problem["methods"] if entry["against"]]
    if not keys or not others:
        return ""
    key, place, base = keys[0], f"On {problem_name(body, problem)}", isolated(body["base"])
    moved = [entry for entry in others if _improved(body, entry, key)]
    if not moved:
        return f"{place}, {_none_moved(body, others, key, base)}"
    best = max(moved, key=lambda entry: abs(entry["against"][key]["difference"]))
    verb = "lowered" if best["against"][key]["verdict"] == "lower" else "raised"
    runs = f"over {best['n']} {runs_word(body)}" if best["n"] != 1 else "in one run"
    cost = "" if best["per_metric"] else _cost(best["against"].get(body["accuracy"]), body["accuracy"])
    moved_by = f"the {words(key)} by {size(best['against'][key])}"
    return f"{place}, {isolated(best['method'])} {verb} {moved_by} against {base} {runs}{cost}."


def _improved(body: Json, entry: Json, key: str) -> bool:
    return wanted(body, key, (entry["numbers"].get(key) or {}).get("mean"), entry["against"].get(key)) > 0


def _none_moved(body: Json, others: Sequence[Json], key: str, base: str) -> str:
    verdicts = [entry["against"].get(key, {}).get("verdict") for entry in others]
    if all(verdict == NOT_ENOUGH for verdict in verdicts):
        return f"there are not enough runs to tell whether any method moves the {words(key)} against {base}."
    found = [entry for entry in others if defined(entry["against"].get(key, {}).get("difference"))]
    if not found:
        return f"the {words(key)} is undefined for every method or for {base}."
    way, aim = better(body, key), ideal(body, key)
    if not way:
        return f"no method is shown to have a {words(key)} nearer to {aim:g} than {base}."
    sign = -1.0 if way == "lower" else 1.0
    nearest = max(found, key=lambda entry: sign * float(entry["against"][key]["difference"]))
    told = f"{isolated(nearest['method'])} comes nearest: {_difference(nearest['against'][key])}"
    return f"no method is shown to have a {way} {words(key)} than {base}; {told}."


def _difference(moved: Json) -> str:
    """A difference with its interval and, since the two need not agree, the p-value that decided."""
    spread, p = interval((moved.get("low"), moved.get("high")), signed=True), moved.get("p_adjusted")
    told = number(moved["difference"], signed=True) + (f" ({spread})" if spread != UNDEFINED else "")
    return f"{told}, {probability(p)}" if defined(p) else told


def _cost(found: Json | None, accuracy: str) -> str:
    if not found or not defined(found.get("difference")):
        return ""
    moved, name = found["difference"], words(accuracy)
    if found.get("verdict") in SHOWN or (not found.get("verdict") and clear(found)):
        return f", {f'at {size(found)} less' if moved < 0 else f'with {size(found)} more'} {name}"
    return f"; a change of {name} is not shown ({number(moved, signed=True)})"


def comparisons(body: Json) -> list[Json]:
    """Every comparison of a method with the base, in every problem and number."""
    return [
        found
        for problem in body["problems"]
        for entry in problem["methods"]
        for found in (entry["against"] or {}).values()
    ]


def _counted(every: Sequence[Json], body: Json) -> list[str]:
    if all(found.get("verdict") == NOT_ENOUGH for found in every):
        return []  # has been said
    shown = sum(found.get("verdict") in SHOWN for found in every)
    short_of = sum(found.get("verdict") == NOT_ENOUGH for found in every)
    after = CORRECTIONS.get(body["tests"]["correction"])
    are = "is" if shown == 1 else "are"
    told = f"Of {len(every)} comparisons with {isolated(body['base'])}, {shown} {are} significant"
    told += f" after {after}" if after else " (not corrected for their number)"
    return [told + (f"; for {short_of} there are not enough runs to tell." if short_of else ".")]


def _levelled(body: Json) -> list[str]:
    """Whether gaps shrank by the worst group's gain or by another's loss."""
    found = [
        entry["levelling"]["verdict"]
        for problem in body["problems"]
        for entry in problem["methods"]
        if entry["levelling"] and entry["levelling"].get("verdict")
    ]
    if not found:
        return []
    gained = sum(verdict in ("worst gained", "both gained") for verdict in found)
    lost = [f"in {found.count(which)} {told}" for which, told in LOSSES.items() if which in found]
    rest = f"; {', '.join(lost)}" if lost else ""
    many = (
        f"{len(found)} pairs of method and problem"
        if len(found) > 1
        else "the one pair of method and problem"
    )
    return [f"The group that is worst off under {isolated(body['base'])} gained in {gained} of {many}{rest}."]


def _chosen(body: Json) -> list[str]:
    told = []
    if body["selection"]["oracle"]:
        told.append(
            f"Oracle: settings were chosen on the {body['selection']['part'] or 'test'} part, where they are "
            "reported; these numbers say what a method could reach, not what one would get."
        )
    if body["budget"]["equal"] is False:
        told.append("The methods did not have the same search budget: see what was run.")
    return told


def _left_open(body: Json) -> list[str]:
    state, told = body["state"], []
    if not state["finished"]:
        told.append(
            f"The study is not finished: {count(state['done'])} of {count(state['planned'])} runs are done; "
            "every number here may still change."
        )
    if state["failed"]:
        reasons = [f"{one['reason']} ({count(one['runs'])})" for one in state["failures"]]
        why = f": {listed(reasons)}" if reasons else ""
        told.append(f"{count(state['failed'])} run{'s' if state['failed'] != 1 else ''} failed{why}.")
    return told

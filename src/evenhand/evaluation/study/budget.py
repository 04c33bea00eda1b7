"""Had every method the same search budget? Settings and seeds of each, in numbers and in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.evaluation.study.levels import level_words, levels_of, same_at_each_level
from evenhand.study.frame import Frame


def budget(frame: Frame) -> dict[str, Any]:
    """Settings, seeds, runs and seconds of each method, and whether all had equally much on each problem."""
    lines = [_line(frame, method) for method in frame.layout.methods()]
    sizes = {
        (problem, method): _size(frame, problem, method)
        for problem in range(len(frame.layout.problems))
        for method in frame.layout.methods(problem)
    }
    equal = all(
        len({size for (where, _), size in sizes.items() if where == problem}) == 1
        for problem in {where for where, _ in sizes}
    )
    levels = level_words(frame.study)
    if levels and same_at_each_level(frame):
        return {**_spent(lines, frame), "equal": True, "words": levels, "levels": levels_of(frame.study)[0]}
    return {
        **_spent(lines, frame), "equal": equal, "words": _words(lines, equal, _run_of(frame)), "levels": "",
    }  # fmt: skip


def _spent(lines: list[dict[str, Any]], frame: Frame) -> dict[str, Any]:
    """What each method was given, and the seconds of all of them."""
    return {
        "run": _run_of(frame), "seconds": sum(line["seconds"] for line in lines), "methods": lines,
    }  # fmt: skip


def _size(frame: Frame, problem: int, method: str) -> tuple[int, int]:
    """Settings, and planned runs, of a method on a problem."""
    places = frame.layout.of(problem, method)
    return len(places), sum(len(frame.layout.candidates[place].rows) for place in places)


def _line(frame: Frame, method: str) -> dict[str, Any]:
    candidates = [candidate for candidate in frame.layout.candidates if candidate.method == method]
    every = [row for candidate in candidates for row in candidate.rows.tolist()]
    rows = [row for row in every if frame.trained[row]]  # what stands for several groupings was run once
    on_problem: dict[int, int] = {}
    for candidate in candidates:
        on_problem[candidate.problem] = on_problem.get(candidate.problem, 0) + 1
    return {
        "method": method,
        "settings": max(on_problem.values()),
        "seeds": max(len(candidate.rows) for candidate in candidates),
        "runs": len(rows),
        "how": _how(frame.study, method),
        "seconds": float(sum(frame.columns["seconds"][row] or 0.0 for row in rows)),
    }


def _run_of(frame: Frame) -> str:
    """What a setting has several of: seeds, unless its runs are identical ones of one seed."""
    return "identical run" if any(repeat is not None for repeat in frame.columns["repeat"]) else "seed"


def _words(lines: list[dict[str, Any]], equal: bool, run: str) -> str:
    if not lines:
        return "no runs are planned"
    if equal and len({line["settings"] for line in lines}) == 1:
        return (
            f"every method had the same budget: {_many(lines[0]['settings'], 'setting')}, "
            f"{_many(lines[0]['seeds'], run)}"
        )
    if equal:
        return "on each problem every method had the same budget; problems differ"
    most = max(line["settings"] * line["seeds"] for line in lines)
    fewer = [line for line in lines if line["settings"] * line["seeds"] < most]
    more = [line for line in lines if line["settings"] * line["seeds"] == most]
    if not fewer:
        return "the methods had different numbers of runs on some problems"
    return f"the budgets differ: {_each(more, run)}; fewer for {_each(fewer, run)}"


def _each(lines: list[dict[str, Any]], run: str) -> str:
    return ", ".join(
        f"{line['method']} ({_many(line['settings'], 'setting')}, {_many(line['seeds'], run)})"
        for line in lines
    )


def _many(n: int, word: str) -> str:
    return f"{n} {word}" if n == 1 else f"{n} {word}s"


def _how(study: Mapping[str, Any], method: str) -> str:
    """How the settings of a method were made: "random", "grid" or "fixed"."""
    for entry in study.get("methods") or ():
        if method not in (entry.get("name"), entry.get("key")):
            continue
        varied = [*(entry.get("fields") or {}).values(), *(entry.get("recipe") or {}).values()]
        if entry.get("draws") or any(_keys(value) & {"low", "high", "search"} for value in varied):
            return "random"
        if any(_keys(value) & {"values", "grid"} for value in varied):
            return "grid"
    return "fixed"


def _keys(value: Any) -> set[str]:
    return set(value) if isinstance(value, Mapping) else set()

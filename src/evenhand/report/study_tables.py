"""The tables of a study as plain rows, each of which can become Markdown, CSV or LaTeX."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.report.numbers import UNDEFINED, interval, number
from evenhand.report.run_words import budget_rows, runs_word
from evenhand.report.study_body import completed, head, keys_of, names_by_id, problem_name, setting_words
from evenhand.report.study_leaders import MARKS, SEVERAL, shown_entries
from evenhand.report.study_rows import (
    class_rows,
    cost_rows,
    failure_rows,
    group_rows,
    levelling_rows,
    number_rows,
    rank_rows,
    variance_rows,
)

Json = Mapping[str, Any]
Cell = str | float | int | None


@dataclass(frozen=True)
class Table:
    """A table: what it is called, its heads, and rows of texts and raw numbers (None where undefined)."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""


def tables(study: Json) -> dict[str, Table]:
    """Every table of a study that has rows, by a name that can be a file's."""
    body = completed(study)
    made = {
        "leaders": leaders(body),
        "runs": over_runs(body),
        "overall": overall(body),
        "numbers": _of("Every number of every selected setting", number_rows(body)),
        "budget": _of("What each method was given", budget_rows(body)),
        "failures": _of("Runs that failed, by reason", failure_rows(body)),
        "groups": _of("Rates of each group", group_rows(body)),
        "classes": _of("Metrics of each class by itself", class_rows(body)),
        "levelling": _of("Change of the worst and the best group", levelling_rows(body)),
        "variance": _of(f"Spread over {runs_word(body)} and over test rows", variance_rows(body)),
        "ranks": _of("Mean ranks over problems", rank_rows(body)),
        "cost": _of("Cost of mitigation", cost_rows(body)),
        "spearman": spearman(body),
        "settings": settings(body),
    }
    return {name: table for name, table in made.items() if table.rows}


def oracle_note(body: Json) -> str:
    """What is written under every table whose settings were chosen where they are reported."""
    if not body["selection"]["oracle"]:
        return ""
    return f"Oracle: settings chosen on the {body['selection']['part'] or 'test'} part itself."


def _of(title: str, rows: Sequence[Json]) -> Table:
    """A table from dictionaries that share their keys."""
    heads = list(dict.fromkeys(key for row in rows for key in row))
    told = tuple(key.replace("_", " ") for key in heads)
    return Table(title, told, tuple(tuple(_plain(row.get(key)) for key in heads) for row in rows))


def _plain(value: Any) -> Cell:
    if value is None or isinstance(value, str | float | int):
        return value
    return setting_words(value) if isinstance(value, Mapping) else ", ".join(str(part) for part in value)


def leaders(body: Json) -> Table:
    """The leader table: mean with interval and mark, ready to be printed."""
    several = len(body["problems"]) > 1
    rows = [
        (
            *((problem_name(body, problem),) if several else ()),
            *(entry["method"], _setting(entry, one_model)),
            *(_estimate(entry, key) for key in keys_of(body)),
            *(entry["n"], (entry["seconds"] or {}).get("mean")),
        )
        for problem in body["problems"]
        for entry, one_model in shown_entries(problem)
    ]
    heads = (*(("Problem",) if several else ()), "Method", "Setting", *(head(key) for key in keys_of(body)))
    note = " ".join(part for part in (_legend(body), oracle_note(body)) if part)
    return Table("Methods", (*heads, "Runs", "Seconds per run"), tuple(rows), note)


def _legend(body: Json) -> str:
    level = f"{100 * body['confidence']:g}%"
    return (
        f"Mean over {runs_word(body)} [{level} interval]; against {body['base']}: ▼ lower, ▲ higher after "
        "correction, = no difference shown, ? not enough runs to tell."
    )


def _setting(entry: Json, one_model: bool) -> str:
    told = SEVERAL if entry["per_metric"] else setting_words(entry["setting"])
    return f"one model: {told}" if one_model else told


def _estimate(entry: Json, key: str) -> str:
    found = (entry["per_metric"] or {}).get(key) or entry["numbers"].get(key) or {}
    verdict = ((entry["against"] or {}).get(key) or {}).get("verdict") or ""
    spread = interval((found.get("low"), found.get("high"))).replace(" to ", ", ")
    told = number(found.get("mean")) + (f" [{spread}]" if spread != UNDEFINED else "")
    return f"{told} {MARKS.get(verdict, '')}".rstrip()


def over_runs(body: Json) -> Table:
    """Mean, deviation and range over the runs of every method that has several: what S0 asks of a report."""
    several = len(body["problems"]) > 1
    rows = [
        (
            *((problem_name(body, problem),) if several else ()),
            *(entry["method"], _setting(entry, one_model), entry["n"]),
            *(_over_runs(entry, key) for key in keys_of(body)),
        )
        for problem in body["problems"]
        for entry, one_model in shown_entries(problem)
        if entry["n"] > 1
    ]
    heads = (*(("Problem",) if several else ()), "Method", "Setting", "Runs")
    note = f"Mean ± deviation over runs (smallest to largest). {oracle_note(body)}"
    return Table("Over runs", (*heads, *(head(key) for key in keys_of(body))), tuple(rows), note.rstrip())


def _over_runs(entry: Json, key: str) -> str:
    found = (entry["per_metric"] or {}).get(key) or entry["numbers"].get(key) or {}
    ends = interval((found.get("min"), found.get("max")))
    return f"{number(found.get('mean'))} ± {number(found.get('std'))} ({ends})"


def overall(body: Json) -> Table:
    """Methods over all problems: mean rank, wins and losses for each number."""
    if len(body["problems"]) < 2:
        return Table("Over all problems", (), ())
    rows = [
        (entry["method"], *(_standing(entry["numbers"].get(key) or {}) for key in keys_of(body)))
        for entry in body["leaders"]
    ]
    note = "Mean rank over problems (shown better than the base on / shown worse on)."
    return Table("Over all problems", ("Method", *(head(key) for key in keys_of(body))), tuple(rows), note)


def _standing(found: Json) -> str:
    won = (
        f" ({found['wins']}/{found['losses']})"
        if any(found.get(which) for which in ("wins", "losses", "ties"))
        else ""
    )
    return number(found.get("mean_rank"), 2) + won


def spearman(body: Json) -> Table:
    """Spearman's correlation of every two numbers over the runs of a problem."""
    names = names_by_id(body)
    every = [body["spearman"]] if isinstance(body["spearman"], Mapping) else body["spearman"]
    rows: list[Json] = [
        {"problem": names.get(str(found.get("problem")), str(found.get("problem") or "")), "metric": one,
         "other": other, "rho": found["matrix"][i][j], "runs": (found.get("n") or {}) and found["n"][i][j]}
        for found in every
        for i, one in enumerate(found["metrics"])
        for j, other in enumerate(found["metrics"])
        if i < j
    ]  # fmt: skip
    return _of("Spearman's correlation over runs", rows)


def settings(body: Json) -> Table:
    """What was selected for each method, by what."""
    names = names_by_id(body)
    rows = [
        {
            **row,
            "problem": names.get(str(row["problem"]), row["problem"]),
            "setting": setting_words(row["setting"]),
        }
        for row in body["settings"]
    ]
    table = _of("Selected settings", rows)
    return Table(table.title, table.heads, table.rows, oracle_note(body))

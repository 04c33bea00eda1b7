"""A study on a terminal: what was run, the leaders with their numbers, what failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from evenhand.report.numbers import count, interval, number
from evenhand.report.terminal_parts import Column, Fitted, Json, bullets, safe, table, words

MOVED = ("lower", "higher")
MOST_NOTES = 3


def study_table(body: Json) -> Fitted:
    """The summary of a study, for rich to print."""
    return Fitted(lambda width: _parts(body, width))


def _parts(body: Json, width: int) -> Iterator[Any]:
    yield words((f"Study {safe(body['name'])}", "bold"), f"  {' · '.join(_facts(body))}")
    problems = [problem for problem in body.get("problems") or () if problem["methods"]]
    if not problems:
        yield words(_no_numbers(body["state"]))
    elif len(problems) == 1:
        yield words((_problem(problems[0]), "dim"))
        yield _methods(body, problems[0], width)
    else:
        yield _leaders(body, len(problems), width)
    notes = [*_failures(body), *(note for note in body.get("notes") or () if not _told(note))]
    if notes:
        more = len(notes) - MOST_NOTES
        rest = [f"and {more} more {'note' if more == 1 else 'notes'} in the report"] if more > 0 else []
        yield bullets([*notes[:MOST_NOTES], *rest], "!", "bold yellow")


def _no_numbers(state: Json) -> str:
    every = state["planned"] and state.get("failed") == state["planned"]
    return "every run failed: there are no numbers" if every else "no run is finished yet"


def _told(note: str) -> bool:
    """Whether a note only repeats the lines above it: failures, and what has no numbers yet."""
    return "runs failed and take no part" in note or note.endswith("has nothing to report yet")


def _facts(body: Json) -> list[str]:
    state = body["state"]
    told = [f"{count(state['done'])} of {count(state['planned'])} runs"]
    told += [f"{count(state['failed'])} failed"] if state.get("failed") else []
    told += [f"base {safe(body['base'])}"] if body.get("base") else []
    return [*told, *_chosen(body)]


def _chosen(body: Json) -> list[str]:
    """Where settings were chosen; nothing where no method has a choice."""
    selection = body.get("selection") or {}
    given = [entry.get("settings", 1) for entry in (body.get("budget") or {}).get("methods") or ()]
    if not selection.get("part") or (given and max(given) == 1):
        return []
    if selection.get("oracle"):
        return ["settings chosen on the test rows (oracle)"]
    if (body.get("budget") or {}).get("levels"):
        return [f"one level of {body['budget']['levels']} each, chosen on {selection['part']}"]
    each = " for each metric" if selection.get("rule") == "best-per-metric" else ""
    return [f"settings chosen{each} on {selection['part']}"]


def _problem(problem: Json) -> str:
    return f"{safe(problem['task'])} by {safe(problem['grouping'])}, {safe(problem['net'])}"


def _failures(body: Json) -> list[str]:
    return [
        f"{count(entry['runs'])} {'run' if entry['runs'] == 1 else 'runs'} failed: {entry['reason']}"
        for entry in body["state"].get("failures") or ()
    ]


def _keys(body: Json) -> list[str]:
    """Accuracy first, then the metrics of the study."""
    metrics = [metric["key"] for metric in body["metrics"]]
    return list(dict.fromkeys([body["accuracy"], *metrics]))


def _methods(body: Json, problem: Json, width: int) -> Any:
    """Every method's selected setting, in the dictionary's order: best first."""
    methods = problem["methods"]
    columns = [_names(methods)]
    labels = [safe(method.get("label") or "") for method in methods]
    names = [safe(method["method"]) for method in methods]
    if any(label not in ("", name) for label, name in zip(labels, names, strict=True)):
        columns.append(
            Column("setting", [words((label, "dim")) for label in labels], right=False, rank=20, least=12)
        )
    for place, key in enumerate(_keys(body)):
        columns.append(Column(key, [_value(method, key) for method in methods], rank=place))
    columns.append(Column("seeds", [words(count(method["n"])) for method in methods], rank=10))
    made = table(columns, width)
    compared = any(method.get("against") for method in methods)
    several = any(method["n"] > 1 for method in methods)
    told = ["mean ± standard deviation over runs, below it the range" if several else "one run each"]
    made.caption = "; ".join(told + ["* differs from the base"] * compared)
    made.caption_justify = "left"
    return made


def _value(method: Json, key: str) -> Any:
    found = (method.get("numbers") or {}).get(key) or {}
    verdict = ((method.get("against") or {}).get(key) or {}).get("verdict")
    moved = verdict in MOVED
    told, style = f"{number(found.get('mean'))}", "bold" if moved else ""
    if method["n"] < 2 or found.get("std") is None:
        return words((f"{told}{'*' if moved else ''}", style))
    ends = interval((found.get("min"), found.get("max")))
    return words((f"{told} ± {number(found['std'])}{'*' if moved else ''}", style), (f"\n{ends}", "dim"))


def _leaders(body: Json, problems: int, width: int) -> Any:
    """Every method over all problems: the mean of each metric, and its mean rank."""
    leaders: Sequence[Json] = body.get("leaders") or ()
    columns = [_names(leaders)]
    for place, key in enumerate(_keys(body)):
        cells = [_ranked((leader["numbers"] or {}).get(key) or {}) for leader in leaders]
        columns.append(Column(key, cells, rank=place))
    made = table(columns, width)
    made.caption = (
        f"mean over {problems} problems (mean rank, 1 is best){_fewer(body, leaders)}; deviation and range "
        "over runs: in the report"
    )
    made.caption_justify = "left"
    return made


def _fewer(body: Json, leaders: Sequence[Json]) -> str:
    """Methods that were not run on all problems: their means are over other ones, and do not compare."""
    of = Counter(method["method"] for problem in body["problems"] for method in problem["methods"])
    most = len(body["problems"])
    told = [f"{one['method']} over {of[one['method']]}" for one in leaders if of[one["method"]] < most]
    return f"; but {', '.join(told)}, which do not compare" if told else ""


def _ranked(found: Json) -> Any:
    rank = found.get("mean_rank")
    return words(f"{number(found.get('mean'))}{f' ({number(rank, 1)})' if rank is not None else ''}")


def _names(methods: Sequence[Json]) -> Column:
    return Column(
        "method", [words((safe(method["method"]), "cyan")) for method in methods], right=False, least=12
    )

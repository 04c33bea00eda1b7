"""The store of a study that has public values, beside them: one dictionary, a page, tables, a figure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.evaluation.page_head import page_head
from evenhand.evaluation.reference_values.answers import answers
from evenhand.evaluation.reference_values.beside import Beside, matched
from evenhand.evaluation.reference_values.nearness import (
    farthest,
    groups_swapped,
    mean_known,
    nearness,
    nearness_by,
    problem_of,
    rank_rows,
    variants_apart,
)
from evenhand.evaluation.reference_values.public import (
    ACCURACY,
    METRICS,
    MODELS,
    READING,
    family,
    references_of,
)
from evenhand.evaluation.reference_values.spread import spread_lines
from evenhand.evaluation.unjudged import judged_if_whole
from evenhand.evaluation.values import plain
from evenhand.statistics.effects import mean_interval
from evenhand.study.frame import Frame

Progress = Callable[[str], None]
SANITY = {"ci-mnist-box": ("clr .5 .5", "colour", 0.94)}  # problem, and the accuracy that ERM must have there
EXCHANGED = (
    "adult-age",
)  # the public code exchanges the names of the two groups; its figures may or may not


def paper(store: Any, folder: Path | str, progress: Progress | None = None) -> dict[str, Any]:
    """Write paper.html, paper.json and paper/{tables,figures}/ into the folder; gives what the page shows."""
    from evenhand.report.reference_values_files import write_paper

    tell = progress or (lambda words: None)
    body = compute(store, tell)
    tell("writing the public values and ours")
    write_paper(body, Path(folder))
    return body


def compute(store: Any, tell: Progress = lambda words: None) -> dict[str, Any]:
    """Everything that is said of a store, finished or not, as plain values; NaN is None."""
    frame = Frame.open(store)
    if not frame.done.any():
        raise InputError("no run of this study is done: there is nothing to set beside the public values")
    tell("choosing settings as the public figures do, and on validation rows")
    rows = matched(frame)
    if not rows:
        raise InputError("this store has no task and grouping of which public values are known")
    # questions compare models on one network; both studies have one
    first = [row for row in rows if row.net == rows[0].net]
    name, ranks = str(frame.study["name"]), rank_rows(first)
    head = _head(frame)
    body = {
        **head, "net": rows[0].net, "rows": [row.to_dict() for row in rows],
        "runs": spread_lines(rows, head["part"]),
        "overall": nearness("all", rows),
        "by_metric": nearness_by(rows, lambda row: METRICS[row.reference.metric]),
        "by_problem": nearness_by(rows, problem_of),
        "by_model": nearness_by(rows, lambda row: family(row.reference.model)),
        "ranks": ranks, "mean_ranks": {
            key: mean_known([row[key] for row in ranks]) for key in ("models", "families", "validation")
        },
        "farthest": [row.to_dict() for row in farthest(rows)],
        "questions": answers(name, first),
        "variants": variants_apart(first), "groups": groups_swapped(first) if name in EXCHANGED else None,
        "sanity": _sanity(name, first),
    }  # fmt: skip
    clean: dict[str, Any] = judged_if_whole(plain(body))
    return clean


def _head(frame: Frame) -> dict[str, Any]:
    """What was run, and how the public values are named."""
    study = frame.study
    name = str(study["name"])
    return {
        **page_head(frame, "reference-values", str(study.get("title") or name)),
        "epochs": (study.get("recipe") or {}).get("epochs"),
        "part": str((study.get("selection") or {}).get("part", "validation")),
        "public": len(references_of(name)), "reading": READING, "metrics": dict(METRICS),
        "models": dict(MODELS),
    }  # fmt: skip


def _sanity(study: str, rows: Sequence[Beside]) -> dict[str, Any] | None:
    """Whether plain training reaches what it must where nothing goes with the label."""
    if study not in SANITY:
        return None
    task, grouping, least = SANITY[study]
    wanted = (task, grouping, "mlp", ACCURACY)
    found = next(
        (
            row.validation or row.oracle  # it has one setting, so that nothing is chosen
            for row in rows
            if (row.reference.task, row.reference.grouping, row.reference.model, row.reference.metric)
            == wanted
        ),
        None,
    )
    if found is None:
        return {"task": task, "least": least, "mean": None, "low": None, "high": None, "n": 0}
    low, high = mean_interval(found.known)
    return {"task": task, "least": least, "mean": found.mean, "low": low, "high": high, "n": found.n}

"""What a fit's audit looks at: the predictions of its runs on one task, or on a task for each run."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from evenhand.arrays import Array
from evenhand.data.task import Task
from evenhand.evaluation.rows import describe, grouping_of_rows
from evenhand.evaluation.scored import EXACT_VALUES
from evenhand.evaluation.subject import Grouping, Subject, task_of
from evenhand.groups import Attribute, Groups
from evenhand.metrics.counts import Counts

if TYPE_CHECKING:
    from evenhand.evaluation.fitted import Fitted

ASTRAY = 10  # times the loss of even chances
PIECE = 4096  # rows that are decoded at a time


def subject_of_task(fitted: Fitted, part: str, topk: int) -> Subject:
    """All runs on the rows of one task; a single run brings its scores as well."""
    task = fitted.tasks[0]
    rows, groups = task.rows(part), part_groups(task, fitted.protect, part)
    scores = part_scores(fitted, task, part)
    guesses, single = predictions(scores, task.multi_label), len(scores) == 1
    y, p = np.asarray(task.y[rows]), guesses[0] if single else guesses
    warnings = not_numbers(fitted, scores)
    s = _score_columns(scores[0], task) if single and not warnings else None
    alone = groups.attributes if len(groups.attributes) > 1 else ()
    sets = [groups, *(Groups.from_attributes([attribute]) for attribute in alone)]
    main, *others = (grouping_of_rows(y, p, each, None, s, fitted.classes, topk) for each in sets)
    return Subject(
        main, fitted.classes, task_of(main.counts), tuple(others), 0, run_names(fitted),
        fitted.facts.get("name"), warnings=(*warnings, *worse_than_guessing(fitted)),
        score_kind=None if s is None else "exact" if s.size <= EXACT_VALUES else "binned",
    )  # fmt: skip


def subject_of_tasks(fitted: Fitted, part: str, topk: int) -> Subject:
    """Each run on the rows of its own task: another split, another draw of the data."""
    tables, warnings = [], list[str]()
    for place, task in enumerate(fitted.tasks):
        groups = part_groups(task, fitted.protect, part)
        scores = part_scores(fitted, task, part, place)
        guess = predictions(scores, task.multi_label)[0]
        y = np.asarray(task.y[task.rows(part)])
        tables.append(Counts.from_predictions(y, guess, groups.ids, task.n_classes, groups.n_groups))
        warnings += not_numbers(fitted, scores, place)
    counts = Counts.stack(tables)
    return Subject(
        Grouping(*describe(groups), counts), fitted.classes, task_of(counts), (), 0, run_names(fitted),
        fitted.facts.get("name"), warnings=(*warnings, *worse_than_guessing(fitted)),
    )  # fmt: skip


def part_groups(task: Task, protect: tuple[str, ...], part: str) -> Groups:
    """The groups of a part's rows; where nothing is protected, everybody is one group."""
    rows = np.asarray(task.rows(part))
    if not protect:
        return Groups.from_attributes([Attribute("all", ("everybody",), np.zeros(len(rows), dtype=np.int64))])
    return task.groups(list(protect)).keep(rows)


def part_scores(fitted: Fitted, task: Task, part: str, run: int | None = None) -> Array:
    """Scores of a part's rows, `[R, N, C]`, or `[1, N, C]` of one run."""
    from torch import Tensor

    rows = task.rows(part)
    ids = part_groups(task, fitted.protect, part).ids
    if isinstance(task.x, Tensor):
        return fitted.scores_of_runs(task.x[rows], ids, run)
    pieces = [
        fitted.scores_of_runs(task.x.take(piece), ids[start : start + len(piece)], run)
        for start, piece in ((at, rows[at : at + PIECE]) for at in range(0, max(len(rows), 1), PIECE))
    ]
    return np.concatenate(pieces, axis=1)


def predictions(scores: Array, multi_label: bool) -> Array:
    """Predicted codes `[R, N]`, or 0 and 1 for each label: a label is predicted from one half on.

    >>> predictions(np.array([[0.2, 0.8], [0.5, 0.5]]), False).tolist()
    [1, 0]
    >>> predictions(np.array([[0.2, 0.8], [0.5, 0.5]]), True).tolist()
    [[0, 1], [1, 1]]
    """
    return (scores >= 0.5).astype(np.int64) if multi_label else scores.argmax(-1)


def not_numbers(fitted: Fitted, scores: Array, first: int = 0) -> tuple[str, ...]:
    """A warning for each run `[R, N, C]` that has scores which are no numbers: its training went astray."""
    lost = np.isnan(scores).any(axis=-1).sum(axis=-1).tolist()
    taken = "0" if fitted.multi_label else f"'{fitted.classes[0]}'"
    return tuple(
        f"the model of seed {fitted.seeds[first + run]} gives no number for {n:,} rows; they count as {taken}"
        " (its training went astray: a lower rate or a clip may help)"
        for run, n in enumerate(lost)
        if n
    )


def worse_than_guessing(fitted: Fitted) -> tuple[str, ...]:
    """A warning for each run whose validation loss is far above that of even chances: it went astray.

    An optimiser that bounds its steps (Adam) does not end in what is no number, however large the rate.
    """
    guessing = math.log(2 if fitted.multi_label else max(len(fitted.classes), 2))
    best = fitted.facts["recipe"]["keep"] == "best"
    found = []
    for stack in fitted.history:
        told = [entry["loss"] for entry in stack["epochs"] if "loss" in entry]
        for run, seed in enumerate(stack["seeds"] if told else ()):
            loss = min(entry[run] for entry in told) if best else told[-1][run]
            if loss > ASTRAY * guessing:
                found.append(
                    f"the model of seed {seed} has a validation loss of {loss:.3g}, and even chances would "
                    f"have {guessing:.3g}: its training went astray (a lower rate or a clip may help)"
                )
    return tuple(found)


def run_names(fitted: Fitted) -> tuple[str, ...]:
    """What the runs are called in a report."""
    return tuple(f"seed {seed}" for seed in fitted.seeds) if len(fitted.seeds) > 1 else ()


def _score_columns(scores: Array, task: Task) -> Array | None:
    if task.multi_label:
        return None
    return np.asarray(scores[:, 1] if task.n_classes == 2 else scores, dtype=np.float64)

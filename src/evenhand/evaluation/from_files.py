"""From the cells of a table of predictions to what an audit looks at; no row is needed any more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from evenhand.arrays import Array
from evenhand.errors import InputError
from evenhand.evaluation.file_scores import scores_of_cells
from evenhand.evaluation.rows import MOST_CELLS, describe
from evenhand.evaluation.scored import EXACT_VALUES
from evenhand.evaluation.subject import Grouping, Subject, task_of
from evenhand.groups import Attribute, Groups
from evenhand.metrics.counts import Counts
from evenhand.tables.cells import Cells
from evenhand.tables.scores import RowScores

MOST_ENTRIES = 1 << 27  # entries of the dense table: 1 GB
PLAIN = (("0", "1"), ("False", "True"))


def subject_of_cells(
    cells: Cells,
    *,
    files: Sequence[dict[str, Any]] = (),
    name: str | None = None,
    positive: object = None,
    min_count: int = 1,
    topk: int = 5,
) -> Subject:
    """Count the cells by the intersection of all attributes, and by each one alone.

    `positive` is the class that the caller asked for: without it, a warning says which one was taken.
    """
    cells = _with_two_classes(cells)
    runs = cells.runs if len(cells.runs) > 1 else ()
    settings = {"runs": len(runs), "min_count": min_count, "topk": topk}
    main = _grouping(cells, cells.attributes, **settings)
    alone = tuple(_grouping(cells, (attribute,), **settings) for attribute in cells.attributes)
    return Subject(
        main,
        cells.classes,
        task_of(main.counts),
        alone if len(alone) > 1 else (),
        missing=cells.missing // max(len(runs), 1),
        run_names=runs,
        name=name,
        files=tuple(files),
        warnings=tuple(_notes(cells, runs, positive)),
        score_kind=_score_kind(cells),
    )


def _with_two_classes(cells: Cells) -> Cells:
    """A single class in all rows is still one of two: it, and its absence."""
    if len(cells.classes) != 1:
        return cells
    only = cells.classes[0]
    ones = np.ones_like(cells.truth)
    return replace(cells, classes=(f"not {only}", only), positive=only, truth=ones, prediction=ones)


def _grouping(
    cells: Cells, attributes: Sequence[Attribute], *, runs: int, min_count: int, topk: int
) -> Grouping:
    groups = Groups.from_attributes(attributes, most=MOST_CELLS)
    if not len(groups):
        raise InputError("no row has a value in every group column; name columns that are filled")
    counts = _counts(cells, groups.ids, len(groups), runs)
    grouping = Grouping(*describe(groups), counts)
    if runs:
        _refuse_other_rows(grouping, cells)
    if cells.scores is None:
        return grouping
    chosen = np.flatnonzero(grouping.rows >= max(min_count, 1))
    return replace(grouping, scores=scores_of_cells(cells.scores, groups, cells.weighted, runs, chosen, topk))


def _counts(cells: Cells, group: Array, n_groups: int, runs: int) -> Counts:
    n_classes = len(cells.classes)
    if max(runs, 1) * (n_groups + 1) * n_classes**2 > MOST_ENTRIES:
        raise InputError(
            f"{n_groups:,} groups with {n_classes:,} classes are too many to be counted together; "
            "name fewer group columns, or put classes together"
        )
    return Counts.from_cells(
        group,
        cells.truth,
        cells.prediction,
        cells.weight if cells.weighted else cells.count,
        n_groups=n_groups,
        n_classes=n_classes,
        rows=cells.count if cells.weighted else None,
        squares=cells.square if cells.weighted else None,
        leading=cells.run if runs else None,
        n_leading=runs,
    )


def _refuse_other_rows(grouping: Grouping, cells: Cells) -> None:
    """Every run must predict the same rows: as many of each group and label."""
    rows = grouping.counts.rows.sum(axis=-1)
    wrong = np.argwhere(rows != rows[0])
    if not len(wrong):
        return
    run, group, label = (int(place) for place in wrong[0])
    where = grouping.names[group] if group < len(grouping.names) else "unknown"
    raise InputError(
        f"run '{cells.runs[run]}' has {rows[run, group, label]:,} rows of group {where} with label "
        f"'{cells.classes[label]}', but run '{cells.runs[0]}' has {rows[0, group, label]:,}; "
        "every run must predict the same rows"
    )


def _score_kind(cells: Cells) -> Any:
    if cells.scores is None:
        return None
    exact = isinstance(cells.scores, RowScores) and cells.scores.score.size <= EXACT_VALUES
    return "exact" if exact else "binned"


def _notes(cells: Cells, runs: Sequence[str], positive: object) -> list[str]:
    notes = []
    if len(cells.classes) == 2 and positive is None and cells.classes not in PLAIN:
        low, high = cells.classes
        notes.append(
            f"'{high}' was taken as the positive class, as the last of '{low}' and '{high}' in order"
        )
    if cells.scores is not None and cells.scores.missing:
        notes.append(f"{cells.scores.missing:,} rows have no score: the score metrics leave them out")
    if cells.scores is not None and runs:
        notes.append(
            "score metrics are means over the runs; their intervals speak of the rows, not of the runs"
        )
    if len(cells.runs) == 1:
        notes.append(f"there is only one run ('{cells.runs[0]}'): nothing can be said of run-to-run variance")
    return notes

"""Counts of many runs at once: one query, one stack for each problem."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.metrics.counts import Counts
from evenhand.metrics.scores import Scores
from evenhand.study.codec import COUNT_KINDS, SCORE_KINDS, shape_of, unpack_many_counts, unpack_many_scores
from evenhand.study.store_database import Database
from evenhand.study.store_plan import LATEST

QUESTION = f"""
SELECT s.task, s.grouping, m.grouping, m.groups, m.classes, m.layout, m.counts, c.layout, c.scores, r.id
FROM study_runs s JOIN measured m ON m.run = s.run JOIN runs r ON r.number = s.run
LEFT JOIN scores c ON ? AND c.run = m.run AND c.part = m.part AND c.grouping = m.grouping
WHERE s.study = {LATEST} AND m.part = ? ORDER BY s.place, r.number
"""


@dataclass(frozen=True)
class MeasuredBlock:
    """The runs of one task and grouping of the study, measured on one part by one grouping.

    `by` is the grouping they are measured by; `counts` are stacked `[R, ...]`, as are `scores` where every
    run has them; `run_ids` are in the order of the study.
    """

    task: str
    grouping_name: str
    by: str
    groups: tuple[str, ...]
    classes: tuple[str, ...]
    run_ids: list[str]
    counts: Counts
    scores: Scores | None = None


def parts(database: Database) -> list[str]:
    """The parts that runs of the latest study are measured on."""
    question = (
        f"SELECT DISTINCT part FROM measured WHERE run IN (SELECT run FROM study_runs WHERE study = {LATEST})"
    )
    return sorted(part for (part,) in database.rows(question))


def measured(database: Database, part: str, scores: bool = True) -> list[MeasuredBlock]:
    """All runs of the latest study on one part, stacked where names and shapes are the same."""
    blocks: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
    shapes: dict[int | None, str] = {None: ""}
    for task, name, by, groups, classes, layout, counts, score_layout, found, id in database.rows(
        QUESTION, (scores, part)
    ):
        for number in (layout, score_layout):
            if number not in shapes:
                shapes[number] = shape_of(database.text_of(number))
        key = (task, name, by, groups, classes, shapes[layout], shapes[score_layout])
        blocks.setdefault(key, []).append((id, layout, counts, score_layout, found))
    return [_block(database, key, rows) for key, rows in blocks.items()]


def _block(database: Database, key: tuple[Any, ...], rows: list[tuple[Any, ...]]) -> MeasuredBlock:
    task, name, by, groups, classes, *_ = key
    ids, layouts, counts, score_layouts, scores = (list(column) for column in zip(*rows, strict=True))
    names = [tuple(json.loads(database.text_of(number))) for number in (groups, classes)]
    stacked = _stacked(database, layouts, counts, unpack_many_counts, COUNT_KINDS)
    binned = None
    if scores[0] is not None:
        binned = _stacked(database, score_layouts, scores, unpack_many_scores, SCORE_KINDS)
    return MeasuredBlock(task, name, by, names[0], names[1], ids, stacked, binned)


def _stacked(database: Database, layouts: list[int], payloads: list[bytes], unpack: Any, kinds: Any) -> Any:
    """Runs whose numbers are kept in the same type are unpacked together, then all put into their order."""
    places: dict[int, list[int]] = {}
    for place, layout in enumerate(layouts):
        places.setdefault(layout, []).append(place)
    parts = [unpack(database.text_of(n), [payloads[place] for place in found]) for n, found in places.items()]
    if len(parts) == 1:
        return parts[0]
    order = np.argsort(np.concatenate([np.array(found) for found in places.values()]))
    arrays = {
        kind: np.concatenate([getattr(part, kind) for part in parts])[order]
        for kind in kinds
        if getattr(parts[0], kind) is not None
    }
    flag = "multilabel" if isinstance(parts[0], Counts) else "per_label"
    return type(parts[0])(**arrays, **{flag: getattr(parts[0], flag)})

"""Reading whole records: counts, scores and histories of many runs in a few queries."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from evenhand.study.codec import unpack_counts, unpack_json, unpack_scores
from evenhand.study.records import Measured, RunRecord
from evenhand.study.store_database import Database
from evenhand.study.store_plan import LATEST

AT_ONCE = 500  # runs read by one query
RECORDS = f"""
SELECT d.*, r.id FROM study_runs s JOIN runs r ON r.number = s.run JOIN records d ON d.run = s.run
WHERE s.study = {LATEST} ORDER BY s.place, r.number
"""
MEASURED = """
SELECT m.run, m.part, m.grouping, m.groups, m.classes, m.layout, m.counts, s.layout, s.scores FROM measured m
LEFT JOIN scores s ON ? AND s.run = m.run AND s.part = m.part AND s.grouping = m.grouping WHERE m.run IN
"""


def records(database: Database, whole: bool = True) -> Iterator[RunRecord]:
    """Every record of the latest study, in its order; without scores and history unless `whole`."""
    rows = database.rows(RECORDS)
    for start in range(0, len(rows), AT_ONCE):
        some = rows[start : start + AT_ONCE]
        numbers = [row[0] for row in some]
        measured = _measured(database, numbers, whole)
        histories = _histories(database, numbers) if whole else {}
        taken = numbers_of_runs(database, numbers)
        for row in some:
            record = _record(database, row, tuple(measured.get(row[0], ())), histories.get(row[0], {}))
            yield replace(record, numbers=taken.get(row[0], {}))


def history(database: Database, id: str) -> dict[str, list[Any]]:
    """What was watched while a run trained; {} if nothing was kept."""
    found = database.rows("SELECT number FROM runs WHERE id = ?", (id,))
    return _histories(database, [number for (number,) in found]).get(found[0][0], {}) if found else {}


def _record(
    database: Database, row: tuple[Any, ...], measured: tuple[Measured, ...], history: dict[str, list[Any]]
) -> RunRecord:
    (_, status, reason, detail, seconds, stack_seconds, stack, peak_memory, device, host, versions, weights,
     started, finished, source, id) = row  # fmt: skip
    return RunRecord(
        id, status, reason, detail, measured, history, seconds, stack_seconds, stack, peak_memory, device,
        host, json.loads(database.text_of(versions)), weights, started, finished, source,
    )  # fmt: skip


def _measured(database: Database, runs: Sequence[int], scores: bool) -> dict[int, list[Measured]]:
    text, found = database.text_of, dict[int, list[Measured]]()
    rows = database.rows(f"{MEASURED} ({', '.join('?' * len(runs))})", (scores, *runs))
    for run, part, by, groups, classes, layout, counts, score_layout, packed in rows:
        names = [tuple(json.loads(text(number))) for number in (groups, classes)]
        binned = None if packed is None else unpack_scores(text(score_layout), packed)
        kept = Measured(part, by, names[0], names[1], unpack_counts(text(layout), counts), binned)
        found.setdefault(run, []).append(kept)
    return found


def numbers_of_runs(database: Database, runs: Sequence[int]) -> dict[int, dict[str, float]]:
    """The numbers that were taken of runs, by the runs' numbers in the file; NaN where undefined."""
    question = f"SELECT run, key, value FROM numbers WHERE run IN ({', '.join('?' * len(runs))})"
    found: dict[int, dict[str, float]] = {}
    for run, key, value in database.rows(question, runs):
        found.setdefault(run, {})[key] = math.nan if value is None else value
    return found


def _histories(database: Database, runs: Sequence[int]) -> dict[int, dict[str, list[Any]]]:
    question = f"SELECT run, history FROM history WHERE run IN ({', '.join('?' * len(runs))})"
    return {run: dict(unpack_json(packed)) for run, packed in database.rows(question, runs)}

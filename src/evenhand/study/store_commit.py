"""Committing a record: its own transaction, and a finished run is never replaced or counted twice."""

from __future__ import annotations

import math
import sqlite3
from typing import Any

from evenhand.errors import InputError
from evenhand.study.codec import pack_counts, pack_json, pack_scores
from evenhand.study.records import RunRecord, canonical
from evenhand.study.store_database import Database

STATES = ("done", "failed")
Rows = list[tuple[Any, ...]]


def commit(database: Database, record: RunRecord) -> bool:
    """Keep a record; False if the run is already done. A failure gives way to whatever comes later."""
    if record.status not in STATES:
        raise InputError(f"a record is 'done' or 'failed', not {record.status!r}")
    measured, scores = _measured(database, record)
    versions = database.number_of(canonical(dict(record.versions)))
    with database.writing() as connection:
        run = _open_run(connection, record.id)
        if run is None:
            return False
        connection.execute("DELETE FROM records WHERE run = ?", (run,))  # with all that hangs on it
        connection.execute(
            f"INSERT INTO records VALUES ({', '.join('?' * 15)})", _values(run, record, versions)
        )
        connection.executemany(
            "INSERT INTO measured VALUES (?, ?, ?, ?, ?, ?, ?)", [(run, *m) for m in measured]
        )
        connection.executemany("INSERT INTO scores VALUES (?, ?, ?, ?, ?)", [(run, *s) for s in scores])
        connection.executemany(
            "INSERT INTO numbers VALUES (?, ?, ?)",
            [(run, key, _defined(value)) for key, value in record.numbers.items()],
        )
        if record.history:
            history = pack_json(dict(record.history))
            connection.execute("INSERT INTO history VALUES (?, ?)", (run, history))
    return True


def is_done(database: Database, id: str) -> bool:
    """Whether the run has a finished record."""
    question = "SELECT d.status FROM records d JOIN runs r ON r.number = d.run WHERE r.id = ?"
    return database.rows(question, (id,)) == [("done",)]


def _open_run(connection: sqlite3.Connection, id: str) -> int | None:
    """The number of the run, None if it is done already."""
    found = connection.execute(
        "SELECT r.number, d.status FROM runs r LEFT JOIN records d ON d.run = r.number WHERE r.id = ?", (id,)
    ).fetchone()
    if found is None:
        raise InputError(f"the record {id} belongs to no run of this study; add its runs first")
    return None if found[1] == "done" else int(found[0])


def _defined(value: float) -> float | None:
    """A number as SQLite keeps it: what is undefined is NULL."""
    return None if math.isnan(value) else float(value)


def _values(run: int, record: RunRecord, versions: int) -> tuple[Any, ...]:
    return (
        run, record.status, record.reason, record.detail, float(record.seconds), float(record.stack_seconds),
        int(record.stack), int(record.peak_memory), record.device, record.host, versions, record.weights,
        record.started, record.finished, record.source,
    )  # fmt: skip


def _measured(database: Database, record: RunRecord) -> tuple[Rows, Rows]:
    measured, scores = [], []
    for part in record.measured:
        layout, counts = pack_counts(part.counts)
        shared = [canonical(part.groups), canonical(part.classes), layout]
        numbers = [database.number_of(text) for text in shared]
        measured.append((part.part, part.grouping, *numbers, counts))
        if part.scores is not None:
            layout, packed = pack_scores(part.scores)
            scores.append((part.part, part.grouping, database.number_of(layout), packed))
    return measured, scores

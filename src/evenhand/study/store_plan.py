"""What is to be run: studies, their runs, and the buckets in which runs are trained together."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.errors import InputError
from evenhand.study.records import Bucket, PlannedRun, RunSpec, canonical
from evenhand.study.store_database import Database
from evenhand.study.store_schema import now

LATEST = "(SELECT number FROM studies ORDER BY turn DESC LIMIT 1)"
RUNS = f"""
SELECT r.id, r.spec, s.task, s.grouping, s.net, s.method, s.setting, r.data, s.place, r.number
FROM study_runs s JOIN runs r ON r.number = s.run WHERE s.study = {LATEST} ORDER BY s.place, r.number
"""
WAITING = f"""
SELECT s.run FROM study_runs s LEFT JOIN records d ON d.run = s.run
WHERE s.study = {LATEST} AND (d.run IS NULL OR (d.status = 'failed' AND ?))
"""
BUCKETS = """
SELECT b.facts, m.run FROM buckets b JOIN bucket_runs m ON m.bucket = b.number
ORDER BY b.number, m.position
"""


def add_study(database: Database, study: Mapping[str, Any], version: str) -> None:
    """Keep a study if it is new, and make it the latest one."""
    spec = canonical(study)
    digest = hashlib.sha256(canonical([spec, version]).encode()).hexdigest()
    with database.writing() as connection:
        turn = connection.execute("SELECT coalesce(max(turn), 0) + 1 FROM studies").fetchone()[0]
        connection.execute(
            "INSERT INTO studies (digest, spec, version, added, turn) VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT (digest) DO UPDATE SET turn = excluded.turn",
            (digest, spec, version, now(), turn),
        )


def latest_study(database: Database) -> dict[str, Any]:
    """The study that was added last."""
    found = database.rows("SELECT spec FROM studies ORDER BY turn DESC LIMIT 1")
    if not found:
        raise InputError(f"no study has begun in {database.path.parent} yet; `evenhand study run` begins one")
    study: dict[str, Any] = json.loads(found[0][0])
    return study


def add_runs(database: Database, runs: Sequence[PlannedRun]) -> int:
    """Make these the latest study's runs, beside those it has; how many the store did not know before."""
    latest_study(database)
    with database.writing() as connection:
        known = dict(connection.execute("SELECT id, number FROM runs").fetchall())
        new = {run.id: run for run in runs if run.id not in known}
        connection.executemany(
            "INSERT INTO runs (id, spec, data) VALUES (?, ?, ?)",
            ((run.id, canonical(run.spec.to_dict()), run.data_checksum) for run in new.values()),
        )
        known.update(connection.execute("SELECT id, number FROM runs").fetchall() if new else [])
        connection.executemany(
            f"INSERT OR REPLACE INTO study_runs VALUES ({LATEST}, ?, ?, ?, ?, ?, ?, ?)",
            (
                (known[r.id], r.place, r.task, r.grouping, r.net, r.method, canonical(dict(r.setting)))
                for r in {run.id: run for run in reversed(runs)}.values()  # of two alike, the first
            ),
        )
    return len(new)


def numbered_runs(database: Database) -> dict[int, PlannedRun]:
    """The latest study's runs in its order, by their number in the file."""
    return {row[-1]: _planned_run(row) for row in database.rows(RUNS)}


def _planned_run(row: Sequence[Any]) -> PlannedRun:
    id, spec, task, grouping, net, method, setting, data, place, _ = row
    known = RunSpec.from_dict(json.loads(spec))
    return PlannedRun(id, known, task, grouping, net, method, json.loads(setting), data, place)


def waiting(database: Database, retry_failed: bool) -> list[PlannedRun]:
    """The runs that have no record yet; with `retry_failed` also those that failed."""
    with database.reading():
        numbers = {number for (number,) in database.rows(WAITING, (retry_failed,))}
        return [_planned_run(row) for row in database.rows(RUNS) if row[-1] in numbers]


def add_buckets(database: Database, buckets: Sequence[Bucket]) -> None:
    """Keep buckets; one that is already there stays as it is."""
    with database.writing() as connection:
        known = {id for (id,) in connection.execute("SELECT id FROM buckets")}
        for bucket in buckets:
            if bucket.id not in known:
                connection.execute(
                    "INSERT INTO buckets (id, facts) VALUES (?, ?)", (bucket.id, _facts(bucket))
                )
                _add_members(connection, bucket)
                known.add(bucket.id)


def _facts(bucket: Bucket) -> str:
    """Everything but the members, which stand in a table of their own."""
    return canonical({name: value for name, value in vars(bucket).items() if name != "runs"})


def _add_members(connection: Any, bucket: Bucket) -> None:
    added = connection.executemany(
        "INSERT INTO bucket_runs SELECT b.number, ?, r.number FROM buckets b, runs r "
        "WHERE b.id = ? AND r.id = ?",
        [(position, bucket.id, run.id) for position, run in enumerate(bucket.runs)],
    )
    if added.rowcount != len(bucket.runs):
        raise InputError(
            f"bucket {bucket.id} holds runs that were not added to the study; add its runs first"
        )


def buckets(database: Database, retry_failed: bool) -> list[Bucket]:
    """The buckets in which a run of the latest study waits, each with all its members in their order."""
    with database.reading():
        open_runs = {number for (number,) in database.rows(WAITING, (retry_failed,))}
        runs = numbered_runs(database)
        members: dict[str, list[int]] = {}
        for facts, number in database.rows(BUCKETS):
            members.setdefault(facts, []).append(number)
    return [
        Bucket(runs=tuple(runs[number] for number in numbers), **json.loads(facts))
        for facts, numbers in members.items()
        # with a member that the study no longer has, its other runs are planned anew
        if open_runs.intersection(numbers) and all(number in runs for number in numbers)
    ]

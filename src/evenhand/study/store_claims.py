"""Claims: which process works on which bucket, so that several can share one folder."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from evenhand.study.records import canonical
from evenhand.study.store_database import Database
from evenhand.study.store_owners import is_alive, parts_of
from evenhand.study.store_schema import now

OPEN_RUNS = """
SELECT count(*) FROM buckets b JOIN bucket_runs m ON m.bucket = b.number
LEFT JOIN records r ON r.run = m.run AND r.status = 'done' WHERE b.id = ? AND r.run IS NULL
"""


def enter(database: Database, owner: str) -> None:
    """Say that an owner works here; those that died are struck off, with their claims."""
    with database.writing() as connection:
        for other, beat in connection.execute("SELECT owner, beat FROM owners").fetchall():
            if other != owner and not is_alive(other, beat):
                connection.execute("DELETE FROM owners WHERE owner = ?", (other,))
        _beat(connection, owner)


def beat(database: Database, owner: str) -> None:
    """Say that an owner is still at work."""
    with database.writing() as connection:
        _beat(connection, owner)


def leave(database: Database, owner: str) -> None:
    """Give back all claims of an owner."""
    with database.writing() as connection:
        connection.execute("DELETE FROM owners WHERE owner = ?", (owner,))


def claim(database: Database, bucket: str, owner: str) -> bool:
    """Whether the bucket is the owner's to work on now; False if another's, or if all its runs are done."""
    with database.writing() as connection:
        held = connection.execute(
            "SELECT c.owner, o.beat FROM claims c JOIN owners o USING (owner) WHERE c.bucket = ?", (bucket,)
        ).fetchone()
        if held and held[0] != owner and is_alive(*held):
            return False
        known = connection.execute("SELECT count(*) FROM buckets WHERE id = ?", (bucket,)).fetchone()[0]
        if known and connection.execute(OPEN_RUNS, (bucket,)).fetchone()[0] == 0:
            return False
        _beat(connection, owner)
        connection.execute("INSERT OR REPLACE INTO claims VALUES (?, ?, ?)", (bucket, owner, now()))
        return True


def standing(database: Database, owner: str, standings: Mapping[str, Mapping[str, Any]]) -> None:
    """How far the owner's buckets are, all that it has at work; a sign of life too."""
    text = canonical({bucket: dict(values) for bucket, values in standings.items()})
    with database.writing() as connection:
        _beat(connection, owner)
        connection.execute("UPDATE owners SET standings = ? WHERE owner = ?", (text, owner))


def live(database: Database) -> dict[str, Any]:
    """Who is at work, its last sign of life, what it has claimed, and how far its buckets are."""
    held: dict[str, list[str]] = {}
    for owner, bucket in database.rows("SELECT owner, bucket FROM claims ORDER BY bucket"):
        held.setdefault(owner, []).append(bucket)
    owners, standings = [], {}
    found = database.rows("SELECT owner, entered, beat, standings FROM owners ORDER BY entered, owner")
    for owner, entered, last, text in found:
        host, pid, _ = parts_of(owner)
        facts = {"owner": owner, "host": host, "pid": pid, "entered": entered, "beat": last}
        owners.append({**facts, "alive": is_alive(owner, last), "claims": held.get(owner, [])})
        standings.update({bucket: {**values, "owner": owner} for bucket, values in json.loads(text).items()})
    return {"owners": owners, "standings": standings}


def _beat(connection: Any, owner: str) -> None:
    connection.execute(
        "INSERT INTO owners (owner, entered, beat) VALUES (?, ?, ?) "
        "ON CONFLICT (owner) DO UPDATE SET beat = excluded.beat",
        (owner, now(), time.time()),
    )

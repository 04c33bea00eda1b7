"""The tables of a store, the number of their format, and how an older format is brought up to this one.

A name list, a layout or a set of versions that thousands of runs share stands once in `texts`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from evenhand.errors import InputError

FORMAT = 2
APPLICATION = 0x45564E48  # "EVNH" in the header of the file: no other program's database is taken for a store
Migration = Callable[[sqlite3.Connection], None]
NUMBERS = """
CREATE {temporary} TABLE numbers (
    run INTEGER NOT NULL REFERENCES records ON DELETE CASCADE, key TEXT NOT NULL, value REAL,
    PRIMARY KEY (run, key)) WITHOUT ROWID
"""  # a value that is undefined is NULL

TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE texts (number INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);

CREATE TABLE studies (
    number INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE, spec TEXT NOT NULL, version TEXT NOT NULL,
    added TEXT NOT NULL, turn INTEGER NOT NULL);
CREATE TABLE runs (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, spec TEXT NOT NULL, data TEXT NOT NULL);
CREATE TABLE study_runs (
    study INTEGER NOT NULL REFERENCES studies, run INTEGER NOT NULL REFERENCES runs, place INTEGER NOT NULL,
    task TEXT NOT NULL, grouping TEXT NOT NULL, net TEXT NOT NULL, method TEXT NOT NULL,
    setting TEXT NOT NULL, PRIMARY KEY (study, run)) WITHOUT ROWID;

CREATE TABLE buckets (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, facts TEXT NOT NULL);
CREATE TABLE bucket_runs (
    bucket INTEGER NOT NULL REFERENCES buckets, position INTEGER NOT NULL,
    run INTEGER NOT NULL REFERENCES runs, PRIMARY KEY (bucket, position)) WITHOUT ROWID;
CREATE TABLE owners (
    owner TEXT PRIMARY KEY, entered TEXT NOT NULL, beat REAL NOT NULL,
    standings TEXT NOT NULL DEFAULT '{}') WITHOUT ROWID;
CREATE TABLE claims (
    bucket TEXT PRIMARY KEY, owner TEXT NOT NULL REFERENCES owners ON DELETE CASCADE,
    since TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX claims_of_owner ON claims (owner);

CREATE TABLE records (
    run INTEGER PRIMARY KEY REFERENCES runs, status TEXT NOT NULL, reason TEXT, detail TEXT NOT NULL,
    seconds REAL, stack_seconds REAL, stack INTEGER NOT NULL, peak_memory INTEGER NOT NULL,
    device TEXT NOT NULL, host TEXT NOT NULL, versions INTEGER NOT NULL REFERENCES texts,
    weights TEXT NOT NULL, started TEXT NOT NULL, finished TEXT NOT NULL, source TEXT NOT NULL);
CREATE TABLE measured (
    run INTEGER NOT NULL REFERENCES records ON DELETE CASCADE, part TEXT NOT NULL, grouping TEXT NOT NULL,
    groups INTEGER NOT NULL REFERENCES texts, classes INTEGER NOT NULL REFERENCES texts,
    layout INTEGER NOT NULL REFERENCES texts, counts BLOB NOT NULL,
    PRIMARY KEY (run, part, grouping)) WITHOUT ROWID;
CREATE TABLE scores (
    run INTEGER NOT NULL, part TEXT NOT NULL, grouping TEXT NOT NULL,
    layout INTEGER NOT NULL REFERENCES texts, scores BLOB NOT NULL, PRIMARY KEY (run, part, grouping),
    FOREIGN KEY (run, part, grouping) REFERENCES measured ON DELETE CASCADE);
CREATE TABLE history (
    run INTEGER PRIMARY KEY REFERENCES records ON DELETE CASCADE, history BLOB NOT NULL);
"""


def _add_numbers(connection: sqlite3.Connection) -> None:
    """Format 2 has numbers of runs beside their counts."""
    connection.execute(NUMBERS.format(temporary=""))


# From the format that is the key to the next one; each is tried in the order of the numbers, all in one
# transaction.
MIGRATIONS: dict[int, Migration] = {1: _add_numbers}


def stand_in(connection: sqlite3.Connection, found: int) -> bool:
    """Give a reader of an older file what it lacks, empty and in memory; whether that can be done.

    The file is not written: tables for this connection alone stand in for those that it does not have.
    """
    if found == 1:
        connection.execute(NUMBERS.format(temporary="TEMPORARY"))
    return found in (1, FORMAT)


def now() -> str:
    """The time as text, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def is_empty(connection: sqlite3.Connection) -> bool:
    """Whether nothing was ever written, or a process died before it had made the tables."""
    return not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]


def make_tables(connection: sqlite3.Connection, version: str) -> None:
    """All tables at once or none; the caller holds the transaction."""
    for statement in (*TABLES.split(";\n"), NUMBERS.format(temporary="")):
        if statement.strip():
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    facts = {"format": str(FORMAT), "evenhand": version, "created": now()}
    connection.executemany("INSERT INTO meta VALUES (?, ?)", facts.items())


def format_of(connection: sqlite3.Connection, path: Path) -> tuple[int, str]:
    """The number of the format, and the version of the package that wrote it; other databases are refused."""
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if application != APPLICATION or "meta" not in tables:
        raise InputError(
            f"{path} is a database of another program, not a study of evenhand; name another folder"
        )
    facts = dict(connection.execute("SELECT key, value FROM meta"))
    return int(facts["format"]), facts["evenhand"]


def bring_up(
    connection: sqlite3.Connection,
    path: Path,
    version: str,
    target: int = FORMAT,
    migrations: Mapping[int, Migration] = MIGRATIONS,
) -> None:
    """Bring an older store to the present format, inside the caller's transaction; a newer one is refused."""
    found, writer = format_of(connection, path)
    refuse_newer(found, writer, path, version, target)
    for number in range(found, target):
        if number not in migrations:
            raise InputError(
                f"{path} has format {number} (written by evenhand {writer}), which evenhand {version} no "
                f"longer reads; export its runs with evenhand {writer} and reuse them, or begin in a new "
                "folder"
            )
        migrations[number](connection)
    if found != target:
        connection.execute("UPDATE meta SET value = ? WHERE key = 'format'", (str(target),))
        connection.execute("UPDATE meta SET value = ? WHERE key = 'evenhand'", (version,))


def refuse_newer(found: int, writer: str, path: Path, version: str, target: int = FORMAT) -> None:
    """A format of the future cannot be read: say which evenhand can."""
    if found > target:
        raise InputError(
            f"{path} was written by evenhand {writer} in format {found}; this is evenhand {version}, which "
            f"reads up to format {target}: install evenhand {writer} or newer"
        )

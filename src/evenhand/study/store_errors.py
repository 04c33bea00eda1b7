"""What SQLite's errors mean for the user, in one sentence each."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from evenhand.errors import InputError

KEPT = "every run that was committed before is kept"
RIGHTS = "give yourself the right to, or copy the folder elsewhere"
WORDS = {  # by SQLite's primary result code
    sqlite3.SQLITE_FULL: f"no room is left to write {{path}}; {KEPT}: make room, then run the same again",
    sqlite3.SQLITE_IOERR: (
        f"{{path}} could not be read or written ({{error}}); {KEPT}: see to the disk (is it full, or gone?), "
        "then run the same again"
    ),
    sqlite3.SQLITE_READONLY: f"{{path}} may not be written; {RIGHTS}",
    sqlite3.SQLITE_PERM: f"{{path}} may not be opened; {RIGHTS}",
    sqlite3.SQLITE_CANTOPEN: "{path} cannot be opened ({error}); can its folder be written into?",
    sqlite3.SQLITE_BUSY: (
        "another process has held {path} locked for {wait:.0f} seconds; wait for it, or end it, then run the "
        "same again"
    ),
    sqlite3.SQLITE_NOTADB: "{path} is not a study of evenhand (it is no SQLite file); name another folder",
    sqlite3.SQLITE_CORRUPT: (
        "{path} is damaged ({error}); restore it from a copy, or move it away and begin anew (an exported "
        "runs.parquet of it can be reused)"
    ),
}
WAIT = 30.0  # seconds for which a locked file is waited for


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Errors of SQLite in here become sentences about this file."""
    try:
        yield
    except sqlite3.Error as error:
        words = WORDS.get(_code(error))
        if words is None:
            raise
        raise InputError(words.format(path=path, error=error, wait=WAIT)) from error


def _code(error: sqlite3.Error) -> int:
    """The primary result code; the extended ones keep it in their lowest byte."""
    if str(error).startswith("Could not decode"):  # text that is none: Python tells it, without a code
        return sqlite3.SQLITE_CORRUPT
    return getattr(error, "sqlite_errorcode", 0) & 0xFF

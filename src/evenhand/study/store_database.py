"""The open file of a store: transactions, reading, and the texts that many rows share."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.study.store_errors import told
from evenhand.study.store_open import open_connection, refuse_nothing_there, set_journal
from evenhand.study.store_schema import (
    FORMAT,
    bring_up,
    format_of,
    is_empty,
    make_tables,
    refuse_newer,
    stand_in,
)


class Database:
    """One connection, used in the thread that opened it; several processes may have one each."""

    def __init__(self, path: Path, *, create: bool, readonly: bool, version: str) -> None:
        self.path, self.readonly, self.version = path, readonly, version
        self.notes: list[str] = []
        self._numbers: dict[str, int] = {}
        self._texts: dict[int, str] = {}
        self.connection = open_connection(path, create, readonly)
        try:
            with told(path):
                self._check() if readonly else self._prepare(create)
        except BaseException:
            self.connection.close()
            raise

    def _check(self) -> None:
        if is_empty(self.connection):
            raise InputError(f"there is no study in {self.path.parent} yet (its file is empty)")
        found, writer = format_of(self.connection, self.path)
        refuse_newer(found, writer, self.path, self.version)
        if not stand_in(self.connection, found):
            raise InputError(
                f"{self.path} has the older format {found}; `evenhand study run` with this folder brings it "
                f"up to format {FORMAT}, and then it can be read"
            )

    def _prepare(self, create: bool) -> None:
        if not create and is_empty(self.connection):
            refuse_nothing_there(self.path)
            raise InputError(f"there is no study in {self.path.parent} yet (its file is empty)")
        if not is_empty(self.connection):
            format_of(self.connection, self.path)  # another program's database is not touched
        note = set_journal(self.connection, self.path)
        self.notes += [note] if note else []
        with self.writing():
            if is_empty(self.connection):  # asked again: another process may just have made the tables
                make_tables(self.connection, self.version)
            else:
                bring_up(self.connection, self.path, self.version)

    def close(self) -> None:
        """Give the file back; the journal is folded into it when the last connection goes."""
        self.connection.close()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction, the only writer at its time: all of it is kept, or nothing."""
        if self.readonly:
            raise InputError(f"{self.path} was opened for reading only")
        with told(self.path):
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield self.connection
                self.connection.execute("COMMIT")
            except BaseException:
                if self.connection.in_transaction:  # some errors have rolled back already
                    with suppress(sqlite3.Error):  # the first error is the one to tell
                        self.connection.execute("ROLLBACK")
                raise

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Several questions about one moment, whatever other processes write meanwhile."""
        with told(self.path):
            self.connection.execute("BEGIN")
            try:
                yield self.connection
            finally:
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")

    def rows(self, question: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of an answer."""
        with told(self.path):
            return self.connection.execute(question, values).fetchall()

    def number_of(self, text: str) -> int:
        """The number of a shared text, which is added if it is not there.

        Called before a transaction begins, so that a number that is remembered is always one that was kept.
        """
        if text not in self._numbers:
            with self.writing() as connection:
                connection.execute("INSERT OR IGNORE INTO texts (text) VALUES (?)", (text,))
            self._numbers[text] = self.rows("SELECT number FROM texts WHERE text = ?", (text,))[0][0]
        return self._numbers[text]

    def text_of(self, number: int) -> str:
        """A shared text by its number."""
        if number not in self._texts:
            self._texts.update(self.rows("SELECT number, text FROM texts"))
        return self._texts[number]

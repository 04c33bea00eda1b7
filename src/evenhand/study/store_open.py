"""How the file of a store is opened: for writing, made anew, or only for reading; and with which journal."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from urllib.parse import quote

from evenhand.errors import InputError
from evenhand.study.store_errors import WAIT, told

FILE = "study.sqlite"
# WAL needs memory that all processes share, which machines on a network do not have.
NETWORK = {
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "lustre", "gpfs", "beegfs", "ceph", "9p", "afs", "panfs",
    "orangefs", "pvfs2", "fuse.sshfs", "fuse.glusterfs", "fuse.ceph-fuse", "fuse.s3fs",
}  # fmt: skip


def connect(path: Path, readonly: bool) -> sqlite3.Connection:
    """A connection with our settings; every transaction is begun by hand."""
    connection = _connect(path, "mode=ro" if readonly else "mode=rwc")
    if readonly:
        connection = _readable(connection, path)
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    where = f"file:{quote(str(path.absolute()))}?{mode}"
    return sqlite3.connect(where, uri=True, timeout=WAIT, isolation_level=None)


def _readable(connection: sqlite3.Connection, path: Path) -> sqlite3.Connection:
    """A folder that cannot be written into has no place for the shared memory of WAL.

    Where no journal is left either, nobody writes and the file is complete: it is read as it lies there.
    """
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError as error:
        connection.close()
        left = path.with_name(f"{path.name}-wal")
        if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
            raise
        if left.exists() and left.stat().st_size:
            raise InputError(
                f"{path} has a journal ({left.name}) that must be folded in first, and its folder may not be "
                "written; copy the folder to where it may, and read it there"
            ) from error
        return _connect(path, "mode=ro&immutable=1")
    return connection


def set_journal(connection: sqlite3.Connection, path: Path) -> str | None:
    """WAL with few waits for the disk; elsewhere the older journal, with a note.

    With WAL and `synchronous = NORMAL` a killed process loses nothing that was committed, and a machine that
    loses its power at most the last few runs, which are then simply made again.
    """
    kind = file_system_of(path.parent)
    if kind not in NETWORK and _switched(connection, "wal"):
        connection.execute("PRAGMA synchronous = NORMAL")
        return None
    _switched(connection, "delete")
    connection.execute("PRAGMA synchronous = FULL")
    where = f"a network file system ({kind})" if kind in NETWORK else "a file system without shared memory"
    return f"{path} lies on {where}: commits are slower there, and as safe as the locks of that file system"


def _switched(connection: sqlite3.Connection, mode: str) -> bool:
    try:
        return bool(connection.execute(f"PRAGMA journal_mode = {mode}").fetchone()[0] == mode)
    except sqlite3.OperationalError as error:
        if mode == "wal" and error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN):
            return False  # no shared memory here
        raise


def file_system_of(folder: Path) -> str:
    """The type of the file system that a folder lies on; "" where the system does not tell."""
    try:
        mounts = [line.split() for line in Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()]
    except OSError:
        return ""
    here = folder.resolve()
    above = [fields for fields in mounts if here.is_relative_to(_plain(fields[1]))]
    nearest = max(above[::-1], key=lambda fields: len(fields[1]), default=["", "", ""])  # of equals, the last
    return nearest[2]


def _plain(mount: str) -> str:
    return mount.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\")


def refuse_nothing_there(path: Path) -> None:
    """Opening what is not there: the folder, or a study in it."""
    if not path.parent.is_dir():
        raise InputError(f"there is no folder {path.parent}; `evenhand study run NAME --out DIR` makes one")
    if not path.exists():
        raise InputError(
            f"there is no study in {path.parent} (no file {path.name}); did you mean another folder?"
        )
    _refuse_closed(path, "rb", "read")


def _refuse_closed(path: Path, mode: str, what: str) -> None:
    """SQLite would open a file that may not be written, and tell only after the first run."""
    try:
        path.open(mode).close()
    except OSError as error:
        raise InputError(
            f"{path} may not be {what} ({error.strerror}); give yourself the right to, or copy the folder"
        ) from error


def open_connection(path: Path, create: bool, readonly: bool) -> sqlite3.Connection:
    """Open, or make, the file; what cannot be opened is told in a sentence."""
    if readonly or not create:
        refuse_nothing_there(path)
    if not readonly and path.exists():
        _refuse_closed(path, "r+b", "written")
    with told(path):
        return connect(path, readonly)

"""A lock that dies with its owner: held by the operating system, so that a kill -9 lets go of it."""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

TAKEN = (errno.EACCES, errno.EAGAIN)


@contextmanager
def tried_lock(path: Path) -> Iterator[bool]:
    """Whether the lock of this file is ours, without waiting for it; it is let go of at the end.

    Where there are no such locks (Windows, some network file systems) it is ours always: work may then be
    done twice, and must be such that this does no harm. The file stays: removing it would let two have it.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "one.lock"
    >>> with tried_lock(file) as first, tried_lock(file) as second:
    ...     print(first, second)
    True False
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        yield _locked(file.fileno())


def _locked(descriptor: int) -> bool:
    if sys.platform == "win32":
        return True
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in TAKEN
    return True

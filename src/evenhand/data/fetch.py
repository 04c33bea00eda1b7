"""Downloading a file from its official source: resumed where it was cut, verified before anybody reads it."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from socket import gaierror
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from evenhand.data.cache import Progress, Source, digest, verified
from evenhand.errors import InputError

ATTEMPTS = 3  # for each address
PAUSE = 1.0  # seconds before the second attempt, twice as long before the next
TIMEOUT = 15.0  # seconds without a byte
PIECE = 1 << 18


def download(source: Source, folder: Path, progress: Progress | None = None) -> Path:
    """The path of the file in the folder, downloaded and verified; `InputError` says what else can be done.

    What arrived before the connection broke stays in `NAME.part` and is not fetched twice, by a later call
    neither. Without `progress`, a terminal shows a bar.
    """
    if not source.urls:
        raise InputError(_by_hand(source, folder, f"there is no file {source.name}, and it has no address"))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"downloads cannot be kept in {folder} ({error.strerror}); name another folder by EVENHAND_CACHE"
        ) from error
    target, part = folder / source.name, folder / f"{source.name}.part"
    with _alone(part), _shown(source, progress) as tell:
        if target.is_file():  # another process was faster
            return verified(target, source)
        reasons = []
        for url in source.urls:
            reason = _attempts(url, source, part, tell)
            if reason is None:
                part.replace(target)
                return target
            reasons.append(f"{url}: {reason}")
    raise InputError(
        _by_hand(source, folder, f"{source.name} could not be downloaded ({'; '.join(reasons)})")
    )


def _attempts(url: str, source: Source, part: Path, tell: Progress) -> str | None:
    """Fill the part from one address; None if it is whole and right, else the reason why it is not."""
    reason = ""
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(PAUSE * 2 ** (attempt - 1))
        try:
            resumed = _receive(url, source, part, tell)
        except HTTPError as error:
            reason = f"the server answered {error.code} {error.reason}"
            error.close()
            if error.code == 416:  # the part is longer than the file: it was of something else
                part.unlink(missing_ok=True)
            elif error.code < 500 and error.code not in (408, 429):
                return reason
            continue
        except (OSError, HTTPException) as error:
            reason = _words(error)
            if isinstance(getattr(error, "reason", None), (TimeoutError, gaierror)):
                return reason  # nobody answers: there is no network, and waiting again would tell no more
            continue
        found = digest(part, source.algorithm)
        if found == source.checksum:
            return None
        part.unlink()  # a wrong file must not be resumed
        reason = f"what arrived has the {source.algorithm} {found}, expected {source.checksum}"
        if not resumed:  # the same bytes would come again
            return reason
    return reason


def _receive(url: str, source: Source, part: Path, tell: Progress) -> bool:
    """Append what is missing to the part, and tell whether some of it was there before.

    A server that sends the whole file again starts the part anew.
    """
    have = part.stat().st_size if part.exists() else 0
    if have and have == source.size:
        return True
    headers = {"User-Agent": "evenhand", **({"Range": f"bytes={have}-"} if have else {})}
    with urlopen(Request(url, headers=headers), timeout=TIMEOUT) as response:
        start = have = have if _continues(response, have) else 0
        length = response.headers.get("Content-Length")
        total = have + int(length) if length is not None else source.size
        with part.open("ab" if have else "wb") as file:
            while piece := response.read(PIECE):
                file.write(piece)
                have += len(piece)
                tell(source.name, have, total)
    if total is not None and have < total:  # http.client does not complain of a connection that was cut
        raise ConnectionError(f"the connection was cut after {have:,} of {total:,} bytes")
    return start > 0


def _continues(response: HTTPResponse, have: int) -> bool:
    return response.status == 206 and (response.headers.get("Content-Range") or "").startswith(
        f"bytes {have}-"
    )


def _words(error: Exception) -> str:
    reason = error.reason if isinstance(error, URLError) else error
    return str(reason) or type(error).__name__


def _by_hand(source: Source, folder: Path, problem: str) -> str:
    addresses = (
        f"download {' or '.join(source.urls)} on a machine that has a network and " if source.urls else ""
    )
    return (
        f"{problem}. What to do: {addresses}put it as {source.name} into {folder}, or into a folder that the "
        "environment variable EVENHAND_DATA names"
    )


@contextlib.contextmanager
def _alone(part: Path) -> Iterator[None]:
    """One process at a time writes the part; another waits, and then finds the file."""
    try:
        import fcntl
    except ImportError:  # Windows: two writers at once end in a wrong checksum, which is refused
        yield
        return
    with part.with_suffix(".lock").open("w") as file:  # stays: removing it would free those who wait for it
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def _shown(source: Source, progress: Progress | None) -> Iterator[Progress]:
    """The caller's progress, or a bar where somebody looks at stderr, or silence."""
    if progress is not None or not sys.stderr.isatty():
        yield progress or (lambda name, done, total: None)
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

    columns = ("[cyan]{task.description}", BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bar:
        line = bar.add_task(source.name, total=source.size)
        yield lambda name, done, total: bar.update(line, completed=done, total=total)

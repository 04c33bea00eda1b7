"""Who works on a study: how a process is known, and how another one can tell that it is gone.

An owner is "host:pid:machine-start". `machine` stands for the boot and the process space, so that a container
or a machine of the same name is not mistaken for this one; `start` tells a process from a later one of the
same pid.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import socket
import time
from pathlib import Path

SILENCE = 60.0  # seconds without a beat after which an owner elsewhere is taken for dead


def make_owner() -> str:
    """A name for this process, the same whenever it asks.

    >>> make_owner() == make_owner(), is_alive(make_owner(), beat=0.0)
    (True, True)
    """
    return f"{socket.gethostname()}:{os.getpid()}:{_machine()}-{started(os.getpid()) or _random()}"


def is_alive(owner: str, beat: float) -> bool:
    """Whether an owner still works: on this machine by its process, elsewhere by its last beat (seconds).

    >>> is_alive("elsewhere:1:00-1", time.time()), is_alive("elsewhere:1:00-1", time.time() - 61)
    (True, False)
    """
    host, pid, rest = parts_of(owner)
    machine, _, start = rest.rpartition("-")
    if pid and host == socket.gethostname() and os.path.isdir("/proc/self"):
        if machine == _machine():
            return started(pid) == start
        if not machine and not started(pid):  # an owner that did not say when it began
            return False
    return abs(time.time() - beat) <= SILENCE  # a beat of the far future is a wrong clock, not a sign of life


def parts_of(owner: str) -> tuple[str, int, str]:
    """Host, pid (0 if it is none) and the rest; any text will do for an owner."""
    host, pid, start = [*owner.rsplit(":", 2), "", ""][:3]
    return host, int(pid) if pid.isdecimal() else 0, start


def started(pid: int) -> str:
    """When a process began, in ticks since the boot; "" if it is gone, a zombie, or cannot be asked about."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    fields = text.rpartition(")")[2].split()  # the name in brackets may hold spaces
    return "" if fields[0] in "ZX" else fields[19]


def _machine() -> str:
    """A few letters for this boot and process space; "" where there is no /proc to ask."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""
    return hashlib.sha256(f"{boot}{space}".encode()).hexdigest()[:8]


_DRAWN: dict[int, str] = {}


def _random() -> str:
    return _DRAWN.setdefault(os.getpid(), secrets.token_hex(4))

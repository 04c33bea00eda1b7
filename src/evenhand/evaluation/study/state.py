"""What was run: how many runs are done, failed and waiting, with what software, on what machines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evenhand.study.frame import Frame

EXAMPLE = ("method", "setting", "seed", "task")


def state(frame: Frame, failures: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Numbers of runs, and the reasons of those that failed."""
    planned, done, failed = (int((rows & frame.trained).sum()) for rows in (True, frame.done, frame.failed))
    waiting = planned - done - failed
    return {
        "planned": planned, "done": done, "failed": failed, "waiting": waiting,
        "finished": frame.n > 0 and waiting == 0, "failures": [_failure(entry) for entry in failures],
    }  # fmt: skip


def _failure(entry: dict[str, Any]) -> dict[str, Any]:
    examples = [{name: shown.get(name) for name in EXAMPLE} for shown in entry.get("examples", ())]
    return {"reason": entry["reason"], "runs": int(entry["runs"]), "examples": examples}


def environment(frame: Frame) -> dict[str, Any]:
    """Versions (several are joined), devices, and the number of hosts of the finished runs."""
    rows = [row for row in range(frame.n) if frame.done[row]]
    versions: dict[str, dict[str, None]] = {}
    for used in {id(frame.columns["versions"][row]): frame.columns["versions"][row] for row in rows}.values():
        for name, value in (used or {}).items():
            versions.setdefault(name, {})[str(value)] = None
    devices = sorted({str(frame.columns["device"][row]) for row in rows})
    hosts = {frame.columns["host"][row] for row in rows}
    return {
        "versions": {name: ", ".join(found) for name, found in sorted(versions.items())},
        "devices": devices, "hosts": len(hosts),
    }  # fmt: skip

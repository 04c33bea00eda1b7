"""Where and with what a run is made; and the record of one that raised an error, which has little else."""

from __future__ import annotations

import platform
import socket
import sys
from datetime import UTC, datetime
from typing import Any

import numpy as np
import torch

from evenhand.study.backends.base import Job
from evenhand.study.records import PlannedRun, RunRecord


def failed_record(run: PlannedRun, reason: str, detail: str, job: Job, started: str) -> RunRecord:
    """The record of a run that raised an error."""
    facts = surroundings(torch.device(job.device))
    return RunRecord(run.id, "failed", reason, detail, started=started, finished=now(), **facts)


def surroundings(device: torch.device) -> dict[str, Any]:
    """Where a run was made: device, host, versions, peak memory of this worker."""
    from evenhand import __version__

    versions = {
        "evenhand": __version__, "python": platform.python_version(),
        "torch": torch.__version__, "numpy": np.__version__,
    }  # fmt: skip
    on_gpu = device.type == "cuda" and torch.cuda.is_available()
    name = torch.cuda.get_device_name(device) if on_gpu else platform.processor() or platform.machine()
    peak = torch.cuda.max_memory_allocated(device) if on_gpu else _peak_memory()
    words = f"{device.type} ({name})" if name else device.type
    return {"device": words, "host": socket.gethostname(), "versions": versions, "peak_memory": peak}


def _peak_memory() -> int:
    """Bytes that this process has held at most; 0 where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def now() -> str:
    """The time as text."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")

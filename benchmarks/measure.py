"""How things are measured: interleaved times, the peak memory of a process of its own, and machine facts.

Another program may take the processor at any moment, so the candidates take turns (A, B, A, B, ...) and the
shortest time of each is compared; medians and processor time are kept beside it.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from statistics import median
from typing import Any

PACKAGES = (
    "evenhand",
    "numpy",
    "polars",
    "torch",
    "torchmetrics",
    "fairlearn",
    "scikit-learn",
    "pandas",
    "aequitas",
    "duckdb",
    "pyarrow",
)

# Appended to what a process of its own runs: the highest memory it ever held, and what it wants to tell.
_EPILOGUE = """
import json as _json, pathlib as _pathlib
_status = _pathlib.Path("/proc/self/status").read_text()
_peak = next(int(line.split()[1]) / 1000 for line in _status.splitlines() if line.startswith("VmHWM"))
_pathlib.Path({out!r}).write_text(_json.dumps({{"peak_mb": _peak, "told": globals().get("told")}}))
"""


@dataclass(frozen=True)
class Times:
    """Seconds of one candidate: wall clock and processor time (of all threads), one entry a repetition."""

    wall: tuple[float, ...]
    cpu: tuple[float, ...]

    @property
    def best(self) -> float:
        """The shortest time: what it costs when nobody interferes."""
        return min(self.wall)

    @property
    def least(self) -> float:
        """The shortest of both kinds: the doubts of a busy machine speak for the peers."""
        return min((*self.wall, *self.cpu))

    def to_dict(self) -> dict[str, float]:
        """The figures that go into the results."""
        return {
            "best_s": self.best,
            "median_s": median(self.wall),
            "best_cpu_s": min(self.cpu),
            "repetitions": len(self.wall),
        }


def take_turns(
    candidates: Mapping[str, Callable[[], object]], rounds: int = 20, budget: float = 10.0
) -> dict[str, Times]:
    """Time the candidates in turns; one that has used up its budget of seconds is left out from then on."""
    wall: dict[str, list[float]] = {name: [] for name in candidates}
    cpu: dict[str, list[float]] = {name: [] for name in candidates}
    for _ in range(rounds):
        for name, function in candidates.items():
            if sum(wall[name]) > budget:
                continue
            start, busy = time.perf_counter(), time.process_time()
            function()
            cpu[name].append(time.process_time() - busy)
            wall[name].append(time.perf_counter() - start)
    return {name: Times(tuple(wall[name]), tuple(cpu[name])) for name in candidates}


@dataclass(frozen=True)
class Process:
    """What a process of its own took: from its start to its end, and the most memory it held."""

    seconds: float
    peak_mb: float
    told: Any = None


def in_process(code: str, arguments: Sequence[str] = ()) -> Process:
    """Run Python code in a fresh interpreter; what it assigns to `told` comes back."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "told.json")
        command = [sys.executable, "-c", code + _EPILOGUE.format(out=str(out)), *arguments]
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        seconds = time.perf_counter() - start
        found = json.loads(out.read_text())
    return Process(seconds, found["peak_mb"], found["told"])


def cores() -> int:
    """Processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def facts() -> dict[str, Any]:
    """What the results depend on, without the name of the machine."""
    versions: dict[str, str | None] = {}
    for name in PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = None
    return {
        "cores": cores(),
        "system": platform.system(),
        "processor": platform.machine(),
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 1),
        "versions": versions,
    }

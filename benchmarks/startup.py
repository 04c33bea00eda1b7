"""How long a fresh interpreter takes to import us and to show the help, beside importing the peers."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from importlib.util import find_spec
from statistics import median

from benchmarks.measure import Times
from benchmarks.rows import Row

IMPORTS = {
    "evenhand": "import evenhand",
    "fairlearn": "import fairlearn.metrics",
    "aequitas": "import aequitas",
}
TARGETS = {"import evenhand": 0.3, "evenhand audit --help": 0.5}


def run(small: bool = False) -> list[Row]:
    python = [sys.executable, "-c"]
    commands = {"evenhand audit --help": [sys.executable, "-m", "evenhand.cli", "audit", "--help"]}
    commands |= {code: [*python, code] for name, code in IMPORTS.items() if find_spec(name) is not None}
    commands["an empty interpreter, for comparison"] = [*python, ""]
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for _ in range(2 if small else 10):
        for name, command in commands.items():
            taken[name].append(_seconds(command))
    return [_row(name, found, small) for name, found in taken.items()]


def _seconds(command: list[str]) -> tuple[float, float]:
    """Wall clock and processor time."""
    start, before = time.perf_counter(), os.times()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = os.times()
    busy = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - start, busy


def _row(name: str, found: list[tuple[float, float]], small: bool) -> Row:
    wall, cpu = zip(*found, strict=True)
    target = None if small else TARGETS.get(name)
    return Row("startup", name, median(wall), "s", "<=", target, Times(wall, cpu).to_dict())

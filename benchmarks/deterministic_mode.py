"""Deterministic mode: what it costs, which operations it refuses, and which modes vary without it.

    python benchmarks/deterministic_mode.py --device cuda        all three parts, under 3 minutes on an H200
    python benchmarks/deterministic_mode.py --parts overhead     CIFAR ResNet-18, ResNet-101, DenseNet-121
    python benchmarks/deterministic_mode.py --parts exceptions   operations that raise, forward or backward
    python benchmarks/deterministic_mode.py --parts modes        two trainings in two processes, bit by bit

Every row is written to results/deterministic-mode-DEVICE.json as soon as it is there, and rows that are there
are not measured again (`--again`: they are). S0 (Qian et al. 2021) reports overheads of 17.8, 20.8 and 14.1 %
for the three networks on the GPU and library of its time. Needs torch and evenhand; the two networks for
large images need torchvision, and are left out with a word where it is missing.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)] * (str(ROOT) not in sys.path)

from benchmarks.deterministic_modes import MODES, TINY, both, one_mode  # noqa: E402
from benchmarks.deterministic_operations import OPERATIONS, tried  # noqa: E402
from benchmarks.deterministic_overhead import NETWORKS, SMALL, overhead  # noqa: E402
from evenhand.train.determinism import WORKSPACE  # noqa: E402

RESULTS = Path(__file__).with_name("results")
PARTS = ("exceptions", "overhead", "modes")


class Rows:
    """The file: every row is written at once, and known by its name."""

    def __init__(self, path: Path, machine: dict[str, str], again: bool = False) -> None:
        self.path = path
        if again:  # from the file too: the processes of the modes read it
            path.unlink(missing_ok=True)
        found = json.loads(path.read_text("utf-8")) if path.is_file() else {}
        if found and found["machine"] != machine:
            raise SystemExit(f"{path} is of another machine or library ({found['machine']}); use --again")
        self.body: dict[str, Any] = {"machine": machine, **dict.fromkeys(PARTS, ())}
        self.body |= {part: list(found.get(part, ())) for part in PARTS}

    def find(self, part: str, key: str, name: str) -> dict[str, Any] | None:
        """The row of that name, if it is there."""
        return next((row for row in self.body[part] if row[key] == name), None)

    def put(self, part: str, key: str, row: dict[str, Any]) -> None:
        """Take a row in the place of one of the same name, and write the file."""
        old = self.find(part, key, row[key])
        if old is not None:
            self.body[part][self.body[part].index(old)] = row
        else:
            self.body[part].append(row)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps(self.body, indent=1, allow_nan=False) + "\n", encoding="utf-8")
        print(json.dumps(row), flush=True)


def machine_of(device: torch.device) -> dict[str, str]:
    """What the rows hold for."""
    on_gpu = device.type == "cuda"
    name = torch.cuda.get_device_name(device) if on_gpu else platform.processor() or platform.machine()
    return {"device": device.type, "name": name, "torch": torch.__version__}


def measure_exceptions(rows: Rows, device: torch.device) -> None:
    """A row for each operation."""
    for operation in OPERATIONS:
        if rows.find("exceptions", "operation", operation.name) is None:
            rows.put("exceptions", "operation", tried(operation, device))


def measure_overhead(rows: Rows, device: torch.device, rounds: int, steps: int, tiny: bool) -> None:
    """A row for each network; one that cannot be built here is told and left for another time."""
    for network in SMALL if tiny else NETWORKS:
        if rows.find("overhead", "net", network.name) is None:
            try:
                rows.put("overhead", "net", overhead(network, device, rounds, steps))
            except ImportError as error:
                print(f"{network.name} cannot be built here: {error}", file=sys.stderr, flush=True)


def measure_modes(rows: Rows, device: torch.device, steps: int, tiny: bool, number: int) -> None:
    """One process of two: a digest for each mode that has none of this process yet."""
    for mode in TINY if tiny else MODES:
        known = rows.find("modes", "name", mode.name) or {}
        if str(number) not in known.get("digests", {}):
            rows.put("modes", "name", both(known, mode, number, one_mode(mode, device, steps)))


def in_two_processes(options: argparse.Namespace) -> None:
    """Let two fresh processes go through the modes, one after the other; the second timing choices anew."""
    for number in (0, 1):
        command = [sys.executable, __file__, "--parts", "modes", "--process", str(number)]
        command += ["--device", options.device, "--mode-steps", str(options.mode_steps)]
        command += ["--out", str(options.out)] + ["--tiny"] * options.tiny
        subprocess.run(command, check=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the parts that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--rounds", type=int, default=12, help="of the overhead")
    parser.add_argument("--steps", type=int, default=8, help="of each round and side")
    parser.add_argument("--mode-steps", type=int, default=60, help="of the trainings that are compared")
    parser.add_argument("--tiny", action="store_true", help="small networks, to see that it runs")
    parser.add_argument("--again", action="store_true", help="forget the rows that are there")
    parser.add_argument("--process", type=int, help="(one of the two processes of the modes)")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args(arguments)
    os.environ.setdefault(WORKSPACE, ":4096:8")  # read when CUDA starts: the same for both sides
    device = torch.device(options.device)
    path = options.out / f"deterministic-mode-{device.type}.json"
    rows = Rows(path, machine_of(device), options.again)
    if options.process is not None:
        measure_modes(rows, device, options.mode_steps, options.tiny, options.process)
        return 0
    if "exceptions" in options.parts:
        measure_exceptions(rows, device)
    if "overhead" in options.parts:
        measure_overhead(rows, device, options.rounds, options.steps, options.tiny)
    if "modes" in options.parts:
        in_two_processes(options)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""What a study costs beside the training: 2000 runs of one step, and the report of a store of 20,000 runs.

    python benchmarks/study_overhead.py [--runs 2000] [--stored 20000]

The first is a whole `evenhand study run` (a process of its own): read, planned, trained in stacks, stored,
reported. The second opens a store with records of that many runs (2 tasks, 10 methods, made-up counts) and
writes its report. Results go to results/study-overhead.json.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from evenhand import __version__
from evenhand.methods.registry import METHODS
from evenhand.metrics.counts import Counts
from evenhand.study.expand import expand
from evenhand.study.plain import study_to_dict
from evenhand.study.records import Measured, PlannedRun, RunRecord
from evenhand.study.spec import GroupingSpec, MethodSpec, NetEntry, Study, TaskSpec
from evenhand.study.store import Store

RESULTS = Path(__file__).with_name("results") / "study-overhead.json"
TINY = """
name = "tiny"
title = "{runs} runs of one step"
seeds = {seeds}
[recipe]
epochs = 1
batch_size = 64
[[task]]
data = "synthetic"
n_train = 64
n_validation = 64
n_test = 64
[[grouping]]
attributes = ["a0"]
[[net]]
net = "mlp"
widths = [16]
[[method]]
key = "erm"
recipe.rate = {{ grid = [0.1, 0.03, 0.01, 0.003, 0.001] }}
[[method]]
key = "gdro"
eta = {{ grid = [0.01, 0.03, 0.1, 0.3, 1.0] }}
[[method]]
key = "gap"
lam = {{ grid = [0.1, 0.3, 1.0, 3.0, 10.0] }}
[[method]]
key = "w-erm"
recipe.rate = {{ grid = [0.1, 0.03, 0.01, 0.003, 0.001] }}
"""


def tiny_runs(runs: int, root: Path) -> dict[str, float]:
    file, out = root / "tiny.toml", root / "tiny"
    file.write_text(TINY.format(runs=runs, seeds=runs // 20))
    began = time.monotonic()
    subprocess.run(
        [sys.executable, "-m", "evenhand.cli", "study", "run", str(file), "--out", str(out), "--device",
         "cpu", "--quiet"], check=True,
    )  # fmt: skip
    seconds = time.monotonic() - began
    with Store.open(out, readonly=True) as store:
        states = store.counts_of_states()
    assert states["done"] == runs, states
    assert (out / "report" / "report.html").exists() or list(out.rglob("report.html")), "there is no report"
    return {"runs": runs, "seconds": round(seconds, 1), "target_s": 60}


def stored_runs(runs: int, root: Path) -> dict[str, float]:
    out = root / "stored"
    fill(out, runs)
    began = time.monotonic()
    subprocess.run([sys.executable, "-m", "evenhand.cli", "study", "report", str(out)], check=True)
    seconds = time.monotonic() - began
    size = sum(file.stat().st_size for file in out.glob("study.sqlite*"))
    page = next(out.rglob("report.html")).stat().st_size
    return {"runs": runs, "seconds": round(seconds, 1), "target_s": 15,
            "store_mb": round(size / 1e6, 1), "page_mb": round(page / 1e6, 1)}  # fmt: skip


def fill(folder: Path, runs: int) -> None:
    """A store with so many finished runs of 2 tasks, 10 methods, 10 rates and as many seeds as are needed."""
    keys = [key for key in METHODS if key != "jtt"][:10]
    tasks = [TaskSpec("synthetic", f"task {n}", {"seed": n, "n_train": 64, "n_test": 64, "n_validation": 64})
             for n in range(2)]  # fmt: skip
    from evenhand.study.spec import Grid

    rates = Grid(tuple(float(f"{rate:.4g}") for rate in np.logspace(-4, -1, 10)))
    study = Study(
        "stored", "a store of many runs", tasks=tuple(tasks), groupings=(GroupingSpec(("a0",)),),
        nets=(NetEntry("mlp"),), methods=tuple(MethodSpec(key, recipe={"rate": rates}) for key in keys),
        seeds=tuple(range(runs // 200)), recipe={"epochs": 1},
    )  # fmt: skip
    planned = expand(study)
    with Store.open(folder, create=True) as store:
        store.add_study(study_to_dict(study), __version__)
        store.add_runs(planned)
        for record in made_up(planned):
            store.commit(record)


def made_up(planned: list[PlannedRun]) -> Iterator[RunRecord]:
    rng = np.random.default_rng(0)
    names = ("a0=0", "a0=1")
    for run in planned:
        measured = tuple(
            Measured(part, "a0", names, ("0", "1"), Counts.from_table(rng.integers(50, 500, (2, 2, 2))))
            for part in ("validation", "test")
        )
        history = {"epoch": [1], "train": [float(rng.random())], "loss": [float(rng.random())]}
        yield RunRecord(run.id, "done", measured=measured, history=history, seconds=0.1, stack_seconds=1.0,
                        stack=10, weights="0" * 64, versions={"evenhand": __version__})  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--stored", type=int, default=20000)
    options = parser.parse_args()
    root = Path(tempfile.mkdtemp())
    try:
        found = {"tiny": tiny_runs(options.runs, root), "stored": stored_runs(options.stored, root)}
    finally:
        shutil.rmtree(root)
    print(json.dumps(found, indent=1))
    if options.runs == 2000 and options.stored == 20000:
        RESULTS.write_text(json.dumps(found, indent=1) + "\n")
    return 0 if all(each["seconds"] <= each["target_s"] for each in found.values()) else 1


if __name__ == "__main__":
    raise SystemExit(main())

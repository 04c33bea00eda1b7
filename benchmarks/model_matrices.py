"""Every model against every other: 12 models x 50,000 predictions x 1000 classes (S2, Figure 3).

By hand: `python benchmarks/model_matrices.py [--out FILE]`; seconds from arrays of codes to the matrices, and
the peak memory of a process of its own, all that it imported included; and the same for `evenhand compare`
from twelve Parquet files, intervals by 100 replicates included. Targets: 5 seconds and 2 GB from arrays, on
two cores.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)] * (str(ROOT) not in sys.path)
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))

from benchmarks.measure import facts, in_process  # noqa: E402
from benchmarks.rows import Row  # noqa: E402

MODELS, ROWS, CLASSES = 12, 50_000, 1000
AT_MOST_SECONDS, AT_MOST_MB = 5.0, 2000.0
RESULTS = ROOT / "benchmarks" / "results" / "model-matrices-cpu.json"

ZOO = """
import pathlib, sys, time
import numpy as np

models, rows, classes = map(int, sys.argv[1:4])
draw = np.random.default_rng(0)
y = np.arange(rows) % classes
right = draw.random((models, rows)) < np.linspace(0.8, 0.7, models)[:, None]  # as in S2's Table 2
near = (y + 1 + draw.geometric(0.2, (models, rows))) % classes  # classes are confused with their neighbours
p = np.where(right, y, near)

def peak():
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1000 for line in lines if line.startswith("VmHWM"))
"""
ARRAYS = f"""{ZOO}
from evenhand.metrics.counts import Counts
from evenhand.metrics.pair_tables import model_matrices

start = time.perf_counter()
counts = Counts.from_predictions(y, p, np.zeros(rows, int), classes, 1)
counted = time.perf_counter() - start
found = model_matrices(counts)
seconds = time.perf_counter() - start
assert found["cev_norm"].shape == (models, models)
skipped = float(found["skipped"].mean())
told = {{"seconds": seconds, "counting": counted, "peak_mb": peak(), "skipped": skipped}}
"""
FILES = f"""{ZOO}
import contextlib, io, tempfile
import polars
from evenhand.cli import main

with tempfile.TemporaryDirectory() as folder:
    names = [f"{{folder}}/model{{n:02d}}.parquet" for n in range(models)]
    for name, own in zip(names, p, strict=True):
        polars.DataFrame({{"id": np.arange(rows), "y": y, "p": own}}).write_parquet(name)
    words = ["compare", *names, "--label", "y", "--prediction", "p", "--key", "id", "--replicates", "100"]
    words += ["--json", f"{{folder}}/c.json"]
    start = time.perf_counter()
    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
        sys.argv = ["evenhand", *words, "--quiet"]
        main()
    seconds = time.perf_counter() - start
    assert pathlib.Path(f"{{folder}}/c.json").stat().st_size > 0
told = {{"seconds": seconds, "peak_mb": peak()}}
"""


def run(small: bool = False, files: bool = True) -> list[Row]:
    sizes = (3, 2000, 20) if small else (MODELS, ROWS, CLASSES)
    where = "{} models x {:,} predictions x {} classes".format(*sizes)
    found = []
    for name, code in {"arrays": ARRAYS, **({"evenhand compare": FILES} if files else {})}.items():
        told = in_process(code, [str(size) for size in sizes]).told
        targets = (AT_MOST_SECONDS, AT_MOST_MB) if name == "arrays" and not small else (None, None)
        for key, unit, target in (("seconds", "s", targets[0]), ("peak_mb", "MB", targets[1])):
            found.append(
                Row("model_matrices", f"{where}, {name}: {key}", told[key], unit, "<=", target, told)
            )
    return found


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--small", action="store_true")
    chosen = parser.parse_args(arguments)
    machine = facts()
    rows = run(chosen.small)
    for row in rows:
        print(f"{row.what}: {row.value:.2f} {row.unit}")
    if not chosen.small:
        body: dict[str, Any] = {"machine": machine, "rows": [row.to_dict() for row in rows]}
        chosen.out.write_text(json.dumps(body, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

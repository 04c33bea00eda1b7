"""Run the benchmarks: `python benchmarks/run.py [NAME ...] [--small] [--rows N] [--tmp FOLDER]`.

Results go to results/latest.json and into README.md; benchmarks that were not run keep their last results.
With --small nothing is written and no target is checked: it only shows that everything runs.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)] * (str(ROOT) not in sys.path)
# processes of their own must find the same packages as this one
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))

from benchmarks import bootstrap, counts_large, counts_vs_peers, parquet_100m, startup  # noqa: E402
from benchmarks.measure import facts  # noqa: E402
from benchmarks.rows import Row  # noqa: E402
from benchmarks.table import plain, write_readme  # noqa: E402

RESULTS = Path(__file__).with_name("results") / "latest.json"
NAMES = ("counts_vs_peers", "counts_large", "bootstrap", "parquet_100m", "startup")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", choices=[*NAMES, []], help="benchmarks to run; all unless named")
    parser.add_argument("--small", action="store_true", help="tiny sizes: shows that everything runs")
    parser.add_argument("--rows", type=int, help="rows of the Parquet file")
    parser.add_argument("--tmp", type=Path, help="folder for the Parquet file")
    options = parser.parse_args(arguments)
    runners: dict[str, Callable[[], list[Row]]] = {
        "counts_vs_peers": lambda: counts_vs_peers.run(options.small),
        "counts_large": lambda: counts_large.run(options.small),
        "bootstrap": lambda: bootstrap.run(options.small),
        "parquet_100m": lambda: parquet_100m.run(options.small, options.rows, options.tmp),
        "startup": lambda: startup.run(options.small),
    }
    machine = facts()  # before the benchmarks make a load of their own
    found: list[Row] = []
    for name in options.names or NAMES:
        fresh = runners[name]()
        print(plain(fresh), end="\n\n", flush=True)
        found += fresh
    if not options.small and options.rows is None:
        save(found, machine)
    return 0


def save(fresh: list[Row], machine: dict[str, Any]) -> None:
    """Write the fresh rows, keeping those of benchmarks that were not run."""
    old: list[dict[str, Any]] = json.loads(RESULTS.read_text())["rows"] if RESULTS.exists() else []
    run_now = {row.benchmark for row in fresh}
    kept = [
        Row(**{key: value for key, value in row.items() if key != "holds"})
        for row in old
        if row["benchmark"] not in run_now
    ]
    rows = sorted([*kept, *fresh], key=lambda row: NAMES.index(row.benchmark))
    RESULTS.parent.mkdir(exist_ok=True)
    content = {"machine": machine, "rows": [row.to_dict() for row in rows]}
    RESULTS.write_text(json.dumps(content, indent=1) + "\n")
    write_readme(rows, machine)


if __name__ == "__main__":
    sys.exit(main())

"""`evenhand audit` of a Parquet file of a hundred million rows, beside a bare GROUP BY by polars and duckdb.

Every candidate runs in a process of its own, from the start of the interpreter to its end; the file is made
in parts and deleted afterwards.
"""

from __future__ import annotations

import shutil
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from benchmarks.codes import made_up
from benchmarks.measure import Process, in_process
from benchmarks.rows import Row

GROUPS, PART, BYTES_A_ROW = 16, 2_000_000, 4
AT_MOST_TIMES, AT_MOST_MB = 2.0, 1500.0
TURNS = 5

AUDIT = """
import json, pathlib, sys
from evenhand.cli import main
file, out = sys.argv[1], sys.argv[2]
sys.argv = ["evenhand", "audit", file, "--label", "label", "--prediction", "prediction", "--group", "group",
            "--json", out, "--quiet"]
try:
    main()
except SystemExit as stop:
    if stop.code:
        raise
found = json.loads(pathlib.Path(out).read_text())
told = {"n": found["n"], "groups": len(found["groups"])}
"""
POLARS = """
import sys
import polars as pl
keys = ["label", "prediction", "group"]
table = pl.scan_parquet(sys.argv[1]).group_by(keys).agg(pl.len()).collect(engine="streaming")
told = {"n": int(table["len"].sum())}
"""
DUCKDB = """
import sys
import duckdb
query = 'SELECT label, prediction, "group", count(*) FROM read_parquet(?) GROUP BY ALL'
told = {"n": sum(row[-1] for row in duckdb.execute(query, [sys.argv[1]]).fetchall())}
"""


def run(small: bool = False, rows: int | None = None, tmp: Path | None = None) -> list[Row]:
    rows = rows or (200_000 if small else 100_000_000)
    free = shutil.disk_usage(tmp or tempfile.gettempdir()).free
    if free < 2 * BYTES_A_ROW * rows:
        raise OSError(
            f"{rows} rows need {2 * BYTES_A_ROW * rows / 1e9:.1f} GB of disk, {free / 1e9:.1f} GB are free"
        )
    with tempfile.TemporaryDirectory(dir=tmp) as folder:
        file = Path(folder, "predictions.parquet")
        write(file, rows)
        size = file.stat().st_size / 1e6
        taken = _turns(file, rows, 1 if small else TURNS)
    return _rows(taken, rows, size, small)


def write(file: Path, rows: int) -> None:
    """Labels and predictions as int8, groups as text of 16 levels, in row groups of a part each."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = pa.array([f"group {group:02d}" for group in range(GROUPS)])
    schema = pa.schema(
        {"label": pa.int8(), "prediction": pa.int8(), "group": pa.dictionary(pa.int32(), pa.string())}
    )
    with pq.ParquetWriter(file, schema) as writer:
        for start in range(0, rows, PART):
            codes = made_up(min(PART, rows - start), GROUPS, 2, seed=start)
            group = pa.DictionaryArray.from_arrays(pa.array(codes.g.astype(np.int32)), names)
            columns = [pa.array(codes.y.astype(np.int8)), pa.array(codes.p.astype(np.int8)), group]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))


def _candidates() -> dict[str, str]:
    known = {"ours": AUDIT, "polars": POLARS, "duckdb": DUCKDB}
    return {name: code for name, code in known.items() if name == "ours" or find_spec(name) is not None}


def _turns(file: Path, rows: int, turns: int) -> dict[str, list[Process]]:
    """Each candidate in its turn, so that a busy moment of the machine meets them all."""
    taken: dict[str, list[Process]] = {name: [] for name in _candidates()}
    for _ in range(turns):
        for name, code in _candidates().items():
            process = in_process(code, [str(file), str(file.with_suffix(".json"))])
            if process.told["n"] != rows:
                raise AssertionError(f"{name} counted {process.told['n']} rows of {rows}")
            taken[name].append(process)
    return taken


def _rows(taken: dict[str, list[Process]], rows: int, size: float, small: bool) -> list[Row]:
    best = {name: min(process.seconds for process in found) for name, found in taken.items()}
    peak = {name: max(process.peak_mb for process in found) for name, found in taken.items()}
    detail = {"rows": rows, "file_mb": size} | {
        name: {"best_s": best[name], "peak_mb": peak[name], "all_s": [process.seconds for process in found]}
        for name, found in taken.items()
    }
    where = f"audit of {rows / 1e6:g} million rows"
    limits = (None, None) if small else (AT_MOST_MB, AT_MOST_TIMES)
    found = [
        Row("parquet_100m", f"{where}: peak memory", peak["ours"], "MB", "<=", limits[0], detail),
        Row("parquet_100m", f"{where}: time", best["ours"], "s", detail=detail),
    ]
    times = {name: best["ours"] / best[name] for name in taken if name != "ours"}
    what = f"{where}: times the time of a"
    return found + [
        Row("parquet_100m", f"{what} {name} GROUP BY", ratio, "x", "<=", limits[1], detail)
        for name, ratio in times.items()
    ]

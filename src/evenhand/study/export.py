"""Finished runs in one file: Parquet (which can be read back into a store) or CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.study.export_rows import Columns, run_columns
from evenhand.study.parquet_files import MISSING, parquet_bytes, parquet_library
from evenhand.study.records import canonical
from evenhand.study.store import Store
from evenhand.train.checkpoint import written_whole

KINDS = (".parquet", ".csv")
EXACT = ("scores",)  # bytes: only Parquet has a place for them


def export_runs(
    store: Store, path: Path, metrics: Sequence[str] | None = None, *, scores: bool = False
) -> int:
    """Write every run of the latest study that has a record; how many rows were written.

    A row is a run on one split by one grouping. `metrics` limits the columns of metrics (the counts are
    always there), `scores` keeps the binned scores too (Parquet only). The file appears whole or not at all.
    """
    path = Path(path)
    if path.suffix not in KINDS:
        raise InputError(f"runs are exported to a .parquet or a .csv file, not to {path.name!r}")
    if path.suffix == ".parquet" and parquet_library() is None:
        raise InputError(f"a .parquet file {MISSING}, or export to .csv")
    columns = run_columns(store, metrics, scores and path.suffix == ".parquet")
    if not columns["id"]:
        raise InputError(f"no run of {store.folder} has ended yet, so there is nothing to export")
    try:
        with written_whole(path) as partial:
            partial.write_bytes(_csv(columns) if path.suffix == ".csv" else parquet_bytes(columns))
    except OSError as error:
        raise InputError(f"{path} could not be written ({error.strerror or error})") from error
    return len(columns["id"])


def _csv(columns: Columns) -> bytes:
    """Lists as JSON; what is undefined is an empty cell."""
    kept = {name: values for name, values in columns.items() if name not in EXACT}
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(kept)
    writer.writerows([_cell(value) for value in row] for row in zip(*kept.values(), strict=True))
    return text.getvalue().encode()


def _cell(value: Any) -> Any:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return canonical(value) if isinstance(value, list) else value

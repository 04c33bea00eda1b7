"""Finished runs of an exported file, taken over into a store: what was run before is not run again.

A run is the same if its specification and its data are. The version of the package is shown, not compared.
Where a file has no scores, what it says of the metrics of scores is kept in their place (see
`evenhand.study.told`); no digest covers that, so that it is taken on the word of the file.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.errors import InputError
from evenhand.metrics.counts import Counts
from evenhand.study.codec import unpack_scores
from evenhand.study.digests import record_digest, spec_hash
from evenhand.study.export_rows import COUNT_COLUMNS, KIND, NUMBER, read_layout
from evenhand.study.parquet_files import column_names, read_parquet
from evenhand.study.records import Measured, PlannedRun, RunRecord
from evenhand.study.reuse_words import about_bins, about_data, about_scores, bins_of, same_data
from evenhand.study.store import Store
from evenhand.study.told import BINS, SINGLE, told_by

NEEDED = (
    "kind", "id", "spec_hash", "data_checksum", "digest", "task", "status", "split", "measured_by", "groups",
    "classes", "layout", "counts", "seconds", "stack_seconds", "stack", "peak_memory", "device", "weights",
    "started", "finished", "evenhand", "versions",
)  # fmt: skip
OPTIONAL = ("study", "count_rows", "count_squares", "scores_layout", "scores", BINS, *SINGLE)
Row = dict[str, Any]


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} stands for a text")
    return value


# what a run says of itself, and what it must be: a store refuses the rest when others are there already
OWN: dict[str, Callable[[Any], Any]] = {
    "seconds": float, "stack_seconds": float, "stack": int, "peak_memory": int, "device": _text,
    "weights": _text, "started": _text, "finished": _text,
}  # fmt: skip


def reuse_runs(store: Store, path: Path, tell: Callable[[str], None] | None = None) -> int:
    """Commit the finished runs of a Parquet file that this study still lacks; how many they are.

    What is left out, and which version the runs come from, is told in sentences: to `tell`, by default to
    `store.notes`. A damaged or foreign file is refused before anything is taken.
    """
    from evenhand import __version__

    path, tell = Path(path), tell or store.notes.append
    wanted = {spec_hash(run.spec): run for run in store.waiting(retry_failed=True)}
    found = [(rows, wanted.get(rows[0]["spec_hash"])) for rows in _runs(path)]
    bins = store.study().get("score_bins", 0)
    matched = [(rows, run) for rows, run in found if run]
    taken = [_as(run, _record(path, rows, bins), path) for rows, run in matched if same_data(rows, run)]
    words = [*about_data(path, matched), *about_bins(path, matched, bins)]
    number = sum(store.commit(record) for record in taken)
    for told in [*words, *about_scores(path, taken, store)]:
        tell(told)
    others = Counter(record.versions.get("evenhand", "?") for record in taken)
    for version, runs in sorted(others.items()):
        if version != __version__:
            tell(f"{runs} reused runs of {path.name} were made by evenhand {version}; this is {__version__}")
    if not any(run for _, run in found) and wanted:
        tell(f"no run that this study lacks is in {path}: none has one of its specifications")
    return number


def _as(run: PlannedRun, record: RunRecord, path: Path) -> RunRecord:
    version = record.versions.get("evenhand", "?")
    return replace(record, id=run.id, source=f"reused {path.parent.name}/{path.name} (evenhand {version})")


def _runs(path: Path) -> list[list[Row]]:
    """The rows of each finished run."""
    rows: dict[str, list[Row]] = {}
    for row in _rows(path):
        if row["status"] == "done":
            rows.setdefault(row["id"], []).append(row)
    return list(rows.values())


def _rows(path: Path) -> list[Row]:
    if not path.is_file():
        raise InputError(f"there is no file {path} to take finished runs from")
    numbers = [name for name in column_names(path) if name.startswith(NUMBER)]
    columns = read_parquet(path, [*NEEDED, *OPTIONAL, *numbers])
    lacks = [name for name in NEEDED if name not in columns]
    if lacks or any(kind != KIND for kind in columns["kind"]):
        why = f"it has no column {lacks[0]!r}" if lacks else f"its rows do not say {KIND!r}"
        raise InputError(f"{path} is no export of evenhand's runs ({why}); `export_runs` writes one")
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _record(path: Path, rows: Sequence[Row], bins: int = 0) -> RunRecord:
    """The record as it was; one whose digest no longer fits is damaged. No digest covers what scores told."""
    first = rows[0]
    try:
        record = RunRecord(
            first["id"], "done", measured=tuple(_measured(row) for row in rows if row["split"] is not None),
            versions=dict(json.loads(first["versions"])), host="", numbers=_numbers(first),
            **{name: kind(first[name]) for name, kind in OWN.items()},
        )  # fmt: skip
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path} is damaged: run {first['id']} cannot be read ({error})") from error
    if record_digest(record)[:16] != first["digest"]:
        raise InputError(f"{path} is damaged: the counts of run {first['id']} do not fit their digest")
    if bins and bins_of(first) != bins:  # of other bins, and not to be compared
        return record
    told = {name: value for row in rows for name, value in told_by(row).items()}
    return replace(record, numbers={**record.numbers, **told})


def _numbers(row: Row) -> dict[str, float]:
    """The numbers that were taken of a run; a run that has none of a key has an empty cell there."""
    named = {name.removeprefix(NUMBER): value for name, value in row.items() if name.startswith(NUMBER)}
    return {key: float(value) for key, value in named.items() if value is not None}


def _measured(row: Row) -> Measured:
    shapes, multilabel = read_layout(row["layout"])
    arrays = {
        kind: np.array(row[COUNT_COLUMNS[kind]], dtype=np.dtype(dtype).newbyteorder("=")).reshape(shape)
        for kind, (dtype, shape) in shapes.items()
    }
    counts = Counts(**arrays, multilabel=multilabel)
    scores = row.get("scores")
    binned = None if scores is None else unpack_scores(row["scores_layout"], scores)
    names = (tuple(row["groups"]), tuple(row["classes"]))
    return Measured(row["split"], row["measured_by"], *names, counts, binned)

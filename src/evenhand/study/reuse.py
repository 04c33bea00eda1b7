"""Finished runs of an exported file, taken over into a store: what was run before is not run again.

A run is the same if its specification and its data are. The version of the package is shown, not compared.
Where a file has no scores, what it says of the metrics of scores is kept in their place (see
`evenhand.study.told`); no digest covers that, so that it is taken on the word of the file.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.errors import InputError
from evenhand.metrics.catalogue import CATALOGUE
from evenhand.metrics.counts import Counts
from evenhand.study.codec import unpack_scores
from evenhand.study.digests import record_digest, spec_hash
from evenhand.study.export_rows import COUNT_COLUMNS, KIND, NUMBER, read_layout
from evenhand.study.frame_rows import Rows, rows_of
from evenhand.study.parquet_files import column_names, read_parquet
from evenhand.study.records import Measured, PlannedRun, RunRecord
from evenhand.study.store import Store
from evenhand.study.told import SINGLE, is_told, told_by, told_key

NEEDED = (
    "kind", "id", "spec_hash", "data_checksum", "digest", "task", "status", "split", "measured_by", "groups",
    "classes", "layout", "counts", "seconds", "stack_seconds", "stack", "peak_memory", "device", "weights",
    "started", "finished", "evenhand", "versions",
)  # fmt: skip
OPTIONAL = ("count_rows", "count_squares", "scores_layout", "scores", *SINGLE)
LOST = "they leave {} undefined, unless they are run again"
KEPT = "they keep {} as the file says; intervals over rows cannot be made of that, they need the scores"
LEFT_OUT = (
    "they keep {} of all labels as the file says, and leave it undefined where a grouping leaves labels out, "
    "unless they are run again"
)
Row = dict[str, Any]


def reuse_runs(store: Store, path: Path, tell: Callable[[str], None] | None = None) -> int:
    """Commit the finished runs of a Parquet file that this study still lacks; how many they are.

    What is left out, and which version the runs come from, is told in sentences: to `tell`, by default to
    `store.notes`. A damaged or foreign file is refused before anything is taken.
    """
    from evenhand import __version__

    path, tell = Path(path), tell or store.notes.append
    wanted = {spec_hash(run.spec): run for run in store.waiting(retry_failed=True)}
    found = [(rows, wanted.get(rows[0]["spec_hash"])) for rows in _runs(path)]
    taken = [_as(run, _record(path, rows), path) for rows, run in found if run and _same_data(rows, run)]
    number = sum(store.commit(record) for record in taken)
    for words in _about_data(path, [(rows, run) for rows, run in found if run]):
        tell(words)
    for words in _about_scores(path, taken, store):
        tell(words)
    others = Counter(record.versions.get("evenhand", "?") for record in taken)
    for version, runs in sorted(others.items()):
        if version != __version__:
            tell(f"{runs} reused runs of {path.name} were made by evenhand {version}; this is {__version__}")
    if not any(run for _, run in found) and wanted:
        tell(f"no run that this study lacks is in {path}: none has one of its specifications")
    return number


def _same_data(rows: Sequence[Row], run: PlannedRun) -> bool:
    return bool(rows[0]["data_checksum"] == run.data_checksum)


def _about_data(path: Path, matched: Sequence[tuple[Sequence[Row], PlannedRun]]) -> Iterator[str]:
    """A sentence for each task whose data are other ones here."""
    other = Counter(
        (run.task, rows[0]["data_checksum"], run.data_checksum)
        for rows, run in matched
        if not _same_data(rows, run)
    )
    for (task, there, here), runs in other.items():
        yield (
            f"{runs} runs of {path.name} were not reused: the data of task '{task}' are not the same here "
            f"(checksum {there[:12]} there, {here[:12]} here)"
        )


def _about_scores(path: Path, taken: Sequence[RunRecord], store: Store) -> Iterator[str]:
    """Sentences where the study reports or chooses by what is made of scores, and runs come without them."""
    keys = _made_of_scores(store.study())
    bare = [record for record in taken if all(measured.scores is None for measured in record.measured)]
    if not (keys and bare):
        return
    rows, said = rows_of(store.table(), store.study()), Counter[tuple[str, str]]()
    for record in bare:
        told = {told_key(name) for name in record.numbers if is_told(name)}
        kept, lost = ([key for key in keys if (key in told) is known] for known in (True, False))
        how = LEFT_OUT if _leaves_labels_out(rows, record) else KEPT
        said.update((", ".join(some), words) for some, words in ((lost, LOST), (kept, how)) if some)
    for (names, words), runs in said.items():
        yield f"{runs} reused runs of {path.name} have no scores: {words.format(names)}"


def _made_of_scores(study: Mapping[str, Any]) -> list[str]:
    """The metrics of scores that a study reports or chooses by."""
    report, selection = study.get("report") or {}, study.get("selection") or {}
    asked = dict.fromkeys([*report.get("metrics", ()), selection.get("metric", "")])
    return [key for key in asked if key in CATALOGUE and CATALOGUE[key].needs == "scores"]


def _leaves_labels_out(rows: Rows, record: RunRecord) -> bool:
    """Whether a grouping that a run stands for protects some of its labels, which take no part there."""
    labels = {name for part in record.measured if part.counts.multilabel for name in part.classes}
    return any(labels.intersection(rows.dropped[row]) for row in rows.of_run[record.id])


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


def _record(path: Path, rows: Sequence[Row]) -> RunRecord:
    """The record as it was; one whose digest no longer fits is damaged. No digest covers what scores told."""
    first = rows[0]
    try:
        record = RunRecord(
            first["id"], "done", measured=tuple(_measured(row) for row in rows if row["split"] is not None),
            versions=json.loads(first["versions"]), host="", numbers=_numbers(first),
            **{name: first[name] for name in ("seconds", "stack_seconds", "stack", "peak_memory", "device",
                                              "weights", "started", "finished")},
        )  # fmt: skip
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path} is damaged: run {first['id']} cannot be read ({error})") from error
    if record_digest(record)[:16] != first["digest"]:
        raise InputError(f"{path} is damaged: the counts of run {first['id']} do not fit their digest")
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

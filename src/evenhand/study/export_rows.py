"""A table of finished runs as plain columns: a row for each run, part and grouping that it was measured by.

Metrics stand there by their keys, and the counts that they were made of beside them: the file that is written
of it can be read back into a store (`evenhand.study.reuse`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.errors import InputError
from evenhand.metrics.catalogue import CATALOGUE, COUNT_METRICS
from evenhand.metrics.counts import Counts
from evenhand.metrics.scores import Scores
from evenhand.study.codec import COUNT_KINDS, pack_counts, pack_scores, shape_of
from evenhand.study.digests import spec_hash
from evenhand.study.frame_blocks import Look
from evenhand.study.records import RunSpec, canonical
from evenhand.study.store import MeasuredBlock, Store
from evenhand.study.told import BINS, Numbers, told_values, without_told

RUN = "run"  # the column of identities while others are being filled
TOLD_BY = ("counts", "scores")  # what a metric can be made of
NUMBER = "number."  # before the key of a number that was taken of a run
KIND = "evenhand runs 1"  # stands in every row: what kind of file this is
COUNT_COLUMNS = dict(zip(COUNT_KINDS, ("counts", "count_rows", "count_squares"), strict=True))
SPEC_COLUMNS = ("data", "knobs", "protect", "net_options", "fields", "recipe", "sources")
OWN_COLUMNS = (
    "status", "reason", "seconds", "stack_seconds", "stack", "peak_memory", "device", "weights", "started",
    "finished", "source",
)  # fmt: skip
Columns = dict[str, list[Any]]
OfRuns = Mapping[str, Numbers]
Told = Mapping[str, FloatArray]


def run_columns(store: Store, metrics: Sequence[str] | None = None, scores: bool = False) -> Columns:
    """The columns, in the order of the study; runs that failed have one row, without a split.

    `metrics` are keys of the catalogue that counts or binned scores can tell, over all labels; by default all
    of counts but those that need a privileged group to be named. What is undefined for every row is left out.
    `scores` adds the binned scores.
    """
    table, keys = store.table(), checked_keys(metrics)
    wanted = scores or any(CATALOGUE[key].needs == "scores" for key in keys)
    blocks = ((split, block) for split in store.parts() for block in store.measured(split, scores=wanted))
    numbers = dict(zip(table["id"], table["numbers"], strict=True))
    found = _measured_columns(blocks, keys, scores, numbers)
    row_of = {id: row for row, id in enumerate(table["id"])}
    rows = [row_of[id] for id in found.pop(RUN)]
    seen = set(rows)
    bare = [row for row, status in enumerate(table["status"]) if status != "planned" and row not in seen]
    for column in found.values():
        column += [None] * len(bare)
    rows += bare
    order = sorted(
        range(len(rows)), key=lambda k: (rows[k], found["split"][k] or "", found["measured_by"][k] or "")
    )
    columns = _run_columns(store, table)
    facts = {name: [values[rows[k]] for k in order] for name, values in columns.items()}
    return {**facts, **{name: [values[k] for k in order] for name, values in found.items() if _says(values)}}


def checked_keys(metrics: Sequence[str] | None) -> tuple[str, ...]:
    """The keys of metrics that are exported; unknown ones are refused with the nearest.

    >>> checked_keys(["tpr.gop"])
    Traceback (most recent call last):
    evenhand.errors.InputError: there is no metric 'tpr.gop' of counts or scores; did you mean 'tpr.gap'?
    """
    if metrics is None:
        return tuple(key for key in COUNT_METRICS if not CATALOGUE[key].needs_privileged)
    known = [key for key, metric in CATALOGUE.items() if metric.needs in TOLD_BY]
    for key in metrics:
        if key not in known:
            near = get_close_matches(key, known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise InputError(f"there is no metric {key!r} of {' or '.join(TOLD_BY)}{hint}")
    return tuple(metrics)


def metric_values(
    counts: Counts, keys: Sequence[str], scores: Scores | None = None, told: Told | None = None
) -> dict[str, FloatArray]:
    """Metrics of stacked runs, `[R]` each; NaN where a run leaves one undefined. `told`: see `Look`."""
    runs = counts.cells.shape[0]
    look = Look(np.arange(runs), counts, scores, (), (), "strict", told or {})
    return {
        key: look.values(CATALOGUE[key])
        if CATALOGUE[key].needs == "scores"
        else np.broadcast_to(np.asarray(CATALOGUE[key](look.view), dtype=float), runs)
        for key in keys
    }


def _run_columns(store: Store, table: Columns) -> Columns:
    """What is the same for all rows of a run."""
    n, specs = len(table["id"]), table["spec"]
    digests, study = store.digests(), store.study()
    settings, knobs = table["setting"], [spec["knobs"] for spec in specs]
    return {
        "kind": [KIND] * n,
        "study": [study.get("name", "")] * n,
        **({BINS: [study["score_bins"]] * n} if study.get("score_bins") else {}),
        **{name: table[name] for name in ("id", "task", "grouping", "net", "method", "seed")},
        **_repeats(specs),
        "setting": [canonical(setting) for setting in settings],
        **_spread("setting", settings),
        **_spread("knob", knobs),
        "net_key": [spec["net"] for spec in specs],
        "method_key": [spec["method"] for spec in specs],
        **{name: [_text(spec.get(name)) for spec in specs] for name in SPEC_COLUMNS},
        "spec_hash": [spec_hash(RunSpec.from_dict(spec)) for spec in specs],
        "data_checksum": table["data_checksum"],
        "digest": [digests.get(id, "")[:16] for id in table["id"]],
        **{name: table[name] for name in OWN_COLUMNS},
        **_spread(NUMBER.rstrip("."), [without_told(numbers) for numbers in table["numbers"]]),
        "evenhand": [(versions or {}).get("evenhand", "") for versions in table["versions"]],
        "versions": [canonical(versions or {}) for versions in table["versions"]],
    }


def _repeats(specs: Sequence[Mapping[str, Any]]) -> Columns:
    """The number of each identical run and what might differ between them, where there are such runs."""
    if all(spec.get("repeat") is None for spec in specs):
        return {}
    return {
        "repeat": [spec.get("repeat") for spec in specs],
        "vary": [", ".join(spec.get("vary", ())) for spec in specs],
    }


def _text(value: Any) -> str:
    return value if isinstance(value, str) else canonical(value)


def _spread(prefix: str, values: Sequence[Mapping[str, Any]]) -> Columns:
    """A column for each name: numbers where all are numbers, else text."""
    names = dict.fromkeys(name for value in values for name in value)
    return {f"{prefix}.{name}": _one_type([value.get(name) for value in values]) for name in names}


def _one_type(values: list[Any]) -> list[Any]:
    known = [value for value in values if value is not None]
    for kind in (bool, int):
        if all(type(value) is kind for value in known):
            return values
    if all(type(value) in (int, float) for value in known):
        return [None if value is None else float(value) for value in values]
    return [None if value is None else _text(value) for value in values]


def _measured_columns(
    blocks: Iterable[tuple[str, MeasuredBlock]], keys: Sequence[str], scores: bool, numbers: OfRuns
) -> Columns:
    """What differs by split and grouping; `numbers` are those of every run."""
    names = [RUN, "split", "measured_by", *keys, "groups", "classes", "layout", *COUNT_COLUMNS.values()]
    columns: Columns = {name: [] for name in [*names, "scores_layout", "scores"]}
    for split, block in blocks:
        n = len(block.run_ids)
        columns[RUN] += block.run_ids
        layout = shape_of(pack_counts(block.counts[0])[0])
        shared = {"split": split, "measured_by": block.by, "layout": layout}
        lists = {"groups": list(block.groups), "classes": list(block.classes)}
        for name, value in {**shared, **lists}.items():
            columns[name] += [value] * n
        told = told_values([numbers[id] for id in block.run_ids], split, block.by)
        for key, values in metric_values(block.counts, keys, block.scores, told).items():
            columns[key] += values.tolist()
        for kind, name in COUNT_COLUMNS.items():
            array = getattr(block.counts, kind)
            columns[name] += [None] * n if array is None else array.reshape(n, -1).tolist()
        packed = (
            [pack_scores(block.scores[k]) for k in range(n)]
            if scores and block.scores is not None
            else [(None, None)] * n
        )
        columns["scores_layout"] += [layout for layout, _ in packed]
        columns["scores"] += [payload for _, payload in packed]
    return columns


def _says(values: Sequence[Any]) -> bool:
    """Whether a column holds anything: neither nothing nor NaN alone."""
    return any(value is not None and value == value for value in values)


def read_layout(text: str) -> tuple[dict[str, tuple[str, list[int]]], bool]:
    """Type and shape of each kind of count, and whether they are of several labels."""
    facts = json.loads(text)
    return {name: (kind, shape) for name, kind, shape in facts["arrays"]}, bool(facts["multilabel"])

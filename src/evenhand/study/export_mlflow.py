"""Finished runs as runs of MLflow, for those who look at their trainings there. Needs the extra `mlflow`."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from evenhand.errors import InputError
from evenhand.study.export_rows import NUMBER, Columns, checked_keys, run_columns
from evenhand.study.records import canonical
from evenhand.study.store import Store

IDENTITY = "evenhand.identity"
LABELS = ("task", "grouping", "net", "method", "seed", "data")
LONGEST = 500  # letters of a parameter that every version of MLflow takes
BATCH = {"metrics": 1000, "params": 100}  # how many of each MLflow takes at once
Row = dict[str, Any]


def export_mlflow(store: Store, experiment: str, tracking_uri: str | None = None) -> int:
    """One MLflow run for each run that has a record; how many were added. Those that are there stay.

    Parameters are the labels, the varied fields and the recipe; metrics are `split/grouping/key`, and what
    was watched by epoch stands with its steps; tags hold identity, versions and the hash of the weights.
    """
    client = _client(tracking_uri)
    place = _experiment(client, experiment)
    there = set(_identities(client, place))
    added = 0
    for rows in _runs(run_columns(store)):
        if rows[0]["id"] not in there:
            _export(client, place, rows, store.history(rows[0]["id"]))
            added += 1
    return added


def _client(tracking_uri: str | None) -> Any:
    try:
        from mlflow.tracking import MlflowClient
    except ImportError as error:
        raise InputError("mlflow is not installed; `pip install evenhand[mlflow]` adds it") from error
    return MlflowClient(tracking_uri=tracking_uri)


def _experiment(client: Any, name: str) -> str:
    found = client.get_experiment_by_name(name)
    return str(found.experiment_id if found else client.create_experiment(name))


def _identities(client: Any, experiment: str) -> Iterator[str]:
    """Identities of the runs that the experiment holds already, so that exporting twice adds nothing."""
    token = None
    while True:
        page = client.search_runs([experiment], max_results=1000, page_token=token)
        yield from (run.data.tags[IDENTITY] for run in page if IDENTITY in run.data.tags)
        token = page.token
        if not token:
            return


def _runs(columns: Columns) -> list[list[Row]]:
    rows: dict[str, list[Row]] = {}
    for values in zip(*columns.values(), strict=True):
        row = dict(zip(columns, values, strict=True))
        rows.setdefault(row["id"], []).append(row)
    return list(rows.values())


def _export(client: Any, experiment: str, rows: Sequence[Row], history: Mapping[str, list[Any]]) -> None:
    from mlflow.entities import Metric, Param

    first, end = rows[0], _milliseconds(rows[0]["finished"])
    name = f"{first['task']} {first['method']} seed {first['seed']}"
    run = client.create_run(
        experiment, start_time=_milliseconds(first["started"]) or None, tags=_tags(first), run_name=name
    )
    numbers = [*_metrics(rows), *_history(history)]
    metrics = [Metric(key, value, end, step) for key, value, step in numbers]
    params = [Param(key, value) for key, value in _params(first).items()]
    for kind, entities in (("metrics", metrics), ("params", params)):
        for start in range(0, len(entities), BATCH[kind]):
            client.log_batch(run.info.run_id, **{kind: entities[start : start + BATCH[kind]]})
    state = "FINISHED" if first["status"] == "done" else "FAILED"
    client.set_terminated(run.info.run_id, state, end_time=end or None)


def _tags(row: Row) -> dict[str, str]:
    names = ("study", "spec_hash", "data_checksum", "weights", "device", "source", "reason", "setting")
    tags = {f"evenhand.{name}": str(row[name])[:LONGEST] for name in names if row[name]}
    return {
        IDENTITY: row["id"],
        "evenhand.version": row["evenhand"],
        "evenhand.versions": row["versions"],
        **tags,
    }


def _params(row: Row) -> dict[str, str]:
    values = {name: row[name] for name in LABELS}
    for group in ("setting", "knobs", "fields", "recipe"):
        values |= {f"{group}.{name}": value for name, value in json.loads(row[group]).items()}
    texts = {name: value if isinstance(value, str) else canonical(value) for name, value in values.items()}
    return {_key(name): text[:LONGEST] for name, text in texts.items()}


def _metrics(rows: Sequence[Row]) -> Iterator[tuple[str, float, int]]:
    for row in rows:
        if row.get("split") is not None:
            for key in checked_keys(None):
                if _is_number(row.get(key)):  # undefined is not logged
                    yield _key(f"{row['split']}/{row['measured_by']}/{key}"), row[key], 0
    numbers = [name for name in rows[0] if name.startswith(NUMBER)]
    for name in ("seconds", "stack_seconds", "stack", "peak_memory", *numbers):
        if _is_number(rows[0][name]):
            yield _key(name), float(rows[0][name]), 0


def _history(history: Mapping[str, list[Any]]) -> Iterator[tuple[str, float, int]]:
    for name, values in history.items():
        for epoch, value in enumerate(values):
            if _is_number(value):
                yield _key(f"history/{name}"), float(value), epoch


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and math.isfinite(value)


def _key(name: str) -> str:
    """A name that MLflow takes.

    >>> _key("test/sex × race/tpr.gap")
    'test/sex x race/tpr.gap'
    """
    return re.sub(r"[^0-9A-Za-z_\-. /]", "_", name.replace("×", "x"))


def _milliseconds(time: str) -> int:
    return int(datetime.fromisoformat(time).timestamp() * 1000) if time else 0

"""Reading what came of the runs: the light table, states and failures."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from evenhand.study.store_database import Database
from evenhand.study.store_owners import is_alive
from evenhand.study.store_plan import LATEST

EXAMPLES = 3
RECORD = [
    "status", "reason", "seconds", "stack_seconds", "stack", "peak_memory", "device", "host", "versions",
    "weights", "started", "finished", "source",
]  # fmt: skip
LABELS = ["id", "place", "task", "grouping", "net", "method", "setting"]
READ = [*LABELS, "spec", "data_checksum", *RECORD]
COLUMNS = [*LABELS, "seed", *RECORD, "spec", "data_checksum", "numbers"]
TABLE = f"""
SELECT r.id, s.place, s.task, s.grouping, s.net, s.method, s.setting, r.spec, r.data,
       {", ".join(f"d.{name}" for name in RECORD)}
FROM study_runs s JOIN runs r ON r.number = s.run LEFT JOIN records d ON d.run = s.run
WHERE s.study = {LATEST} ORDER BY s.place, r.number
"""
NUMBERS = f"""
SELECT r.id, n.key, n.value FROM study_runs s JOIN runs r ON r.number = s.run JOIN numbers n ON n.run = s.run
WHERE s.study = {LATEST}
"""
STATES = f"""
SELECT coalesce(d.status, 'planned'), count(*) FROM study_runs s LEFT JOIN records d ON d.run = s.run
WHERE s.study = {LATEST} GROUP BY 1
"""
AT_WORK = f"""
SELECT c.owner, m.run FROM claims c JOIN buckets b ON b.id = c.bucket
JOIN bucket_runs m ON m.bucket = b.number JOIN study_runs s ON s.run = m.run AND s.study = {LATEST}
LEFT JOIN records d ON d.run = m.run WHERE d.run IS NULL
"""
REASONS = f"""
SELECT coalesce(d.reason, ''), count(*) FROM study_runs s JOIN records d ON d.run = s.run
WHERE s.study = {LATEST} AND d.status = 'failed' GROUP BY 1 ORDER BY 2 DESC, 1
"""
FAILED = f"""
SELECT n.reason, n.runs, r.id, n.method, n.setting, n.task, r.spec, d.detail FROM (
    SELECT coalesce(d.reason, '') AS reason, s.run, s.method, s.setting, s.task,
           count(*) OVER (PARTITION BY d.reason) AS runs,
           row_number() OVER (PARTITION BY d.reason ORDER BY s.place, s.run) AS nth
    FROM study_runs s JOIN records d ON d.run = s.run WHERE s.study = {LATEST} AND d.status = 'failed') n
JOIN runs r ON r.number = n.run JOIN records d ON d.run = n.run
WHERE n.nth <= {EXAMPLES} ORDER BY n.runs DESC, n.reason, n.nth
"""  # details and specifications are long: only those of the examples are looked at


def table(database: Database) -> dict[str, list[Any]]:
    """A row for each run of the latest study; without a record its status is "planned", the rest None."""
    rows = database.rows(TABLE)
    read = dict(zip(READ, map(list, zip(*rows, strict=True)), strict=True)) if rows else {n: [] for n in READ}
    parsed = _Parsed()
    read["setting"] = [parsed[text] for text in read["setting"]]
    read["versions"] = [None if n is None else parsed[database.text_of(n)] for n in read["versions"]]
    read["status"] = [status or "planned" for status in read["status"]]
    read["spec"] = [json.loads(text) for text in read["spec"]]
    read["seed"] = [spec["seed"] for spec in read["spec"]]
    read["numbers"] = _numbers(database, read["id"])
    return {name: read[name] for name in COLUMNS}


def _numbers(database: Database, ids: Sequence[str]) -> list[dict[str, float]]:
    """What was taken of each run beside its counts; NaN where undefined."""
    found: dict[str, dict[str, float]] = {}
    for id, key, value in database.rows(NUMBERS):
        found.setdefault(id, {})[key] = math.nan if value is None else value
    return [found.get(id, {}) for id in ids]


class _Parsed(dict[str, Any]):
    """JSON texts, each parsed once."""

    def __missing__(self, text: str) -> Any:
        self[text] = json.loads(text)
        return self[text]


def counts_of_states(database: Database) -> dict[str, int]:
    """How many runs the latest study has (`planned`), how many are done, have failed, and wait for a record.

    `running` are those among the waiting ones that somebody alive has claimed.
    """
    with database.reading():
        states = dict(database.rows(STATES))
        alive = {
            owner for owner, beat in database.rows("SELECT owner, beat FROM owners") if is_alive(owner, beat)
        }
        at_work = {run for owner, run in database.rows(AT_WORK) if owner in alive}
    done, failed, left = (int(states.get(name, 0)) for name in ("done", "failed", "planned"))
    states = {"planned": done + failed + left, "done": done, "failed": failed, "waiting": left}
    return {**states, "running": len(at_work)}


def reasons(database: Database) -> dict[str, int]:
    """The reasons for which runs failed, the most frequent first, and how many runs."""
    return dict(database.rows(REASONS))


def failures(database: Database) -> list[dict[str, Any]]:
    """The reasons for which runs failed, the most frequent first, each with a few examples."""
    found: dict[str, dict[str, Any]] = {}
    for reason, runs, id, method, setting, task, spec, detail in database.rows(FAILED):
        entry = found.setdefault(reason, {"reason": reason, "runs": runs, "examples": []})
        facts = {"id": id, "method": method, "setting": json.loads(setting), "task": task}
        entry["examples"].append({**facts, "seed": json.loads(spec)["seed"], "detail": detail})
    return list(found.values())

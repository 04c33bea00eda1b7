"""What the runs of a setting are called: trainings with other seeds, or identical ones of one seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Json = Mapping[str, Any]
SEED, IDENTICAL = "seed", "identical run"


def run_word(body: Json) -> str:
    """What a study has several of for each setting.

    >>> run_word({"budget": {}}), run_word({"budget": {"run": "identical run"}})
    ('seed', 'identical run')
    """
    return str((body.get("budget") or {}).get("run") or SEED)


def runs_word(body: Json) -> str:
    """The same of many, as in "mean over seeds"."""
    return f"{run_word(body)}s"


def run_name(body: Json, number: Any) -> str:
    """One of them by its number; identical runs are counted from 0 and share their seed.

    >>> run_name({"budget": {}}, 3), run_name({"budget": {"run": "identical run"}}, 3)
    ('seed 3', 'run 3')
    """
    return f"{'run' if run_word(body) == IDENTICAL else SEED} {number}"


def budget_rows(body: Json) -> Sequence[Json]:
    """What each method was given, its runs for a setting under their own name."""
    rows: Sequence[Json] = body["budget"]["methods"]
    if run_word(body) == SEED:
        return rows
    return [{runs_word(body) if key == "seeds" else key: value for key, value in row.items()} for row in rows]

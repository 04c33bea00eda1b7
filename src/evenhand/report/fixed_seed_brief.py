"""Several studies in the shape of S0 in brief: a few sentences for all, a row for each set of techniques."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.report.fixed_seed_origin import STAND_IN, ours, same_data
from evenhand.report.fixed_seed_overview import overview_sentence
from evenhand.report.fixed_seed_sets import sets_of
from evenhand.report.fixed_seed_words import widest_change
from evenhand.report.numbers import UNDEFINED
from evenhand.report.study_tables import Table

Json = Mapping[str, Any]
SETS_APART = {"identical": "implementation", "control": "nothing", "seeds": "seed"}
NOTE = (
    "Runs: techniques by runs of each; alone: they share all else of a seed. Widest change: the largest "
    "MaxDiff of a technique's overall bias, in percentage points. Compared with a baseline, technique by "
    "technique and metric by metric: how many fell and rose by S0's tests, in brackets two-sided with Holm. "
    "Paid for: falls whose technique performs worse or varies more, in bias or performance."
)


def in_brief(body: Json) -> list[str]:
    """What was trained, what identical runs did, and what is no replication; the rest is in the table."""
    every = sets_of(body)
    identical = [(title, one) for title, _, one in every if one["kind"] == "identical"]
    others = dict.fromkeys(ours(one) for _, _, one in every if not same_data(one))
    note = [f"What was trained on {'; '.join(others)} is {STAND_IN}."] if others else []
    return [overview_sentence(body), *(_identical(title, one) for title, one in identical), *note]


def _identical(title: str, one: Json) -> str:
    known = [row for row in one["varying"] if row["weights"] is not None]
    if known and all(row["weights"] == 1 for row in known):
        return f"{title}: identical runs ended in the same weights, to the bit."
    found = widest_change(one)
    moved = f"moves by up to {found[0]} percentage points ({found[1]})" if found else "does not move"
    return f"{title}: between identical runs bias {moved}."


def brief_table(body: Json) -> Table:
    """A row for each set: what it is of, how far bias moves over its runs, what techniques do to it."""
    heads = ("Study", "Trained on", "Runs differ by", "Runs", "Widest change", "Compared", "Fell", "Rose",
             "Paid for")  # fmt: skip
    rows = tuple((title, *_row(one, study["loose"])) for title, study, one in sets_of(body))
    return Table("The studies in brief", heads, rows, NOTE)


def _row(one: Json, loose: Sequence[str]) -> tuple[Any, ...]:
    runs = sorted({row["runs"] for row in one["performance"]})
    each = f"{runs[0]}" if len(runs) == 1 else f"{runs[0]} to {runs[-1]}"
    found = widest_change(one)
    paid = {row["region"]: row["pairs"] for row in one["venn"]}
    apart = SETS_APART.get(one["kind"]) or f"{', '.join(loose)} alone"
    return (
        ours(one), apart, f"{len(one['techniques'])} × {each}",
        f"{found[0]} ({found[1]})" if found else "none", *_moved(one["tests"]),
        paid["any"] if paid.get("all pairs") else UNDEFINED,
    )  # fmt: skip


def _moved(tests: list[Json]) -> tuple[Any, str, str]:
    """How many biases were compared, fell and rose, by S0's tests and by the proper ones.

    >>> tests = [{"note": "", "direction": "-", "holm": "NS"}, {"note": "", "direction": "+", "holm": "+"}]
    >>> _moved(tests), _moved([{"note": "equal"}])
    ((2, '1 (0)', '1 (1)'), (0, '–', '–'))
    """
    tested = [row for row in tests if not row["note"]]
    if not tested:
        return 0, UNDEFINED, UNDEFINED
    official, proper = (Counter(row[key] for row in tested) for key in ("direction", "holm"))
    fell, rose = (f"{official[sign]} ({proper[sign]})" for sign in "-+")
    return len(tested), fell, rose

"""What the page of S1's studies says in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from evenhand.report.claims_words import claims_by_verdict, many
from evenhand.report.many_attributes_names import SLOTS
from evenhand.report.numbers import number
from evenhand.report.paper_warning import unless_small

Json = Mapping[str, Any]
RULE = (
    "A claim is split into parts that runs can decide. A part is a difference of two methods seed by seed on "
    "every structure (where a study has several networks their mean), its mean, and Student's interval in "
    "which structures and seeds are both draws (Satter"
    "thwaite's degrees of freedom; for a table of the paper seeds alone, on its task and our networks), or a "
    "share, a rank or an R² with its own interval; the intervals of one claim hold together at 95 % (Bonfer"
    "roni). A claim holds if all its parts do, and does not if one does not. Each rule was written before "
    "the study that the claims file names for it was run."
)


def margins(body: Json) -> str:
    """What is called a tie."""
    told = ", ".join(f"{SLOTS[slot]} {size:g}" for slot, size in body["margins"].items() if slot in SLOTS)
    return f"A tie, close, and not worse mean: by less than the margin of the metric ({told})."


def state(study: Json) -> str:
    """What was run.

    >>> state({"name": "a", "done": 5, "planned": 6, "failed": 1, "seeds": [0], "structures": [{"task": "t"}],
    ...        "methods": {"erm": "erm"}})
    'a: 5 of 6 runs are done, 1 failed; 1 method, 1 structure of 1 task, 1 seed.'
    """
    failed = f", {study['failed']:,} failed" if study["failed"] else ""
    tasks = len({structure["task"] for structure in study["structures"]})
    counts = [many(len(study["methods"]), "method"),
              f"{many(len(study['structures']), 'structure')} of {many(tasks, 'task')}",
              many(len(study["seeds"]), "seed")]  # fmt: skip
    runs = f"{study['done']:,} of {study['planned']:,} runs are done{failed}"
    note = f" {study['note']}" if study.get("note") else ""  # of a published study: what is particular to it
    return f"{study['name']}: {runs}; {', '.join(counts)}.{note}"


def unfinished(study: Json) -> str:
    """What must be said of a store that lacks runs; nothing of a whole one."""
    if study["done"] == study["planned"]:
        return ""
    lacking = "; ".join(
        f"{row['method']} {row['done']:,} of {row['planned']:,}" for row in study["missing"][:8]
    )
    return f"Not everything of {study['name']} was run, and what follows may change: {lacking}."


@unless_small
def sentences(study: Json) -> list[str]:
    """The findings of a study in a few sentences."""
    return [
        told for told in (_claims(study), claims_by_verdict(study), _ranks(study), _explained(study)) if told
    ]


def _claims(study: Json) -> str:
    tally = Counter(found["verdict"] for found in study["findings"])
    holds, does_not = tally["holds"], tally["does not"]
    return (
        f"{study['name']} was asked {many(len(study['findings']), 'claim')} of the paper: {holds} "
        f"hold{'s' if holds == 1 else ''}, {does_not} do{'es' if does_not == 1 else ''} not, "
        f"{tally['cannot tell']} cannot be told."
    )


def _ranks(study: Json) -> str:
    """Who ranks first, and who cannot be told from it, over all tasks."""
    if not study["ranks"]:
        return ""
    first, told = study["ranks"][0]["scope"], []
    for row in study["ranks"]:
        if row["scope"] == first:
            best = row["methods"][0]
            tied = next((clique for clique in row["cliques"] if best in clique), [best])
            rest = [name for name in tied if name != best]
            like = f", not told from {', '.join(rest)}" if rest else ""
            told.append(f"by {SLOTS[row['slot']]} {best} ({number(row['mean_ranks'][0], 2)}{like})")
    return f"First in mean rank over {first}: {'; '.join(told)}."


def _explained(study: Json) -> str:
    told = [
        f"{row['metric']} ({row['track']}) {number(row['erm'], 2)} against {number(row['attributes'], 2)}"
        for row in study["explained"]
    ]
    return (
        f"R² over structures by ERM's own result against by the number of attributes: {'; '.join(told)}."
        if told
        else ""
    )

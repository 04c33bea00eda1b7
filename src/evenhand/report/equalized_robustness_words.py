"""What the page of S4's study says in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from evenhand.report.claims_words import claims_by_verdict
from evenhand.report.numbers import number
from evenhand.report.paper_warning import unless_small

Json = Mapping[str, Any]


def state(body: Json) -> str:
    """What was run."""
    failed = f", {body['failed']:,} failed" if body["failed"] else ""
    runs = f"{body['done']:,} of {body['planned']:,} runs are done{failed}"
    epochs, splits = body["recipe"].get("epochs"), len(body["seeds"])
    return f"{runs}; {epochs} epoch{'s' if epochs != 1 else ''}; {splits} split{'s' if splits != 1 else ''}."


def unfinished(body: Json) -> str:
    """What must be said of a store that lacks runs; nothing of a whole one."""
    if body["done"] == body["planned"]:
        return ""
    return "Not everything was run: what is missing is shown as a dash, and what follows may change."


@unless_small
def sentences(body: Json) -> list[str]:
    """The findings in a few sentences."""
    told = [_claims(body), claims_by_verdict(body), _targets(body), _moved(body), _near(body), _adult(body)]
    return [sentence for sentence in told if sentence]


def _claims(body: Json) -> str:
    tally = Counter(found["verdict"] for found in body["findings"])
    return (
        f"Of {len(body['findings'])} claims of the paper {tally['holds']} hold, {tally['does not']} do not, "
        f"and {tally['cannot tell']} cannot be told from {body['done']:,} trainings."
    )


def _targets(body: Json) -> str:
    known = [check for check in body["checks"] if check["met"] is not None]
    if not known:
        return ""
    missed = [check["words"] for check in known if not check["met"]]
    told = f" Missed: {'; '.join(missed)}." if missed else ""
    return f"Of {len(known)} targets that were run {len(known) - len(missed)} are reached.{told}"


def _moved(body: Json) -> str:
    """How far noise moves ΔEO at all, in the first table: the scale that all of it must be read against."""
    first = body["tables"][0]
    told = []
    for row in first["rows"]:
        clean, noisy = (row["cells"][_place(first, part)]["mean"] for part in ("test", "uniform"))
        if clean is not None and noisy is not None:
            told.append(f"{body['methods'][row['method']]} {number(noisy - clean, signed=True)}")
    where = f"Uniform noise of {first['severity']:g} moves ΔEO on {first['task']} by"
    return f"{where}: {', '.join(told)}." if told else ""


def _place(table: Json, part: str) -> int:
    """Where ΔEO of a kind of rows stands."""
    return next(
        place for place, head in enumerate(table["heads"])
        if head["metric"] == "delta_eo" and head["part"].startswith(part)
    )  # fmt: skip


def _near(body: Json) -> str:
    told = [
        f"{body['metrics'][row['metric']]} by {number(row['size'])} ({number(row['mean'], signed=True)})"
        for row in body["nearness"]
    ]
    return f"Ours differ from the printed numbers on average: {', '.join(told)}." if told else ""


def _adult(body: Json) -> str:
    """Which settings of CUMA reach the target on Adult."""
    adult = next(one for one in body["ablations"] if one["name"] == "adult")
    if len(adult["rows"]) < 2:
        return ""
    found = body["reaching"]
    told = "; ".join(found) if found else "none"
    return f"Settings on Adult with ΔEO below 0.08 at accuracy above 0.845: {told}."

"""Tables that set something beside our numbers: the paper's own, and other studies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.report.claims_beside import HEADS, TITLE, verdicts_table
from evenhand.report.equalized_robustness_tables import ours
from evenhand.report.many_attributes_names import METRICS, SLOTS
from evenhand.report.numbers import UNDEFINED, interval, number
from evenhand.report.study_tables import Table

Json = Mapping[str, Any]
PRINTED = (
    "Mean over structures ± deviation over seeds; paper: as printed, on other data with another network, so "
    "that the order of methods compares and the digits do not."
)
UNPRINTED = "Mean over structures ± deviation over seeds. The paper prints no numbers of it."


def paper_tables(study: Json) -> dict[str, Table]:
    """The paper's tables in shape, by the name of their file."""
    return {_file(one): paper_table(one) for one in study["tables"]}


def _file(one: Json) -> str:
    told = f"{one['title']} {one['track']}".lower().replace(",", "")
    return "-".join(told.split())


def paper_table(one: Json) -> Table:
    """A row for each method: ours and the paper's in each column; ours alone where the paper prints none."""
    cells = [cell for row in one["rows"] for cell in row["cells"]]
    beside = any(cell["printed"] is not None for cell in cells)
    heads = [text for key in one["keys"] for text in (METRICS.get(key, key), *(["paper"] * beside))]
    rows = tuple(
        (
            row["method"],
            *(text for cell in row["cells"] for text in (ours(cell), *([_theirs(cell)] * beside))),
        )
        for row in one["rows"]
    )
    note = PRINTED if beside else UNPRINTED
    return Table(f"{one['title']} in shape: {one['track']}", ("Method", *heads), rows, note)


def _theirs(cell: Json) -> str:
    """The paper's number, with its deviation where it prints one.

    >>> _theirs({"printed": 0.9125, "printed_std": None}), _theirs({"printed": None, "printed_std": None})
    ('0.912', '–')
    """
    if cell["printed_std"] is None:
        return number(cell["printed"])
    return ours({"mean": cell["printed"], "std": cell["printed_std"]})


def beside_verdicts(body: Json) -> Table:
    """Each claim and each study's verdict: what a reader takes in at a glance."""
    claims = ((row["id"], row["claim"], row["answers"]) for row in body["beside"]["claims"])
    return verdicts_table(body["beside"]["studies"], claims)


def beside_table(body: Json) -> Table:
    """Each claim as each study answers it, with the number that decides."""
    rows = [(row["id"], row["claim"], *map(_answer, row["answers"])) for row in body["beside"]["claims"]]
    note = "Verdict, the first part that decides it with its interval, trainings. Studies are judged apart."
    return Table(TITLE, (*HEADS, *body["beside"]["studies"]), tuple(rows), note)


def _answer(found: Json | None) -> str:
    if found is None:
        return "not asked"
    part = found["part"]
    if part is None:
        return f"{found['verdict']}: not measured"
    signed = part["unit"] != "share"
    ends = interval((part["low"], part["high"]), signed=signed)
    effect = f"{part['words']}: {number(part['effect'], signed=signed)} ({ends})"
    return f"{found['verdict']}: {effect}; {found['runs']:,} runs"


def beside_ranks_table(body: Json) -> Table:
    """Mean ranks of each method in each study that has some, over all its tasks."""
    found = body["beside"]["ranks"]
    methods = dict.fromkeys(row["method"] for row in found)
    places = sorted({row["study"] for row in found})
    rows = tuple(
        (told, method, *(_rank(found, place, slot, method) for place in places))
        for slot, told in SLOTS.items()
        for method in methods
    )
    names = [body["beside"]["studies"][place] for place in places]
    note = "Mean rank (of how many methods, over how many problems); 1 is best."
    return Table("Mean ranks, study by study", ("Metric", "Method", *names), rows, note)


def _rank(found: Sequence[Json], place: int, slot: str, method: str) -> str:
    for row in found:
        if (row["study"], row["slot"], row["method"]) == (place, slot, method):
            return f"{number(row['rank'], 2)} (of {row['of']}, {row['problems']})"
    return UNDEFINED

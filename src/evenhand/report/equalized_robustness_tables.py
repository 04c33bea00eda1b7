"""S4's tables from the study's dictionary: ours, the paper's and the difference, and what else was varied."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evenhand.report.numbers import UNDEFINED, interval, number, probability
from evenhand.report.paper_warning import NOT_JUDGED
from evenhand.report.spread_table import spread_table
from evenhand.report.study_tables import Cell, Table

Json = Mapping[str, Any]
OURS, PAPER, DIFFERENCE = "ours", "paper", "difference"
NOTE = (
    "Ours: mean ± deviation over splits. Paper: as printed (in percent there), with its deviation where it "
    "has one. Difference: ours less the paper's. Noise: the mean over five draws."
)


def tables(body: Json) -> dict[str, Table]:
    """Every table by the name of its file."""
    return {
        **{f"table-{one['table']}": main_table(body, one) for one in body["tables"]},
        "table-6": table_6(body),
        "table-7": table_7(body),
        **{f"ablation-{one['name']}": ablation_table(one) for one in body["ablations"]},
        "targets": checks_table(body),
        "claims": claims_table(body["findings"]),
        "nearness": nearness_table(body),
        "numbers": long_table(body),
        "runs": spread_table(body["runs"]),
        "figure-3": points_table(body),
    }


def main_table(body: Json, one: Json) -> Table:
    """Tables 1, 2, 3, 8, 9: three rows for each method of the paper, one for those that it lacks."""
    rows: list[tuple[Cell, ...]] = []
    for row in one["rows"]:
        name, cells = body["methods"][row["method"]], row["cells"]
        rows.append((name, OURS, *map(ours, cells)))
        if any(cell["printed"] is not None for cell in cells):
            rows.append(("", PAPER, *map(theirs, cells)))
            rows.append(("", DIFFERENCE, *(number(cell["difference"], signed=True) for cell in cells)))
    notes = "".join(f" (!) {note}." for note in _notes(one))
    title = f"Table {one['table']}: {body['tasks'][one['task']]}, noise of {one['severity']:g}"
    return Table(title, ("", "", *(head["name"] for head in one["heads"])), tuple(rows), NOTE + notes)


def _notes(one: Json) -> list[str]:
    found = [cell["note"] for row in one["rows"] for cell in row["cells"] if cell["note"]]
    return list(dict.fromkeys(found))


def ours(cell: Json) -> str:
    """Our number.

    >>> ours({"mean": 0.352, "std": 0.041}), ours({"mean": None, "std": None})
    ('0.352 ± 0.041', '–')
    """
    return UNDEFINED if cell["mean"] is None else f"{number(cell['mean'])} ± {number(cell['std'])}"


def theirs(cell: Json) -> str:
    """The paper's number; (!) where it cannot be right.

    >>> theirs({"printed": 0.277, "printed_std": 0.0104, "note": "a copy error"})
    '0.277 ± 0.010 (!)'
    """
    if cell["printed"] is None:
        return UNDEFINED
    spread = f" ± {number(cell['printed_std'])}" if cell["printed_std"] is not None else ""
    return f"{number(cell['printed'])}{spread}{' (!)' if cell['note'] else ''}"


def table_6(body: Json) -> Table:
    """ΔER by three sets of kernels, and ΔEO under uniform noise, as gamma grows."""
    return _by_setting(body, "table6", "Table 6: kernels of ΔER (CUMA, race)", ("gamma",))


def table_7(body: Json) -> Table:
    """Accuracy, ΔEO and ΔER as alpha, gamma and h are varied one by one."""
    return _by_setting(body, "table7", "Table 7: CUMA's weights and step (race)", ("alpha", "gamma", "h"))


def _by_setting(body: Json, key: str, title: str, varied: Sequence[str]) -> Table:
    """A row for each setting: every number of it, ours and the paper's."""
    settings: dict[tuple[float, ...], list[Json]] = {}
    for cell in body[key]:
        settings.setdefault(tuple(cell[name] for name in varied), []).append(cell)
    heads = [cell["name"] for cell in next(iter(settings.values()))]
    rows = [
        (*(f"{value:g}" for value in setting), *(text for cell in cells for text in _both(cell)))
        for setting, cells in settings.items()
    ]
    told = [text for head in heads for text in (head, "paper", "difference")]
    return Table(title, (*varied, *told), tuple(rows), NOTE)


def _both(cell: Json) -> tuple[str, str, str]:
    return ours(cell), theirs(cell), number(cell["difference"], signed=True)


def ablation_table(one: Json) -> Table:
    """What was varied, a row each; the paper has no numbers for it."""
    rows = tuple((row["words"], *map(ours, row["cells"])) for row in one["rows"])
    heads = ("", *(head["name"] for head in one["heads"]))
    return Table(one["title"], heads, rows, "Mean ± deviation over splits.")


def checks_table(body: Json) -> Table:
    """The targets that were fixed beforehand, and whether they are reached."""
    rows = [
        (check["words"], _effect(check, check["effect"]), _interval(check), check["n"],
         probability(check["p"]) if check["p"] is not None else UNDEFINED, check["rule"],
         _reached(check["met"]))
        for check in body["checks"]
    ]  # fmt: skip
    heads = ("Target", "Effect", "95 % interval", "Splits", "p", "Wanted", "")
    return Table("Targets", heads, tuple(rows), "A target is judged by the mean over splits.")


def _reached(met: bool | str | None) -> str:
    """Whether a target is reached, in a word.

    >>> _reached(True), _reached(None), _reached(NOT_JUDGED)
    ('reached', 'not run', 'not judged')
    """
    if met == NOT_JUDGED:
        return NOT_JUDGED
    return "not run" if met is None else "reached" if met else "missed"


def claims_table(findings: Sequence[Json]) -> Table:
    """The parts of claims with what decides them."""
    rows = [
        (found["id"], part["words"], number(part["effect"], signed=True),
         interval([part["low"], part["high"]], signed=True), part["replicates"], part["rule"],
         part["verdict"])
        for found in findings
        for part in found["parts"]
    ]  # fmt: skip
    heads = ("Claim", "Part", "Effect", "Interval", "Splits", "Holds if it", "Verdict")
    return Table("The claims of S4 in parts", heads, tuple(rows))


def nearness_table(body: Json) -> Table:
    """How far ours lie from the paper's numbers in its main tables."""
    rows = tuple(
        (body["metrics"][row["metric"]], row["n"], number(row["mean"], signed=True), row["size"])
        for row in body["nearness"]
    )
    note = "Over the cells of Tables 1, 2, 3, 8 and 9: ours less the paper's, and its size without the sign."
    return Table("How near ours come", ("", "cells", "mean difference", "mean size"), rows, note)


def long_table(body: Json) -> Table:
    """Every number with all its digits."""
    heads = ("table", "task", "method", "part", "metric", "mean", "std", "runs", "paper", "paper std", "note")
    return Table("Every number of the main tables", heads, tuple(_long(body)))


def _long(body: Json) -> Iterator[tuple[Cell, ...]]:
    keys = ("mean", "std", "n", "printed", "printed_std", "note")
    for one in body["tables"]:
        for row in one["rows"]:
            for head, cell in zip(one["heads"], row["cells"], strict=True):
                place = (one["table"], one["task"], row["method"], head["part"], head["metric"])
                yield (*place, *(cell[key] for key in keys))


def points_table(body: Json) -> Table:
    """The points of Figure 3."""
    heads = ("task", "part", "curve", "alpha", "gamma", "accuracy", "ΔEO", "runs")
    rows = tuple(
        (one["task"], one["part"], one["words"], *(point[key] for key in ("alpha", "gamma", "x", "y", "n")))
        for one in body["curves"]
        for point in one["points"]
    )
    return Table("Figure 3", heads, rows)


def _effect(check: Json, value: float | None) -> str:
    return number(value, 1 if check["unit"] == "ratio" else 3, check["unit"] == "difference")


def _interval(check: Json) -> str:
    if check["low"] is None or check["high"] is None:
        return UNDEFINED
    return f"{_effect(check, check['low'])} to {_effect(check, check['high'])}"

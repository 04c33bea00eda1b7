"""Mean, deviation and range over splits of every number that the page of S4's study shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evenhand.evaluation.equalized_robustness.arms import Arm, Runs
from evenhand.evaluation.equalized_robustness.frontier import CURVES, PARTS, curve
from evenhand.evaluation.equalized_robustness.layout import SWEPT, head
from evenhand.evaluation.study.run_spread import run_spread

Json = Mapping[str, Any]
Lines = Iterator[dict[str, Any]]


def spread_lines(runs: Runs, body: Json) -> list[dict[str, Any]]:
    """The main tables, Tables 6 and 7, what the paper leaves open, and the points of Figure 3."""
    return [*_main(body), *_by_setting(body), *_varied(body["ablations"]), *_points(runs)]


def _main(body: Json) -> Lines:
    for one in body["tables"]:
        where = f"Table {one['table']}: {one['task']}, noise of {one['severity']:g}"
        for row in one["rows"]:
            yield from _row(where, body["methods"][row["method"]], one["heads"], row["cells"])


def _by_setting(body: Json) -> Lines:
    for number in (6, 7):
        for cell in body[f"table{number}"]:
            setting = ", ".join(f"{name} = {cell[name]:g}" for name in ("alpha", "gamma", "h"))
            place = {"setting": f"CUMA, {setting}", "where": f"Table {number}"}
            yield run_spread(place, cell["name"], cell["values"].values())


def _varied(ablations: Sequence[Json]) -> Lines:
    for one in ablations:
        for row in one["rows"]:
            yield from _row(one["title"], row["words"], one["heads"], row["cells"])


def _row(where: str, setting: str, heads: Sequence[Json], cells: Sequence[Json]) -> Lines:
    for column, cell in zip(heads, cells, strict=True):
        yield run_spread({"setting": setting, "where": where}, column["name"], cell["values"].values())


def _points(runs: Runs) -> Lines:
    """Points that no run made are left out, as in the figure."""
    for task in SWEPT:
        for name, words in CURVES.items():
            for arm in curve(task, name):
                yield from _point(runs, arm, {"setting": _told(words, arm), "where": f"Figure 3: {task}"})


def _point(runs: Runs, arm: Arm, place: Mapping[str, str]) -> Lines:
    for part in PARTS:
        accuracy, gap = runs.values(arm, "acc", part), runs.values(arm, "delta_eo", part)
        if accuracy and gap:
            yield run_spread(place, head(part, "acc"), accuracy.values())
            yield run_spread(place, head(part, "delta_eo"), gap.values())


def _told(words: str, arm: Arm) -> str:
    """A curve and where on it; plain training has no weight."""
    if arm.method == "normal":
        return words
    weights = ("gamma",) if arm.method.startswith("laftr") else ("alpha", "gamma")
    weights = ("alpha",) if arm.method == "advdebias" else weights
    return f"{words}: {', '.join(f'{name} = {getattr(arm, name):g}' for name in weights)}"

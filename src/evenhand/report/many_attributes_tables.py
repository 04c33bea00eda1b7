"""The tables of S1's studies: what each figure shows, ranks, what explains what, claims, studies compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.report.many_attributes_added import added_numbers
from evenhand.report.many_attributes_figures import full_title
from evenhand.report.many_attributes_names import SLOTS, metric_name, panel_title
from evenhand.report.numbers import UNDEFINED, interval, number, probability
from evenhand.report.spread_table import spread_table
from evenhand.report.study_tables import Cell, Table

Json = Mapping[str, Any]
BOTH = "68 %: as the paper's error bars; 95 % beside it; Student's, over the runs of a bar or point."


def tables(study: Json) -> dict[str, Table]:
    """Every table of a study by the name of its file."""
    return {
        **{one["file"]: figure_table(one) for one in study["figures"]},
        "methods": methods_table(study),
        **({"ranks": ranks_table(study)} if study["ranks"] else {}),
        **({"explained": explained_table(study)} if study["explained"] else {}),
        **({"added": added_numbers(study)} if study["added"] else {}),
        "claims": claims_table(study["findings"]),
        "runs": spread_table([*study["runs"], *study["runs_by_structure"]]),
    }


def figure_table(one: Json) -> Table:
    """All numbers of a figure, one row for each bar or point."""
    rows = [row for place, panel in enumerate(one["panels"]) for row in _panel_rows(one, place, panel)]
    heads = ("panel", "method", "at", "of", "mean", "68 % low", "68 % high", "95 % low", "95 % high", "runs")
    return Table(full_title(one), heads, tuple(rows), BOTH)


def _panel_rows(one: Json, place: int, panel: Json) -> list[tuple[Cell, ...]]:
    title = panel_title(one, place)
    if "bars" in panel:
        return [(title, bar["method"], None, "all structures", *_numbers(bar)) for bar in panel["bars"]]
    return [
        (title, series["method"], point["x"], point["name"], *_numbers(point))
        for series in panel["series"]
        for point in series["points"]
    ]


def _numbers(point: Json) -> list[Cell]:
    return [point[key] for key in ("y", "low68", "high68", "low95", "high95", "n")]


def methods_table(study: Json) -> Table:
    """Figure 2 as a table: mean and both intervals of every method on every base task."""
    rows: list[tuple[Cell, ...]] = []
    for one in study["figures"]:
        if one["number"] != 2:
            continue
        names = list(dict.fromkeys(bar["method"] for panel in one["panels"] for bar in panel["bars"]))
        for name in names:
            bars = [next((bar for bar in panel["bars"] if bar["method"] == name), None)
                    for panel in one["panels"]]  # fmt: skip
            runs = max((bar["n"] for bar in bars if bar), default=0)
            rows.append((one["track"], name, *map(_estimate, bars), runs))
    measured = dict.fromkeys(
        metric_name(one, "performance") for one in study["figures"] if one["number"] == 2
    )
    told = " or ".join(measured).replace(" or reweighted", " or")
    performance = f"{told.capitalize().replace('map', 'mAP')} ↑"
    heads = ("Task", "Method", performance, "Bias amplification ↓", "Intersectional bias ↓", "Runs")
    note = f"Mean ± half the 68 % interval [95 % interval]. {BOTH}"
    return Table("Methods over all structures", heads, tuple(rows), note)


def _estimate(bar: Json | None) -> str:
    if bar is None:
        return UNDEFINED
    if bar["low68"] is None:
        return number(bar["y"])
    half = number((bar["high68"] - bar["low68"]) / 2)
    return f"{number(bar['y'])} ± {half} [{interval((bar['low95'], bar['high95']))}]"


def ranks_table(study: Json) -> Table:
    """Mean ranks of all methods in each scope, best first."""
    rows: list[tuple[Cell, ...]] = []
    for row in study["ranks"]:
        order = "; ".join(
            f"{name} {number(rank, 2)}" for name, rank in zip(row["methods"], row["mean_ranks"], strict=True)
        )
        left = f" (without {', '.join(row['missing'])})" if row["missing"] else ""
        rows.append((row["scope"], SLOTS[row["slot"]], order + left, row["critical_difference"],
                     probability(row["friedman"]["p"]), row["problems"]))  # fmt: skip
    heads = (
        "Tasks",
        "Metric",
        "Mean ranks, best first",
        "Critical difference",
        "Friedman",
        "Problems",
    )
    note = "Two mean ranks farther apart than the critical difference differ (Nemenyi, 5 %)."
    return Table("Mean ranks over structures", heads, tuple(rows), note)


def explained_table(study: Json) -> Table:
    """How much of the variation over structures ERM's own metric and the number of attributes explain."""
    rows = tuple(
        (row["track"], row["metric"], row["erm"], row["attributes"], number(row["difference"], signed=True),
         interval((row["low"], row["high"]), signed=True), row["structures"])
        for row in study["explained"]
    )  # fmt: skip
    heads = (
        "Task",
        "Metric",
        "R² by ERM's own",
        "R² by attributes",
        "Difference",
        "95 % interval",
        "Structures",
    )
    note = "Mean over methods of the R² of a straight line over structures; bootstrap over structures."
    return Table("What explains a method's result", heads, rows, note)


def claims_table(findings: Sequence[Json]) -> Table:
    """The parts of claims with what decides them."""
    rows = [
        (found["id"], part["words"], number(part["effect"], signed=part["unit"] != "share"),
         interval([part["low"], part["high"]], signed=part["unit"] != "share"), part["replicates"],
         part["rule"].replace("-", "−"), part["verdict"])
        for found in findings
        for part in found["parts"]
    ]  # fmt: skip
    heads = ("Claim", "Part", "Effect", "Interval", "Numbers", "Holds if it", "Verdict")
    return Table("The claims of S1 in parts", heads, tuple(rows))

"""How large the variation of one seed is beside that of several: a sentence and two tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.report.numbers import interval, number
from evenhand.report.replay_words import METRIC_NAMES
from evenhand.report.study_tables import Table

Json = Mapping[str, Any]
RATIO_NOTE = (
    "Ratio of deviations (ddof 1) over runs; its interval is that of F, for normal values. 0: runs of one "
    "seed are equal. Runs of several seeds differ by the implementation too, where that varies."
)


def of_ratios(body: Json) -> str:
    """How large the variation of one seed is beside that of several, in a sentence."""
    rows = [row for row in body["median_ratios"] if row["metric"] == "di"]
    if not rows:
        return (
            "No two of these studies have runs of one seed and of several with the same technique, data and "
            "network: how large the one variation is beside the other is not told."
        )
    return " ".join(_no_ratio(row) if row["most"] == 0 else _ratio(row) for row in rows)


def _ratio(row: Json) -> str:
    return (
        f"Deviation of {METRIC_NAMES['di']} over runs of one seed ({row['study']}) beside that over seeds "
        f"({row['other']}): {number(row['median'], 2)} times, the median over {row['techniques']} techniques "
        f"(from {number(row['least'], 2)} to {number(row['most'], 2)})."
    )


def _no_ratio(row: Json) -> str:
    return (
        f"All runs of one seed ({row['study']}) are equal for each of {row['techniques']} techniques: their "
        f"deviation is exactly 0, where other seeds ({row['other']}) move every one of them."
    )


def ratio_table(rows: Sequence[Json]) -> Table:
    """Same-seed beside seed deviations, technique by technique."""
    told = [
        (row["technique"], METRIC_NAMES.get(row["metric"], row["metric"]), row["study"], row["other"],
         number(row["same_std"], 5), number(row["seeds_std"], 5), number(row["ratio"], 2),
         interval((row["low"], row["high"]), 2),
         f"{row['runs'][0]} / {row['runs'][1]}", ", ".join(row["recipes"]) or "none")
        for row in rows
    ]  # fmt: skip
    heads = ("Technique", "Metric", "One seed", "Several seeds", "Deviation, one seed", "Deviation, seeds",
             "Ratio", "95 % interval", "Runs", "Recipes differ in")  # fmt: skip
    return Table("One seed beside several", heads, tuple(told), RATIO_NOTE)


def median_table(rows: Sequence[Json]) -> Table:
    """The middle of the ratios over techniques."""
    told = [
        (row["study"], row["other"], METRIC_NAMES.get(row["metric"], row["metric"]), row["techniques"],
         row["median"], interval((row["least"], row["most"]), 3))
        for row in rows
    ]  # fmt: skip
    heads = ("One seed", "Several seeds", "Metric", "Techniques", "Median ratio", "Range")
    return Table("One seed beside several, over techniques", heads, tuple(told), "The range is no interval.")

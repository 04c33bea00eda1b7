"""The figures of studies in the shape of S0: costs, who paid which, and every run of every technique."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from evenhand.report.figures.replay_cost import CostBlock, replay_cost
from evenhand.report.figures.strip import StripRow, strip
from evenhand.report.figures.venn import PLACES, venn
from evenhand.report.numbers import defined
from evenhand.report.replay_words import METRIC_NAMES

Json = Mapping[str, Any]
COSTS = ("bias_variance_up", "accuracy_down", "accuracy_variance_up")
COST_NAMES = ("bias varies more", "accuracy fell", "accuracy varies more")
TITLES = {
    "cost": "What techniques cost: accuracy and its variation over runs",
    "venn": "Falls of bias by what was paid for them",
    "runs": f"{METRIC_NAMES['di']} of every run",
}
SHOWN = "di"
WIDE = 760.0


def drawn(one: Json) -> dict[str, str]:
    """The figures of a set of techniques as SVG texts, by a name that can be a file's."""
    return {name: draw() for name, draw in drawers(one).items()}


def drawers(one: Json) -> dict[str, Callable[..., str]]:
    """What draws each figure of a set, as wide as it is asked to.

    There is no cost without a technique that has its baseline beside it, and no Venn without a fall of bias.
    """
    found: dict[str, Callable[..., str]] = {"runs": partial(runs_figure, one)}
    if one["cost"]:
        found["cost"] = partial(cost_figure, one)
    if counts_of(one)["all pairs"]:
        found["venn"] = partial(venn_figure, one)
    return found


def cost_figure(one: Json, width: float = WIDE) -> str:
    """What each technique does to performance and to its variation."""
    return replay_cost([_block(row) for row in one["cost"]], title=TITLES["cost"], width=width)


def _block(row: Json) -> CostBlock:
    return CostBlock(row["technique"], row["accuracy"], row["variance"], bool(row["cross"]))


def counts_of(one: Json) -> dict[str, int]:
    """The regions of the Venn and how many pairs of technique and metric are in each."""
    return {row["region"]: row["pairs"] for row in one["venn"]}


def venn_figure(one: Json, width: float = 520) -> str:
    """Of the falls of bias: how many were paid with what."""
    counts = counts_of(one)
    inside = {region: counts[" & ".join(COSTS[place] for place in region)] for region in PLACES}
    return venn(COST_NAMES, inside, counts["free"], title=TITLES["venn"], width=width)


def runs_figure(one: Json, width: float = WIDE) -> str:
    """Every run of every technique by normalised disparate impact, on one axis."""
    rows = []
    for row in one["variance"]:
        if row["metric"] == SHOWN and defined(row["mean"]):
            values = tuple(x for x in one["values"][row["technique"]][SHOWN] if defined(x))
            rows.append(StripRow(row["technique"], row["mean"], row["stdev"], row["min"], row["max"], values))
    return strip(rows, title=TITLES["runs"], width=width)

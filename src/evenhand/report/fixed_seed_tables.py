"""The tables of studies in the shape of S0, ours beside what was published."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.report.fixed_seed_origin import beside, ours, theirs
from evenhand.report.numbers import UNDEFINED, defined, interval, number
from evenhand.report.replay_words import METRIC_NAMES
from evenhand.report.study_tables import Table

Json = Mapping[str, Any]
SPREAD = ("max_diff", "stdev", "class_max_diff", "class_stdev")
SPREAD_HEADS = (
    "Technique", "Runs", "Mean", "Min", "Max", "MaxDiff", "STDEV", "Widest class", "Its MaxDiff", "Its STDEV",
)  # fmt: skip
PERCENT = "In percent, rounded as S0 prints; deviations are of the population, as there."
SIGNS = {"+": "↑", "-": "↓", "NS": "·", None: UNDEFINED}
MOVES = "↑ rose, ↓ fell, · no change shown"


def cell(row: Json, key: str) -> str:
    """A fraction as S0 prints it, in percent.

    >>> cell({"text": {"mean": "2.0"}}, "mean"), cell({"text": {}}, "mean")
    ('2.0', '–')
    """
    return str(row["text"].get(key, UNDEFINED))


def spread_table(one: Json, metric: str) -> Table:
    """Table 4 in shape for one metric: MaxDiff, deviation, those of the widest class; in brackets S0's."""
    rows = [
        (*_spread(row)[:5], *(f"{cell(row, key)} ({cell(row, f'printed_{key}')})" for key in SPREAD[:2]),
         row["class"] or UNDEFINED,
         *(f"{cell(row, key)} ({cell(row, f'printed_{key}')})" for key in SPREAD[2:]))
        for row in one["variance"] if row["metric"] == metric
    ]  # fmt: skip
    name, note = METRIC_NAMES[metric], f"{beside(one)} {PERCENT} In brackets: S0's."
    return Table(f"{name} over runs", SPREAD_HEADS, tuple(rows), note)


def spread_columns(one: Json, metric: str) -> Table:
    """The same for a file: ours, then S0's in columns of its own."""
    rows = [
        (*_spread(row), *(cell(row, f"printed_{key}") for key in SPREAD))
        for row in one["variance"] if row["metric"] == metric
    ]  # fmt: skip
    paper = [f"S0, {theirs(one)}: {what}" for what in ("MaxDiff", "STDEV", "class MaxDiff", "class STDEV")]
    name, note = METRIC_NAMES[metric], f"{beside(one)} {PERCENT}"
    return Table(f"{name} over runs", (*SPREAD_HEADS, *paper), tuple(rows), note)


def _spread(row: Json) -> tuple[Any, ...]:
    own = [cell(row, key) for key in ("mean", "min", "max", *SPREAD[:2])]
    return (
        row["technique"],
        row["runs"],
        *own,
        row["class"] or UNDEFINED,
        *(cell(row, key) for key in SPREAD[2:]),
    )


def means_table(one: Json) -> Table:
    """Performance with its deviation and range, and the mean bias by every metric; S0's in brackets."""
    by = {(row["technique"], row["metric"]): row for row in one["variance"]}
    rows = []
    for row in one["performance"]:
        ends = f"{cell(row, 'min')} to {cell(row, 'max')}"
        told = f"{cell(row, 'mean')} ± {cell(row, 'stdev')}, {ends} ({cell(row, 'printed_mean')})"
        biases = [by[row["technique"], metric] for metric in METRIC_NAMES]
        cells = [f"{cell(bias, 'mean')} ({cell(bias, 'printed_mean')})" for bias in biases]
        rows.append((row["technique"], row["runs"], told, *cells))
    heads = ("Technique", "Runs", "Performance", *METRIC_NAMES.values())
    what = ", ".join(dict.fromkeys(one["performed"].values()))
    note = f"{beside(one)} {PERCENT} Performance is {what}: mean ± deviation, range. In brackets: S0's."
    other = _other_performance(one)
    if other:
        note += f" S0's performance is {other} on validation rows, another quantity, and left out."
    return Table("Mean performance and bias", heads, tuple(rows), note)


def _other_performance(one: Json) -> str:
    """What S0 calls performance where ours is another number."""
    pairs = [(one["performed"][name], row["paper_performance"]) for name, row in one["origin"].items()]
    return ", ".join(dict.fromkeys(paper for here, paper in pairs if here != paper))


def changes_table(one: Json) -> Table:
    """Which way each bias went against the baseline, by S0's rule and by the proper one, and how far."""
    note = (
        f"{MOVES}. First sign: S0's test (side chosen after the means, no correction); second: two-sided, "
        "Holm over all comparisons here; then the band of Cohen's d, and in brackets what S0 found."
    )
    return _matrix(one, "Changes of bias against the baseline", _change, f"{beside(one)} {note}")


def _change(row: Json) -> str:
    if row["note"]:
        moved = "equal" if row["difference"] == 0 else number(row["difference"], 4, signed=True)
        return f"not tested: {moved}"
    both = f"{SIGNS[row['direction']]} {SIGNS[row['holm']]}"
    return f"{both} {row['band']} ({SIGNS[row['printed_direction']]})"


def spreads_table(one: Json) -> Table:
    """Whether each bias varies more or less than the baseline's, without and with correction."""
    note = (
        f"{MOVES}: the deviation relative to the mean, Levene's test around the median. First sign: no "
        "correction, as in S0; second: Holm. In brackets what S0 found."
    )
    return _matrix(one, "Changes of the variation of bias", _spread_change, f"{beside(one)} {note}")


def _spread_change(row: Json) -> str:
    if row["note"]:
        return "not tested"
    both = f"{SIGNS[row['variance_direction']]} {SIGNS[row['variance_holm']]}"
    return f"{both} ({SIGNS[row['printed_variance_direction']]})"


def _matrix(one: Json, title: str, told: Any, note: str) -> Table:
    by = {(row["technique"], row["metric"]): told(row) for row in one["tests"]}
    techniques = dict.fromkeys(row["technique"] for row in one["tests"])
    rows = tuple((name, *(by[name, metric] for metric in METRIC_NAMES)) for name in techniques)
    return Table(title, ("Technique", *METRIC_NAMES.values()), rows, note)


def cost_table(one: Json) -> Table:
    """What each technique does to performance and its variation, and which metrics it lowers."""
    rows = [
        (row["technique"], f"{SIGNS[row['accuracy']]} ({SIGNS[row['printed_accuracy']]})",
         f"{SIGNS[row['variance']]} ({SIGNS[row['printed_variance']]})",
         f"×{row['variance_ratio']:.2g}" if defined(row["variance_ratio"]) else UNDEFINED,
         " ".join(METRIC_NAMES[key] for key in row["reduces"].split()) or "none")
        for row in one["cost"]
    ]  # fmt: skip
    heads = ("Technique", "Performance", "Its variation", "Relative variance", "Lowers")
    note = f"{beside(one)} {MOVES}, by S0's tests; in brackets S0's result, its variation corrected."
    return Table("Cost of techniques", heads, tuple(rows), note)


def venn_table(one: Json) -> Table:
    """Regions of the Venn with their counts."""
    rows = tuple((row["region"].replace("_", " "), row["pairs"]) for row in one["venn"])
    note = f"Ours: {ours(one)}."
    return Table("Falls of bias by cost", ("Costs", "Technique and metric pairs"), rows, note)


def varying_table(one: Json) -> Table:
    """How many different networks and outcomes the runs of each technique ended in."""
    rows = [
        (row["technique"], row["runs"], UNDEFINED if row["weights"] is None else row["weights"],
         row["outcomes"], ", ".join(row["shares"]) or UNDEFINED)
        for row in one["varying"]
    ]  # fmt: skip
    heads = ("Technique", "Runs", "Different weights", "Different outcomes", "Same networks as")
    note = f"Ours: {ours(one)}. 1 different: all runs are equal to the bit."
    return Table("What varies", heads, tuple(rows), note)


def best_table(one: Json) -> Table:
    """The technique that S0's numbers call best, against the nearest other by each metric."""
    rows = [
        (METRIC_NAMES[row["metric"]], row["lowest"], number(row["mean"], 4),
         f"{row['nearest']} {number(row['nearest_mean'], 4)}",
         f"{number(row['difference'], 4, signed=True)} ({interval((row['low'], row['high']), 4, True)})",
         f"{row['shown']} of {row['of']}", ", ".join(row["beaten"]) or "none")
        for row in one["best"]
    ]  # fmt: skip
    name = one["best"][0]["technique"] if one["best"] else ""
    heads = ("Metric", "Lowest", f"{name}, mean", "Nearest other", "Difference", "Shown lower than",
             "Shown higher than")  # fmt: skip
    note = (
        f"Ours: {ours(one)}. Differences with Welch's 95 % intervals; shown: two-sided Mann-Whitney, Holm "
        "over the others."
    )
    return Table(f"{name} against the others", heads, tuple(rows), note)


def numbers_of_tests(one: Json) -> Table:
    """Every number of every comparison, for a file."""
    keys = list(one["tests"][0]) if one["tests"] else []
    rows = tuple(tuple(row[key] for key in keys) for row in one["tests"])
    return Table("Tests", tuple(key.replace("_", " ") for key in keys), rows)

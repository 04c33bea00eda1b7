"""What the study found, written into its page between two comments; figures and tables too."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evenhand.evaluation.hair_colour import words
from evenhand.evaluation.hair_colour.layout import CHANGES, METRICS
from evenhand.report.figures.forest import ForestRow, forest
from evenhand.report.marked_page import filled, link, written
from evenhand.report.numbers import UNDEFINED, interval, number
from evenhand.report.spread_table import spread_table, spread_view, to_be_opened
from evenhand.report.study_table_files import to_csv, to_markdown
from evenhand.report.study_tables import Table

Json = Mapping[str, Any]
MARKED = "numbers"
CLASSES, RUNS = "classes.csv", "runs.csv"
DECIMALS = {"Top-1": 4, "CEV norm.": 4, "Accuracy less complement's": 4}  # of the tables over runs
SHARES = "Changes of FPR and FNR as shares: 1 is twice the rate."
TITLES = {
    key: f"{words.capital(told)} of each class, all rows to a subgroup (1: twice the rate)"
    for key, told in CHANGES.items()
}


def write_page(body: Json, page: Path, results: Path) -> None:
    """Write figures and the table of classes into the folder of results, the answers into the page."""
    text = filled(page, MARKED, f"\n{answers(body, link(results, page))}\n\n")
    for key in CHANGES:
        written(results / figure_name(key), figure(body, key))
    written(results / CLASSES, to_csv(class_table(body)))
    written(results / RUNS, to_csv(runs_table(body)))
    written(page, text)


def answers(body: Json, results: str) -> str:
    """All that was found, as Markdown that links to the folder of results."""
    parts = [
        words.state(body),
        words.verdict(body),
        words.men(body),
        "### Subgroups (the paper's Table 4)",
        _table(group_table(body)),
        to_be_opened(runs_view(body, "groups")),
        "The paper's own values, of CelebA, where it says of no column whether it is normalised:",
        _table(paper_table(body)),
        "### Beyond random subgroups of the same size",
        _table(chance_table(body)),
        to_be_opened(runs_view(body, "chance")),
        "### Classes (the paper's Figure 4)",
        *(f"![{TITLES[key]}]({results}/{figure_name(key)})" for key in CHANGES),
        f"Every number of the figures: [{CLASSES}]({results}/{CLASSES}). Mean, deviation, smallest and "
        f"largest over seeds of every number: [{RUNS}]({results}/{RUNS}).",
    ]
    return "\n\n".join(part for part in parts if part)


def group_table(body: Json) -> Table:
    """Accuracy, CEV and SDE, normalised, and the change of error rates in percent."""
    heads = (
        "Subgroup", "Test rows", "Top-1", "CEV norm.", "SDE norm.", "Change of FPR, %", "Change of FNR, %"
    )  # fmt: skip
    rows = [
        (
            row["name"], round(row["rows"]), _value(row["accuracy"], 4), _value(row["cev_norm"], 4),
            _value(row["sde_norm"]), *(_percent(row[key]) for key in CHANGES),
        )
        for row in body["groups"]
    ]  # fmt: skip
    return Table("groups", heads, tuple(rows))


def paper_table(body: Json) -> Table:
    """The same columns as printed."""
    heads = ("Subgroup", "Top-1", "CEV", "SDE", "Change of FPR, %", "Change of FNR, %")
    rows = [
        (row["name"], *(number(value, 4) for value in row["paper"].values()))
        for row in body["groups"]
        if row["paper"]
    ]
    return Table("paper", heads, tuple(rows))


def chance_table(body: Json) -> Table:
    """CEV and SDE as they are, what random subgroups give, p; and accuracy against the complement."""
    heads = (
        "Subgroup", "CEV, raw", "random", "p (Holm)", "SDE, raw", "random", "p (Holm)",
        "Accuracy less complement's", "p (Holm)", "SDE beyond complement's",
    )  # fmt: skip
    rows = []
    for row in body["groups"]:
        cells: list[str] = []
        for key in METRICS:
            found = row[key]
            cells += [_value(found), number(found["chance"]), number(found["p_holm"])]
        ahead = row["ahead"]
        beyond = _value(row["sde"]["beyond_complement"], signed=True)
        cells += [_value(ahead, 4, signed=True), number(ahead["p_holm"]), beyond]
        rows.append((row["name"], *cells))
    return Table("chance", heads, tuple(rows))


def class_table(body: Json) -> Table:
    """Change of each rate for each class and subgroup, with its interval."""
    rows = [
        (row["name"], name, key, found["value"], found["low"], found["high"])
        for row in body["groups"]
        for key, own in row["classes"].items()
        for name, found in zip(body["classes"], own, strict=True)
    ]
    return Table("classes", ("subgroup", "class", "rate", "change", "low", "high"), tuple(rows))


def runs_table(body: Json) -> Table:
    """Mean, deviation and range over seeds of every number, with all digits: what the file holds."""
    return spread_table([line for lines in body["runs"].values() for line in lines], SHARES)


def runs_view(body: Json, part: str) -> Table:
    """The same of one part of the page, to be read: "groups", "chance" or "classes"."""
    note = "" if part == "chance" else SHARES
    return spread_view(body["runs"][part], note, DECIMALS, without="" if part == "classes" else "class")


def figure(body: Json, key: str, width: float = 760) -> str:
    """A line for each class under each subgroup, with its interval."""
    rows = []
    for row in body["groups"]:
        rows.append(ForestRow(row["name"], None, heading=True))
        rows += [
            ForestRow(name, found["value"], found["low"], found["high"])
            for name, found in zip(body["classes"], row["classes"][key], strict=True)
        ]
    return forest(
        rows, title=TITLES[key], width=width, reference=("all rows", 0.0), axis="relative change", signed=True
    )


def figure_name(key: str) -> str:
    """Where a figure is, inside the folder of results."""
    return f"figures/{key.replace('_', '-')}.svg"


def _value(found: Json, decimals: int = 3, signed: bool = False) -> str:
    ends = interval((found["low"], found["high"]), decimals, signed=signed)
    return f"{number(found['value'], decimals, signed=signed)} ({ends})"


def _percent(found: Json) -> str:
    if found["value"] is None:
        return UNDEFINED
    ends = [None if end is None else 100 * end for end in (found["low"], found["high"])]
    return f"{number(100 * found['value'], 1, signed=True)} ({interval(ends, 1, signed=True)})"


def _table(table: Table) -> str:
    return to_markdown(table).rstrip()

"""The page of titanic-fairness beside its files: S2's Table 3 and ours, what chance gives, the rule."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from evenhand.evaluation.titanic_fairness import words
from evenhand.evaluation.titanic_fairness.page import (
    chance_table,
    figure,
    figure_title,
    known_table,
    long_table,
    new_table,
)
from evenhand.evaluation.titanic_fairness.spread import runs_table, runs_view
from evenhand.report import paper_page as made
from evenhand.report.paper_files import write_paper
from evenhand.report.paper_page import Head, Section
from evenhand.report.paper_warning import SMALL
from evenhand.report.spread_table import TITLE

Json = Mapping[str, Any]
MEASURE_TWICE = "S2: “Measure Twice, Cut Once: Quantifying Bias and Fairness in Deep Neural Networks”."
RULE = (
    "A column shows unevenness of a model if the sexes, shuffled among the test rows, give a mean as far "
    "from 0 in at most 5 % of the shuffles (Holm over the eight columns of the model). Claim S2.9 holds if "
    "in every model some of FPED, FNED, DIMS and DIAMR show it and all of CEV and SDE do; it does not if "
    "in most models one of the four shows it and none of CEV and SDE does. The other reading of FPED and "
    "FNED decides nothing."
)


def write_html(body: Json, folder: Path) -> Path:
    """Write paper.html, paper.json and paper/{tables,figures}/ into the folder; the page."""
    tables = {
        "beside-the-paper": known_table(body), "cev-and-sde": new_table(body), "chance": chance_table(body),
        "repeats": long_table(body), "runs": runs_table(body),
    }  # fmt: skip
    return write_paper(folder, render(body), body, tables, {"beside-the-paper": figure(body)})[0]


def render(body: Json) -> str:
    """The HTML page."""
    head = Head(
        body["name"], body["title"], (words.state(body), f"{MEASURE_TWICE} Table 3."), words.findings(body),
        SMALL if body.get("small") else "", body["evenhand"], body["created"],
    )  # fmt: skip
    return made.render(head, sections(body))


def sections(body: Json) -> list[Section]:
    """The subjects of the page."""
    known = [made.figure(figure_title(body), partial(figure, body)), *made.table(known_table(body))]
    new = [*made.table(new_table(body)), *made.folded(TITLE, runs_view(body))]
    chance = [made.words(words.chance(body)), *made.table(chance_table(body))]
    readings = [] if body.get("small") else [words.other_reading(body)]
    return [
        Section("known", "Beside the paper: Table 3", [*known, *map(made.words, readings)]),
        Section("new", "CEV and SDE", new),
        Section("chance", "What chance gives", chance),
        Section("method", "How it is judged", [made.words(RULE)]),
    ]

"""The page of hair-colour beside the report that all studies have: S2's Table 4 and Figure 4."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from evenhand.evaluation.hair_colour import words
from evenhand.evaluation.hair_colour.layout import CHANGES
from evenhand.evaluation.hair_colour.page import (
    TITLES,
    chance_table,
    class_table,
    figure,
    group_table,
    paper_table,
    runs_table,
    runs_view,
)
from evenhand.evaluation.hair_colour.study import compute
from evenhand.report import paper_page as made
from evenhand.report.paper_files import write_paper
from evenhand.report.paper_page import Section
from evenhand.report.spread_table import TITLE
from evenhand.report.study_tables import Table

Json = Mapping[str, Any]
MEASURE_TWICE = "S2: “Measure Twice, Cut Once: Quantifying Bias and Fairness in Deep Neural Networks”."
CHANCE = (
    "A small subgroup has a large CEV whoever is in it: random subgroups of the same size are drawn from the "
    "test rows of every seed. p: the share of draws that reach the subgroup's value, Holm over all subgroups "
    "and both metrics; of the accuracy, a paired t-test over seeds, Holm over attributes."
)
RULE = (
    "A subgroup is uneven if its CEV and its SDE against all rows both lie beyond random subgroups of its "
    "size. Claim S2.10 holds if some subgroup is uneven and more accurate than its complement, does not if "
    "all uneven ones are less accurate, and cannot be told otherwise, or where none of those that meet the "
    "rule is more uneven than its complement. Values are means over seeds with Student's 95 % interval."
)


def paper(store: Any, folder: Path | str, progress: Callable[[str], None] | None = None) -> dict[str, Any]:
    """Write paper.html, paper.json and paper/{tables,figures}/ into the folder; gives what the page shows."""
    tell = progress or (lambda told: None)
    tell("all rows against each subgroup, and random subgroups")
    body = compute(store)
    tell("writing the paper's tables, figures and page")
    drawn = {key.replace("_", "-"): figure(body, key) for key in CHANGES}
    write_paper(Path(folder), render(body), body, _tables(body), drawn)
    return body


def render(body: Json) -> str:
    """The HTML page; an unfinished study gives what it has."""
    about = (f"{words.ran(body)} {words.whose(body)}", f"{MEASURE_TWICE} Table 4 and Figure 4.")
    told = [text for text in (words.verdict(body), words.men(body)) if text]
    return made.render(made.head_of(body, about, told), sections(body))


def sections(body: Json) -> list[Section]:
    """The subjects of the page."""
    printed = "The paper's own values, of CelebA, where it says of no column whether it is normalised"
    classes = [made.figure(TITLES[key], partial(figure, body, key)) for key in CHANGES]
    runs = {part: made.folded(TITLE, runs_view(body, part)) for part in body["runs"]}
    numbers = made.folded("Every number", class_table(body))
    groups = [
        *made.table(group_table(body)), *runs["groups"], *made.table(paper_table(body), title=printed)
    ]  # fmt: skip
    chance = [made.words(CHANCE), *made.table(chance_table(body)), *runs["chance"]]
    return [
        Section("groups", "Subgroups: Table 4", groups),
        Section("chance", "Beyond chance", chance),
        Section("classes", "Classes: Figure 4", [*classes, *numbers, *runs["classes"]]),
        Section("method", "How it is judged", [made.words(RULE)]),
    ]


def _tables(body: Json) -> dict[str, Table]:
    return {
        "subgroups": group_table(body), "subgroups-in-the-paper": paper_table(body),
        "beyond-chance": chance_table(body), "classes": class_table(body),
        "runs": runs_table(body),
    }  # fmt: skip

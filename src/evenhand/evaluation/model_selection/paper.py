"""The page of a zoo beside the report that all studies have: S2's Table 2 and Figure 3."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from evenhand.evaluation.model_selection import tables, words
from evenhand.evaluation.model_selection.layout import MATRICES
from evenhand.evaluation.model_selection.page import DRAWN, figure_name, figures
from evenhand.evaluation.model_selection.study import compute
from evenhand.report import paper_page as made
from evenhand.report.paper_files import write_paper
from evenhand.report.paper_page import Part, Section
from evenhand.report.spread_table import TITLE
from evenhand.report.study_tables import Table

Json = Mapping[str, Any]
MEASURE_TWICE = "S2: “Measure Twice, Cut Once: Quantifying Bias and Fairness in Deep Neural Networks”."
RULE = (
    "Similar are two models whose top-1 differs by at most 0.01 and whose numbers of parameters by a factor "
    "of at most 1.5. They are told apart if one has the larger CEV and the larger SDE against the base "
    "(paired t-tests over seeds, Holm over all similar pairs and both metrics): that one is singled out. "
    "Claim S2.7 holds if pairs are told apart and in more than half of them the one singled out has the "
    "lower recall in its worst class. Claim S2.8 asks, for at least 100 classes, whether two sets of rows "
    "order the cells alike."
)


def paper(store: Any, folder: Path | str, progress: Callable[[str], None] | None = None) -> dict[str, Any]:
    """Write paper.html, paper.json and paper/{tables,figures}/ into the folder; gives what the page shows."""
    tell = progress or (lambda told: None)
    tell("every model against every other")
    body = compute(store)
    tell("writing the paper's tables, figures and page")
    drawn = {_stem(name): svg for name, svg in figures(body).items()}
    write_paper(Path(folder), render(body), body, _tables(body), drawn)
    return body


def render(body: Json) -> str:
    """The HTML page; an unfinished study gives the models that are finished."""
    about = (f"{words.ran(body)} {words.whose(body)}", f"{MEASURE_TWICE} Table 2 and Figure 3.")
    several = len(body["tasks"]) > 1
    told = [
        f"{task['task']}: {text}" if several else text
        for task in body["tasks"]
        for text in (words.choice(task), words.agreement(task))
    ]
    return made.render(made.head_of(body, about, told), sections(body))


def sections(body: Json) -> list[Section]:
    """The subjects of the page."""
    return [
        Section("models", "The models: Table 2", _each(body, _models)),
        Section("matrices", "Every pair: Figure 3", _each(body, lambda task: _matrices(body, task))),
        Section("similar", "Similar models", _each(body, _similar)),
        Section("method", "How it is judged", [made.words(RULE)]),
    ]


def _each(body: Json, tell: Callable[[Json], list[Part]]) -> list[Part]:
    """The parts of every task, under its name where there are several."""
    found = []
    for task in body["tasks"]:
        parts = tell(task)
        found += [*(made.heading(task["task"]) if len(body["tasks"]) > 1 and parts else []), *parts]
    return found


def _models(task: Json) -> list[Part]:
    return [made.words(words.models(task)), *made.table(tables.zoo_table(task)), *_runs(task, "models")]


def _matrices(body: Json, task: Json) -> list[Part]:
    drawn = figures({**body, "tasks": [task]})
    every = [made.picture(words.capital(MATRICES[key]), drawn[figure_name(task, key)]) for key in DRAWN]
    return [
        made.words(words.matrices(task)),
        *every,
        *_runs(task, "cells", "Every cell over runs, also not normalised"),
        *_runs(task, "agreement", "Validation against test rows, over runs"),
    ]


def _similar(task: Json) -> list[Part]:
    return [*made.table(tables.pair_table(task)), *_runs(task, "pairs")]


def _runs(task: Json, part: str, title: str = TITLE) -> list[Part]:
    return made.folded(title, tables.runs_view(task, part))


def _tables(body: Json) -> dict[str, Table]:
    found = {"cells": tables.cell_table(body), "runs": tables.runs_table(body)}
    for task in body["tasks"]:
        own = _stem(task["task"].replace(" ", "-"))
        found |= {f"models-{own}": tables.zoo_table(task), f"similar-{own}": tables.pair_table(task)}
    return {name: table for name, table in found.items() if table.rows}


def _stem(name: str) -> str:
    """A name of a file as other folders know it, without its folder and ending."""
    return name.removeprefix("figures/").removesuffix(".svg").replace("/", "-")

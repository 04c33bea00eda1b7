"""What a zoo shows, written into the page of the study between two comments; figures and tables too."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evenhand.evaluation.model_selection import tables, words
from evenhand.evaluation.model_selection.layout import MATRICES
from evenhand.report.figures.heatmap import heatmap
from evenhand.report.marked_page import filled, link, written
from evenhand.report.spread_table import to_be_opened
from evenhand.report.study_table_files import to_csv, to_markdown
from evenhand.report.study_tables import Table

Json = Mapping[str, Any]
MARKED = "numbers"
DRAWN = ("accuracy_change", "cev_norm", "sde_norm")
CELLS, RUNS = "cells.csv", "runs.csv"


def write_page(body: Json, page: Path, results: Path) -> None:
    """Write figures and cells into the folder of results, the answers between the page's comments."""
    text = filled(page, MARKED, f"\n{answers(body, link(results, page))}\n\n")
    for name, drawn in figures(body).items():
        written(results / name, drawn)
    written(results / CELLS, to_csv(tables.cell_table(body)))
    written(results / RUNS, to_csv(tables.runs_table(body)))
    written(page, text)


def answers(body: Json, results: str) -> str:
    """All tasks as Markdown that links to the folder of results."""
    parts = [words.state(body)]
    for task in body["tasks"]:
        parts += [f"### {task['task']}"] if len(body["tasks"]) > 1 else []
        parts += [
            words.choice(task),
            words.agreement(task),
            "#### The models",
            words.models(task),
            _table(tables.zoo_table(task)),
            to_be_opened(tables.runs_view(task, "models")),
            "#### Every model against every other",
            words.matrices(task),
            *(f"![{MATRICES[key]}]({results}/{figure_name(task, key)})" for key in DRAWN),
        ]
        if task["pairs"]:
            parts += [
                "#### Models of similar accuracy and size",
                _table(tables.pair_table(task)),
                to_be_opened(tables.runs_view(task, "pairs")),
            ]
    parts.append(
        f"Every cell, also not normalised: [{CELLS}]({results}/{CELLS}). Mean, deviation, smallest and "
        f"largest over seeds of every number, also of the cells: [{RUNS}]({results}/{RUNS})."
    )
    return "\n\n".join(parts)


def figures(body: Json) -> dict[str, str]:
    """The three matrices of each task (S2, Figure 3) as SVG texts, by the names of their files."""
    found = {}
    for task in body["tasks"]:
        names = [f"{index} {row['model']}" for index, row in enumerate(task["models"])]
        numbers = [str(index) for index in range(len(names))]
        for key in DRAWN:
            found[figure_name(task, key)] = heatmap(
                task["matrices"][key], names, numbers, title=f"{task['task']}: {MATRICES[key]}",
                diverging=key == "accuracy_change", decimals=4 if key == "cev_norm" else 3,
            )  # fmt: skip
    return found


def figure_name(task: Json, key: str) -> str:
    """Where a figure is, inside the folder of results."""
    return f"figures/{task['task']}-{key.replace('_', '-')}.svg".replace(" ", "-")


def _table(table: Table) -> str:
    return to_markdown(table).rstrip()

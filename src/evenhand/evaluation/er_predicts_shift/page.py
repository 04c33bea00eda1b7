"""What the runs say, written into the page of the study between two comments; figures and tables too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evenhand.evaluation.er_predicts_shift import tables, words
from evenhand.evaluation.er_predicts_shift.layout import OUTCOMES, PREDICTORS
from evenhand.evaluation.er_predicts_shift.picture import TITLE, picture
from evenhand.evaluation.er_predicts_shift.pooling import PARTIAL, PLAIN
from evenhand.report.figures.forest import ForestRow, forest
from evenhand.report.marked_page import filled, link, marks_of, written
from evenhand.report.study_table_files import to_markdown
from evenhand.report.study_tables import Table

Json = Mapping[str, Any]
MARKED = "numbers"
BEGIN, END = marks_of(MARKED)
SCATTER, FOREST, REST = "figures/er-against-change.svg", "figures/correlations.svg", "correlations.md"
COMPARED = "What each number on clean rows foretells under shift, over all tasks and shifts"


def write_page(body: Json, page: Path, results: Path) -> None:
    """Write figures and long tables into the folder of results, the answers between the page's comments."""
    texts = {
        page: filled(page, MARKED, f"\n{answers(body, link(results, page))}\n\n"),
        results / SCATTER: picture(body),
        results / FOREST: compared(body),
        results / REST: long_tables(body),
    }
    for path, text in texts.items():
        written(path, text)


def answers(body: Json, results: str) -> str:
    """All questions answered, as Markdown that links to the folder of results."""
    parts = [
        words.state(body),
        _list([words.verdict(body, key) for key in words.CALLED]),
        f"![{TITLE}]({results}/{SCATTER})",
        "### Beside what costs no more",
        _list([words.of_rivals(body, outcome) for outcome in OUTCOMES]),
        f"![{COMPARED}]({results}/{FOREST})",
        _table(tables.pooled_table(body)),
        "### Shift by shift",
        words.by_shift(body),
        _table(tables.shift_table(body)),
        f"Every task and every task under every shift: [{REST}]({results}/{REST}).",
    ]
    return "\n\n".join(parts)


def long_tables(body: Json) -> str:
    """What is too long for the page."""
    parts = [
        f"# {body['name']}: all correlations",
        words.state(body),
        "## Task by task",
        _table(tables.task_table(body)),
        "## Delta ER on each task under each shift",
        _table(tables.cell_table(body)),
    ]
    return "\n\n".join(parts) + "\n"


def compared(body: Json) -> str:
    """The pooled correlations of all predictors on one axis."""
    rows = []
    for outcome in OUTCOMES:
        for kind in (PLAIN, PARTIAL):
            heading = f"{words.SHORT[outcome]}{', partial' if kind == PARTIAL else ''}"
            rows.append(ForestRow(heading, None, heading=True))
            rows += [
                ForestRow(PREDICTORS[row["predictor"]], row["value"], row["low"], row["high"])
                for row in body["pooled"]
                if (row["outcome"], row["kind"]) == (outcome, kind)
            ]
    return forest(rows, title=COMPARED, reference=("none", 0.0), axis="rank correlation", signed=True)


def _list(sentences: Sequence[str]) -> str:
    return "\n".join(f"- {told}" for told in sentences)


def _table(table: Table) -> str:
    return to_markdown(table).rstrip()

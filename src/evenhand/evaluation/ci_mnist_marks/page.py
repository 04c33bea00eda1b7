"""What the runs say, written into the page of the study between two comments; figure and tables beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evenhand.evaluation.ci_mnist_marks import tables, words
from evenhand.evaluation.ci_mnist_marks.layout import BOTH, COLOURS, DECLARED
from evenhand.evaluation.ci_mnist_marks.picture import TITLE, picture
from evenhand.report.marked_page import filled, link, marks_of, written
from evenhand.report.study_table_files import to_markdown
from evenhand.report.study_tables import Table

Json = Mapping[str, Any]
MARKED = "numbers"
BEGIN, END = marks_of(MARKED)
FIGURE, REST = "figures/marks.svg", "marks.md"
SMALLEST = (words.of_fall, words.of_recovery, words.of_unchosen)


def write_page(body: Json, page: Path, results: Path) -> None:
    """Write figure and long tables into the folder of results, the answers between the page's comments."""
    texts = {
        page: filled(page, MARKED, f"\n{answers(body, link(results, page))}\n\n"),
        results / FIGURE: picture(body),
        results / REST: long_tables(body),
    }
    for path, text in texts.items():
        written(path, text)


def answers(body: Json, results: str) -> str:
    """Both questions answered, as Markdown that links to the folder of results."""
    parts = [
        words.state(body),
        f"![{TITLE}]({results}/{FIGURE})",
        "### What the marks add",
        _list([told for colours in COLOURS for told in words.of_marks(body, colours)]),
        _table(tables.added_table(body, base=True)),
        "### The smallest group",
        words.answer(body),
        _list([told(body) for told in SMALLEST]),
        "With fewer marks:",
        _list([told(body, marks) for marks in DECLARED if marks != BOTH for told in SMALLEST]),
        _table(tables.fall_table(body)),
        _table(tables.recovery_table(body)),
        f"All numbers of all methods, and every setting for itself: [{REST}]({results}/{REST}).",
    ]
    return "\n\n".join(parts)


def long_tables(body: Json) -> str:
    """What is too long for the page."""
    parts = [
        "# ci-mnist-marks: all numbers",
        words.state(body),
        "## Every chosen model",
        _table(tables.level_table(body)),
        "## What the marks add to the methods",
        _table(tables.added_table(body, base=False)),
        "## Every setting for itself",
        _table(tables.unchosen_table(body)),
    ]
    return "\n\n".join(parts) + "\n"


def _list(sentences: Sequence[str]) -> str:
    return "\n".join(f"- {told}" for told in sentences)


def _table(table: Table) -> str:
    return to_markdown(table).rstrip()

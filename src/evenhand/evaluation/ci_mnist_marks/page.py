"""What the runs say, written into the page of the study between two comments; figure and tables beside it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.evaluation.ci_mnist_marks import tables, words
from evenhand.evaluation.ci_mnist_marks.layout import BOTH, COLOURS, DECLARED
from evenhand.evaluation.ci_mnist_marks.picture import TITLE, picture
from evenhand.report.study_table_files import to_markdown
from evenhand.report.study_tables import Table

Json = Mapping[str, Any]
BEGIN, END = "<!-- numbers: begin -->", "<!-- numbers: end -->"
FIGURE, REST = "figures/marks.svg", "marks.md"
SMALLEST = (words.of_fall, words.of_recovery, words.of_unchosen)


def write_page(body: Json, page: Path, results: Path) -> None:
    """Write figure and long tables into the folder of results, the answers between the page's comments."""
    text = page.read_text(encoding="utf-8") if page.is_file() else ""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise InputError(f"{page} has no lines {BEGIN} and {END}; add both where the numbers shall stand")
    (results / FIGURE).parent.mkdir(parents=True, exist_ok=True)
    (results / FIGURE).write_text(picture(body), encoding="utf-8")
    (results / REST).write_text(long_tables(body), encoding="utf-8")
    beside = Path(os.path.relpath(results, page.parent)).as_posix()
    page.write_text(f"{before}{BEGIN}\n\n{answers(body, beside)}\n\n{END}{after}", encoding="utf-8")


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

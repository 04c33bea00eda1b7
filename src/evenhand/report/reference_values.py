"""The page of a study beside its public values: its dictionary into one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.report import page
from evenhand.report.figures.canvas import both_widths
from evenhand.report.reference_values_figure import dumbbells
from evenhand.report.reference_values_markdown import RULE
from evenhand.report.reference_values_tables import (
    NOTE,
    farthest_table,
    nearness_table,
    question_table,
    ranks_table,
    values_table,
)
from evenhand.report.reference_values_words import sentences, state, tally, unfinished
from evenhand.report.study_table_files import is_number, shown
from evenhand.report.study_tables import Table

Json = Mapping[str, Any]


def render(body: Json) -> str:
    """The HTML page; an unfinished store gives what it has."""
    return page.render(
        "reference_values.html.j2",
        paper=body,
        title=body["title"],
        state=state(body),
        unfinished=unfinished(body),
        sentences=sentences(body),
        drawn=both_widths(lambda width: dumbbells(body, width)),
        near=_told(nearness_table(body)),
        order=_told(ranks_table(body)),
        rule=RULE,
        note=NOTE,
        questions=[
            {"words": question["words"], "tally": tally(question), "table": _told(question_table(question))}
            for question in body["questions"]
        ],
        farthest=_told(farthest_table(body)),
        values=_told(values_table(body["rows"])),
    )


def _told(table: Table) -> dict[str, Any]:
    """A table for the template: texts, and which columns are numbers."""
    numeric = [all(is_number(row[place]) for row in table.rows) for place in range(len(table.heads))]
    rows = [[shown(cell) for cell in row] for row in table.rows]
    return {"title": table.title, "heads": list(zip(table.heads, numeric, strict=True)), "rows": rows,
            "numeric": numeric, "note": table.note}  # fmt: skip

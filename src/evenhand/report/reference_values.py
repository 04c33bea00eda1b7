"""The page of a study beside its public values: its dictionary into one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.report import page
from evenhand.report.figures.canvas import both_widths
from evenhand.report.paper_page import told_table as told
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
from evenhand.report.spread_table import spread_view

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
        near=told(nearness_table(body)),
        order=told(ranks_table(body)),
        rule=RULE,
        note=NOTE,
        questions=[
            {"words": question["words"], "tally": tally(question), "table": told(question_table(question))}
            for question in body["questions"]
        ],
        farthest=told(farthest_table(body)),
        values=told(values_table(body["rows"])),
        spread=told(spread_view(body["runs"])),
    )

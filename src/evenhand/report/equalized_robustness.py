"""The page of S4's study in the paper's shape: its dictionary into one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from evenhand.report import page
from evenhand.report.equalized_robustness_figure import trade_off
from evenhand.report.equalized_robustness_markdown import RULE
from evenhand.report.equalized_robustness_tables import (
    ablation_table,
    checks_table,
    claims_table,
    main_table,
    nearness_table,
    table_6,
    table_7,
)
from evenhand.report.equalized_robustness_words import sentences, state, unfinished
from evenhand.report.figures.canvas import both_widths
from evenhand.report.paper_page import told_table as told
from evenhand.report.spread_table import spread_view

Json = Mapping[str, Any]


def render(body: Json) -> str:
    """The HTML page; an unfinished store gives what it has."""
    tasks = list(dict.fromkeys(one["task"] for one in body["curves"]))
    return page.render(
        "equalized_robustness.html.j2",
        paper=body,
        title=body["title"],
        state=state(body),
        unfinished=unfinished(body),
        sentences=sentences(body),
        rule=RULE,
        targets=told(checks_table(body)),
        findings=[{**found, "table": told(claims_table([found]))} for found in body["findings"]],
        tables=[told(main_table(body, one)) for one in body["tables"]]
        + [told(table_6(body)), told(table_7(body))],
        near=told(nearness_table(body)),
        drawn=[
            (
                body["tasks"].get(task, task),
                both_widths(partial(trade_off, body, task)),
            )
            for task in tasks
        ],
        spread=told(spread_view(body["runs"])),
        ablations=[told(ablation_table(one)) for one in body["ablations"] if one["rows"]],
    )

"""The page of compression studies: their dictionary into one self-contained HTML file, pictures inside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.report import page
from evenhand.report.claims_words import in_brief
from evenhand.report.compression_figures import for_page
from evenhand.report.compression_paid import page_tables
from evenhand.report.compression_sheets import UNSHOWN, sheet_tiles
from evenhand.report.compression_tables import (
    anew_table,
    beside_table,
    claims_table,
    noise_table,
    runs_view,
    square_table,
    table_1,
)
from evenhand.report.compression_words import HOW, RULE, begun_otherwise, opening, sentences
from evenhand.report.emphasis import emphasised
from evenhand.report.paper_page import told_table as told
from evenhand.report.paper_warning import warned

Json = Mapping[str, Any]


def render(body: Json) -> str:
    """The HTML page; unfinished stores give what they have."""
    several = len(body["studies"]) > 1
    return page.render(
        "compression.html.j2",
        pictures=True,
        paper=body,
        title=body["title"],
        state=[emphasised(told) for told in opening(body["studies"])],
        unfinished=" ".join(filter(None, [warned(body["studies"]), *map(begun_otherwise, body["studies"])])),
        sentences=in_brief(body) if several else sentences(body["studies"][0]),
        beside=told(beside_table(body)) if several else None,
        rule=RULE,
        how=HOW,
        studies=[_study(study) for study in body["studies"]],
    )


def _study(study: Json) -> dict[str, Any]:
    """One study as the template takes it."""
    every = [(problem, sheet) for problem in study["problems"] for sheet in problem["sheets"]]
    sheets = [(problem, sheet) for problem, sheet in every if sheet["png"]]
    problems = [(problem, level) for problem in study["problems"] for level in problem["levels"]]
    return {
        "name": study["name"], "about": study["title"], "sentences": sentences(study),
        "findings": [{**found, "table": told(claims_table([found]))}
                     for found in (*study["findings"], *study["questions"])],
        "tables": [told(table_1(study, *at)) for at in problems], "figures": for_page(study),
        "paid": [told(table) for at in problems for table in page_tables(study, *at)],
        "sheets": [sheet_tiles(study, one, sheet, number) for number, (one, sheet) in enumerate(sheets)],
        "unshown": UNSHOWN.replace("`", "") if len(sheets) < len(every) else "",
        "runs": [told(runs_view(study, problem)) for problem in study["problems"]],
        "anew": told(anew_table(study)), "noise": told(noise_table(study)),
        "square": told(square_table(study)),
    }  # fmt: skip

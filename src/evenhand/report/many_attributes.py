"""The page of S1's studies in the paper's shape: their dictionary into one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from evenhand.report import page
from evenhand.report.claims_words import in_brief
from evenhand.report.figures.canvas import both_widths
from evenhand.report.many_attributes_added import (
    added_pictures,
    added_table,
    beside_added_table,
    beside_pictures,
    over_all,
    shared,
)
from evenhand.report.many_attributes_beside import beside_ranks_table, beside_verdicts, paper_tables
from evenhand.report.many_attributes_figures import both, full_title, ranks
from evenhand.report.many_attributes_names import inside, rank_title
from evenhand.report.many_attributes_tables import (
    claims_table,
    explained_table,
    methods_table,
    ranks_table,
)
from evenhand.report.many_attributes_words import RULE, margins, sentences, state, unfinished
from evenhand.report.paper_page import told_table as told
from evenhand.report.spread_table import spread_view
from evenhand.report.study_tables import Table

Json = Mapping[str, Any]
Picture = tuple[str, Callable[..., str]]
FIRST_SHOWN = (2, 3)  # figures that are open at once


def render(body: Json) -> str:
    """The HTML page; unfinished stores give what they have."""
    several = len(body["studies"]) > 1
    return page.render(
        "many_attributes.html.j2",
        paper=body,
        title=body["title"],
        states=[state(study) for study in body["studies"]],
        unfinished=" ".join(filter(None, (unfinished(study) for study in body["studies"]))),
        sentences=in_brief(body) if several else sentences(body["studies"][0]),
        rule=f"{RULE} {margins(body)}",
        beside=[told(beside_verdicts(body)), told(beside_ranks_table(body))] if several else [],
        together=_added([beside_added_table(body)] if shared(body) else [], beside_pictures(body)),
        studies=[_study(study, place, several) for place, study in enumerate(body["studies"])],
    )


def _study(study: Json, place: int, several: bool) -> dict[str, Any]:
    """One study as the template takes it; all numbers of a figure are in a table beside the page."""
    tables = f"paper/{inside(study, several)}tables"
    first = study["ranks"][0]["scope"] if study["ranks"] else ""
    return {
        "id": f"study-{place}", "name": study["name"], "about": study["about"],
        "sentences": sentences(study) if several else [],
        "findings": [{**found, "table": told(claims_table([found]))} for found in study["findings"]],
        "methods": told(methods_table(study)), "ranks": told(ranks_table(study)),
        "explained": told(explained_table(study)),
        "added": _added([added_table(study)] if over_all(study) else [], added_pictures(study)),
        "spread": told(spread_view(study["runs"])), "spread_numbers": f"{tables}/runs.csv",
        "printed": [told(one) for one in paper_tables(study).values()],
        "diagrams": [{"title": rank_title(study, row), "drawn": both_widths(partial(ranks, study, row)),
                      "open": row["scope"] == first} for row in study["ranks"]],
        "figures": [{"title": full_title(one), "drawn": both(study, one),
                     "numbers": f"{tables}/{one['file']}.csv", "open": one["number"] in FIRST_SHOWN}
                    for one in study["figures"]],
    }  # fmt: skip


def _added(found: Sequence[Table], pictures: Mapping[str, Picture]) -> dict[str, Any]:
    """What variants add as the template takes it; nothing where there are none."""
    return {
        "tables": [told(one) for one in found],
        "figures": [{"title": title, "drawn": both_widths(draw)} for title, draw in pictures.values()],
    }

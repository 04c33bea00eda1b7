"""What a page of studies in the shape of S0 says before its tables: what was run, on whose data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.report.fixed_seed_brief import in_brief
from evenhand.report.fixed_seed_origin import origin_sentence
from evenhand.report.fixed_seed_sets import sets_of
from evenhand.report.fixed_seed_words import sentences, state
from evenhand.report.paper_warning import UNJUDGED
from evenhand.report.study_tables import Table

Json = Mapping[str, Any]
PAPER = (
    "S0: “Are My Deep Learning Systems Fair? An Empirical Study of Fixed-Seed Training” trains 27 techniques "
    "16 times each with one seed, and asks how far the bias of the result moves and what mitigation costs."
)
HOW = (
    "MaxDiff is the largest less the smallest run, STDEV the deviation of the population; the widest class "
    "is the one whose MaxDiff is the largest.",
    "Two tests of a change stand side by side: S0's (Mann-Whitney, its side chosen after the means are "
    "known, each at 5 %), and the proper one (two-sided, Holm over all comparisons of the set). Variation: "
    "Levene's test of values relative to their mean.",
    "Where both sides are constant no test is made; a difference of two constants is known, and how it would "
    "vary is not.",
    "Costs are those of S0's Figure 3 with its slip corrected (both sides relative to their mean). A "
    "technique with a cross lowers none of the seven metrics.",
)


def about(body: Json) -> list[str]:
    """The first paragraphs: what was run and whose data it is, then the paper; of several their number."""
    studies = body["studies"]
    if len(studies) > 1:
        return [f"{len(studies)} studies, told one by one below.", PAPER]
    origin = {
        f"{place} {name}": row
        for place, one in enumerate(studies[0]["sets"])
        for name, row in one["origin"].items()
    }
    return [f"{studies[0]['title']}. {state(studies[0])} {origin_sentence({'origin': origin})}", PAPER]


def findings(body: Json) -> list[str]:
    """What the sets of a study show, each under its name if it has several; of several studies in brief."""
    if any(study["small"] for study in body["studies"]):
        return [UNJUDGED]
    if len(body["studies"]) > 1:
        return in_brief(body)
    found = []
    for title, _, one in sets_of(body):
        first, *others = sentences(one)
        found += [f"**{title}**: {first}" if title else first, *others]
    return found


def answers_table(body: Json) -> Table:
    """What the runs say to the paper's claims, with the rules that were written before them."""
    rows = tuple(
        (
            claim,
            found["verdict"],
            found.get("effect", ""),
            found.get("runs", ""),
            body["rules"].get(claim, ""),
        )
        for claim, found in (body.get("answers") or {}).items()
    )
    heads = ("Claim", "Verdict", "What was found", "Runs", "Rule, written before the runs")
    return Table("Claims of S0", heads, rows)

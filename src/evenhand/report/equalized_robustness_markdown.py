"""S4's study as Markdown: what stands between the markers of its page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.report.claims_words import parts_of
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
from evenhand.report.study_table_files import to_markdown

Json = Mapping[str, Any]
RULE = (
    "A claim is split into parts that runs can decide: differences split by split (a seed is a split; both "
    "sides have the same), their mean, and Student's interval over splits; the intervals of one claim hold "
    "together at 95 % (Bonferroni). A claim holds if all its parts do, and does not if one does not. Little, "
    "hardly and close mean less than 0.02. These rules were written before the study was run."
)


def results_markdown(body: Json, figures: Mapping[str, str], table: str) -> str:
    """Sentences, targets, claims, the paper's tables and its figure, ablations; `figures` are links."""
    warned = [f"**{unfinished(body)}**"] if unfinished(body) else []
    parts = [state(body), *warned, "\n".join(f"- {sentence}" for sentence in sentences(body))]
    parts += ["### Targets", to_markdown(checks_table(body)), "### The paper's claims", RULE]
    parts += [_finding(found) for found in body["findings"]]
    parts += ["### The paper's tables", f"All digits: [{table.rsplit('/', 1)[-1]}]({table})."]
    for one in body["tables"]:
        made = main_table(body, one)
        parts += [f"**{made.title}**", to_markdown(made)]
    for made in (table_6(body), table_7(body)):
        parts += [f"**{made.title}**", to_markdown(made)]
    parts += ["### How near ours come", to_markdown(nearness_table(body)), "### Figure 3"]
    parts += [f"![Accuracy against ΔEO, {name}]({link})" for name, link in figures.items()]
    parts.append("### What the paper leaves open")
    for one in body["ablations"]:
        parts += [f"**{one['title']}**", to_markdown(ablation_table(one))] if one["rows"] else []
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


def _finding(found: Json) -> str:
    """A claim, its verdict and, to be opened, its parts."""
    note = f" {found['note']}" if found["note"] else ""
    head = f"**{found['id']}: {found['verdict']}.** {found['claim']}"
    return (
        f"{head}\n\n<details><summary>{parts_of(found, 'run')}</summary>\n\n"
        f"Asked: {found['rule']}{note}\n\n{to_markdown(claims_table([found]))}\n</details>"
    )

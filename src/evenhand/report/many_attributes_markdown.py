"""S1's studies as Markdown: what stands between the markers of a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from evenhand.report.claims_words import parts_of
from evenhand.report.many_attributes_added import (
    FOLDER,
    TITLE,
    Pictures,
    added_pictures,
    added_table,
    beside_added_table,
    beside_pictures,
    over_all,
    shared,
)
from evenhand.report.many_attributes_beside import beside_ranks_table, beside_verdicts, paper_tables
from evenhand.report.many_attributes_figures import full_title, rank_file, told
from evenhand.report.many_attributes_names import rank_title
from evenhand.report.many_attributes_tables import (
    claims_table,
    explained_table,
    methods_table,
    ranks_table,
)
from evenhand.report.many_attributes_words import RULE, margins, sentences, state, unfinished
from evenhand.report.study_table_files import to_markdown

Json = Mapping[str, Any]
Link = Callable[[Json, str], str]  # (study, name of a file with its ending) -> how the page names it
SHOWN = (2, 3, 4, 10)  # figures that the page shows; those by collection are linked


def results_markdown(body: Json, link: Link) -> str:
    """All studies: side by side first where there are several, then each by itself."""
    several = len(body["studies"]) > 1
    parts = _side_by_side(body, link) if several else []
    parts += ["### How claims are judged", RULE, margins(body)]
    for study in body["studies"]:
        parts += study_parts(study, link, several)
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


def _side_by_side(body: Json, link: Link) -> list[str]:
    """Verdicts, ranks, and what variants add, of all studies."""
    joint = {"name": FOLDER}
    numbers = f"[The number that decides each]({link(joint, 'side-by-side.csv')})."
    parts = ["### Side by side", to_markdown(beside_verdicts(body)), numbers]
    parts += [_folded("Mean ranks of every method in every study", to_markdown(beside_ranks_table(body)))]
    if shared(body):
        table = _folded("The same in numbers", to_markdown(beside_added_table(body)))
        parts += [f"#### {TITLE}, study by study", *_shown(joint, beside_pictures(body), link), table]
    return parts


def study_parts(study: Json, link: Link, several: bool) -> list[str]:
    """One study; what fewer readers want is folded."""
    warned = [f"**{unfinished(study)}**"] if unfinished(study) else []
    title = f"### {study['name']}" if several else "### What the runs say"
    parts = [title, state(study), *warned, "\n".join(f"- {sentence}" for sentence in sentences(study))]
    parts += ["#### The paper's claims", *(_finding(found) for found in study["findings"])]
    parts += ["#### Methods over all structures", to_markdown(methods_table(study))]
    parts += [_folded(table.title, to_markdown(table)) for table in paper_tables(study).values()]
    if over_all(study):
        pictures = _shown(study, added_pictures(study), link)
        parts += [f"#### {TITLE}", to_markdown(added_table(study)), _folded("Pictures", *pictures)]
    if study["ranks"]:
        scopes = [row for row in study["ranks"] if row["scope"] == study["ranks"][0]["scope"]]
        diagrams = [f"![{rank_title(study, row)}]({link(study, rank_file(row) + '.svg')})" for row in scopes]
        parts += ["#### Ranks", *diagrams, _folded("Ranks in numbers", to_markdown(ranks_table(study)))]
    if study["explained"]:
        parts += ["#### What explains a method's result", to_markdown(explained_table(study))]
    return [*parts, "#### The paper's figures", _folded("All figures", *_figures(study, link))]


def _shown(study: Json, pictures: Pictures, link: Link) -> list[str]:
    return [f"![{title}]({link(study, file + '.svg')})" for file, (title, _) in pictures.items()]


def _folded(summary: str, *parts: str) -> str:
    """What a reader opens."""
    inside = "\n\n".join(part.rstrip() for part in parts)
    return f"<details><summary>{summary}</summary>\n\n{inside}\n\n</details>"


def _figures(study: Json, link: Link) -> list[str]:
    """Those of the paper's text with their pictures, the others as links; each with its table."""
    parts, linked = [], []
    for one in study["figures"]:
        picture, table = (link(study, f"{one['file']}.{ending}") for ending in ("svg", "csv"))
        if one["number"] in SHOWN:
            name = full_title(one)
            seen = f"![{name}. {told(one).split('. ')[0]}]({picture})"
            parts.append(f"**{name}** ([numbers]({table}))\n\n{seen}")
        else:
            linked.append(f"- [{full_title(one)}]({picture}) ([numbers]({table}))")
    return [*parts, "\n".join(linked)] if linked else parts


def _finding(found: Json) -> str:
    """A claim, its verdict and, to be opened, its parts."""
    note = f" {found['note']}" if found["note"] else ""
    return (
        f"**{found['id']}: {found['verdict']}.** {found['claim']}\n\n"
        f"<details><summary>{parts_of(found, 'training')}</summary>\n\n"
        f"Asked: {found['rule']}{note}\n\n{to_markdown(claims_table([found]))}\n</details>"
    )

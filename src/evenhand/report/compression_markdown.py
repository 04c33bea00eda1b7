"""Compression studies as Markdown: what stands between the markers of a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from evenhand.report.claims_words import parts_of
from evenhand.report.compression_figures import apart_title, drawn_apart, title_of
from evenhand.report.compression_names import file_of, where
from evenhand.report.compression_paid import page_tables
from evenhand.report.compression_sheets import UNSHOWN
from evenhand.report.compression_tables import (
    anew_table,
    beside_table,
    claims_table,
    noise_table,
    runs_view,
    square_table,
    table_1,
)
from evenhand.report.compression_words import HOW, RULE, begun_otherwise, sentences, state
from evenhand.report.model_card import escaped
from evenhand.report.paper_warning import unfinished
from evenhand.report.spread_table import to_be_opened
from evenhand.report.study_table_files import to_markdown

Json = Mapping[str, Any]
Link = Callable[[Json, str], str]  # (study, name of a file with its ending) -> how the page names it


def results_markdown(body: Json, link: Link) -> str:
    """All studies, one after the other."""
    parts = ["### How it is measured and judged", HOW, RULE]
    if len(body["studies"]) > 1:
        parts += ["### What each study says", to_markdown(beside_table(body))]
    for study in body["studies"]:
        parts += study_parts(study, link)
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


def study_parts(study: Json, link: Link) -> list[str]:
    """One study: findings, claims, Table 1 and Figure 2, who paid, exemplars, noise."""
    warned = [f"**{words}**" for words in (unfinished(study), begun_otherwise(study)) if words]
    parts = [f"### {study['name']}", f"{escaped(study['title'])}. {state(study)}", *warned]
    parts.append("\n".join(f"- {escaped(sentence)}" for sentence in sentences(study)))
    parts += ["#### The paper's claims", *(_finding(found) for found in study["findings"])]
    parts += ["#### Our own questions", *(_finding(found) for found in study["questions"])]
    for problem in study["problems"]:
        parts += _problem(study, problem, link)
    parts += ["#### How noisy over seeds", to_markdown(noise_table(study))]
    if anew_table(study).rows:
        parts += ["#### Beside training anew", to_markdown(anew_table(study))]
    return [*parts, "#### CEV and SDE", to_markdown(square_table(study))]


def _problem(study: Json, problem: Json, link: Link) -> list[str]:
    parts = []
    for level in problem["levels"]:
        title = title_of(study, problem, level)
        picture = link(study, f"{file_of(study, problem, 'figure-2', level)}.svg")
        parts += [f"#### {table_1(study, problem, level).title}", to_markdown(table_1(study, problem, level)),
                  f"![{title}]({picture})"]  # fmt: skip
        if drawn_apart(problem, level):
            apart = link(study, f"{file_of(study, problem, 'figure-2-apart', level)}.svg")
            parts.append(f"![{apart_title(study, problem, level)}]({apart})")
    every = link(study, f"{file_of(study, problem, 'runs')}.csv")
    parts += [to_be_opened(runs_view(study, problem)), f"With all digits, and intervals: [runs]({every})."]
    parts.append(f"#### Who paid{where(study, problem)}")
    for level in problem["levels"]:
        for table in page_tables(study, problem, level):
            parts += [f"##### {escaped(table.title)}", to_markdown(table)]
    files = ", ".join(
        f"[{words}]({link(study, file_of(study, problem, 'who-paid', kind) + '.csv')})"
        for kind, words in (("classes", "classes"), ("groups", "groups"), ("cells", "classes within groups"))
    )
    return [*parts, f"All methods: {files}.", *_exemplars(study, problem, link)]


def _exemplars(study: Json, problem: Json, link: Link) -> list[str]:
    """The sheets, each with the labels of its pictures, row by row."""
    table = link(study, f"{file_of(study, problem, 'exemplars')}.csv")
    parts = [
        f"#### Exemplars{where(study, problem)}",
        f"Every row whose modal label changed: [list]({table}).",
    ]
    for sheet in problem["sheets"]:
        name = sheet_file(study, problem, sheet)
        number = f"{len(sheet['rows'])} of {sheet['count']:,} exemplars"
        told = f"{number} of {sheet['method']} {sheet['level']}".strip()
        shown = f"![{escaped(told)}]({link(study, name)})" if sheet["png"] else f"{escaped(told)}. {UNSHOWN}"
        parts += [shown, _labels(sheet)]
    return parts


def _labels(sheet: Json) -> str:
    """Class, then the modal labels of base and compressed models, in the order of the sheet."""
    each = [escaped(f"{row['truth']}: {row['base']} → {row['compressed']}") for row in sheet["rows"]]
    step = sheet["columns"]
    lines = ["; ".join(each[first : first + step]) for first in range(0, len(each), step)]
    numbered = "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1))
    return f"Class: base → compressed, line by line of the sheet.\n\n{numbered}"


def sheet_file(study: Json, problem: Json, sheet: Json) -> str:
    """The name of the file of a sheet."""
    return f"{file_of(study, problem, 'exemplars', sheet['method'], sheet['level'])}.png"


def _finding(found: Json) -> str:
    """A claim, its verdict and, to be opened, its parts."""
    note = f" {found['note']}" if found["note"] else ""
    return (
        f"**{found['id']}: {found['verdict']}.** {found['claim']}\n\n"
        f"<details><summary>{parts_of(found, 'training')}</summary>\n\n"
        f"Asked: {found['rule']}{note}\n\n{to_markdown(claims_table([found]))}\n</details>"
    )

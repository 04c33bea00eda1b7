"""Studies in the shape of S0 as Markdown: what stands between the markers of a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from evenhand.report import fixed_seed_tables as tables
from evenhand.report.fixed_seed_benchmark import benchmark_markdown
from evenhand.report.fixed_seed_brief import brief_table
from evenhand.report.fixed_seed_figures import TITLES, drawn
from evenhand.report.fixed_seed_origin import origin_sentence, ours
from evenhand.report.fixed_seed_overview import overview_sentence, overview_table
from evenhand.report.fixed_seed_ratio import median_table, of_ratios, ratio_table
from evenhand.report.fixed_seed_sets import sets_of
from evenhand.report.fixed_seed_words import notes, sentences, state
from evenhand.report.replay_words import METRIC_NAMES
from evenhand.report.study_table_files import to_markdown
from evenhand.report.study_tables import Table

Json = Mapping[str, Any]
Link = Callable[[Json, Json, str], str]  # (study, set, name of a file) -> how the page names it


def results_markdown(body: Json, link: Link) -> str:
    """All studies, then what they say to each other, and deterministic mode."""
    parts = ["### In brief", _table(brief_table(body))] if len(sets_of(body)) > 1 else []
    parts += ["### All techniques", overview_sentence(body), _table(overview_table(body))]
    for study in body["studies"]:
        parts += [f"### {study['name']}", state(study)]
        for one in study["sets"]:
            parts += set_parts(study, one, link)
    parts += ["### One seed beside several", of_ratios(body)]
    if body["ratios"]:
        parts.append(_table(median_table(body["median_ratios"])))
    moving = [row for row in body["ratios"] if row["ratio"]]  # a table of zeros is in the file alone
    if moving:
        parts.append(_folded("Technique by technique", ratio_table(moving)))
    parts += benchmark_markdown(body["benchmark"])
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


def set_parts(study: Json, one: Json, link: Link) -> list[str]:
    """One set of techniques."""
    parts = [f"#### {one['name']}"] if one["name"] else []
    parts += [origin_sentence(one), _list(notes(study, one)), _list(sentences(one))]
    parts += [f"#### Table 4 in shape: {ours(one)}",
              _table(tables.spread_table(one, "di")), _picture(study, one, link, "runs")]  # fmt: skip
    parts += [
        _folded(f"The same for {METRIC_NAMES[metric]}", tables.spread_table(one, metric))
        for metric in METRIC_NAMES
        if metric != "di"
    ]
    parts += ["#### Means", _table(tables.means_table(one))]
    if one["tests"]:
        numbers = f"All numbers of the tests: [tests.csv]({link(study, one, 'tests.csv')})."
        parts += ["#### Against the baseline", _table(tables.changes_table(one)),
                  _table(tables.spreads_table(one)), numbers]  # fmt: skip
    if one["cost"]:
        parts += ["#### What it costs", _picture(study, one, link, "cost"), _table(tables.cost_table(one))]
        parts += [_picture(study, one, link, "venn"), _folded("The counts", tables.venn_table(one))]
    parts += ["#### What varies", _table(tables.varying_table(one))]
    if one["best"]:
        parts += [f"#### Is {one['best'][0]['technique']} the best?", _table(tables.best_table(one))]
    return [part for part in parts if part]


def files_of(one: Json) -> dict[str, Table]:
    """The tables of a set that are written as files, by name."""
    found = {f"spread-{metric}": tables.spread_columns(one, metric) for metric in METRIC_NAMES}
    found |= {
        "means": tables.means_table(one), "tests": tables.numbers_of_tests(one),
        "cost": tables.cost_table(one), "venn": tables.venn_table(one),
        "varying": tables.varying_table(one), "best": tables.best_table(one),
    }  # fmt: skip
    return {name: table for name, table in found.items() if table.rows}


def _picture(study: Json, one: Json, link: Link, name: str) -> str:
    there = name in drawn(one)
    return f"![{TITLES[name]}]({link(study, one, f'{name}.svg')})" if there else ""


def _list(lines: list[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _table(table: Table) -> str:
    return to_markdown(table).rstrip()


def _folded(summary: str, table: Table) -> str:
    return f"<details><summary>{summary}</summary>\n\n{_table(table)}\n\n</details>"

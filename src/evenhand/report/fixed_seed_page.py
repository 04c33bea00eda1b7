"""Studies in the shape of S0 as one self-contained HTML page: the parts of the Markdown page, by subject."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from evenhand.report import fixed_seed_tables as tables
from evenhand.report import paper_page as made
from evenhand.report.fixed_seed_about import HOW, about, answers_table, findings
from evenhand.report.fixed_seed_benchmark import benchmark_tables, measured_on
from evenhand.report.fixed_seed_brief import brief_table
from evenhand.report.fixed_seed_figures import TITLES, drawers
from evenhand.report.fixed_seed_origin import origin_sentence
from evenhand.report.fixed_seed_overview import overview_sentence, overview_table
from evenhand.report.fixed_seed_ratio import median_table, of_ratios, ratio_table
from evenhand.report.fixed_seed_sets import sets_of
from evenhand.report.fixed_seed_words import notes, sentences, state
from evenhand.report.paper_page import Head, Part, Section
from evenhand.report.paper_warning import warned
from evenhand.report.replay_words import METRIC_NAMES

Json = Mapping[str, Any]
Parts = list[Part]


def render(body: Json) -> str:
    """The HTML page; unfinished studies give what they have."""
    first = body["studies"][0]
    head = Head(
        first["name"] if len(body["studies"]) == 1 else body["kind"], body["title"], about(body),
        findings(body), warned(body["studies"]), first["evenhand"], first["created"],
    )  # fmt: skip
    return made.render(head, sections(body))


def sections(body: Json) -> list[Section]:
    """The subjects of the page; those of which nothing is known have no parts."""
    return [
        Section("brief", "In brief", _brief(body)),
        Section("table-4", "Table 4 in shape", _each(body, _variation)),
        Section("means", "Means", _each(body, lambda study, one: made.table(tables.means_table(one)))),
        Section("baseline", "Against the baseline", _each(body, _against)),
        Section("cost", "What it costs", _each(body, _cost)),
        Section(
            "varies", "What varies", _each(body, lambda study, one: made.table(tables.varying_table(one)))
        ),
        Section("best", "Which is best", _each(body, _best)),
        Section("sets", "Set by set", _sets(body)),
        Section("all", "All techniques", _all(body)),
        Section("seeds", "One seed beside several", _ratios(body) if len(body["studies"]) > 1 else []),
        Section("deterministic", "Deterministic mode", _benchmark(body["benchmark"])),
        Section("claims", "The paper's claims", _claims(body)),
        Section("method", "How to read it", [*made.items(HOW), *_each(body, _notes)]),
    ]


def _each(body: Json, tell: Callable[[Json, Json], Parts]) -> Parts:
    """The parts of every set, under its name where there are several."""
    found = []
    for title, study, one in sets_of(body):
        parts = tell(study, one)
        found += [*made.heading(title), *parts] if parts else []
    return found


def _brief(body: Json) -> Parts:
    """A row for each set; a single one is told by the sentences above."""
    return made.table(brief_table(body)) if len(sets_of(body)) > 1 else []


def _sets(body: Json) -> Parts:
    """Whose data each set is of; of several studies also how it was made, and what it shows."""
    if len(sets_of(body)) == 1:
        return []  # the page begins with that
    if len(body["studies"]) == 1:
        return _each(body, lambda study, one: [made.words(origin_sentence(one))])
    return _each(
        body,
        lambda study, one: [made.words(f"{study['title']}. {state(study)}"), made.words(origin_sentence(one)),
                            *made.items(sentences(one))],
    )  # fmt: skip


def _variation(study: Json, one: Json) -> Parts:
    others = [metric for metric in METRIC_NAMES if metric != "di"]
    return [
        *made.table(tables.spread_table(one, "di")),
        made.figure(TITLES["runs"], drawers(one)["runs"]),
        *(part for metric in others
          for part in made.folded(f"The same for {METRIC_NAMES[metric]}", tables.spread_table(one, metric))),
    ]  # fmt: skip


def _against(study: Json, one: Json) -> Parts:
    if not one["tests"]:
        return []
    every = (tables.changes_table(one), tables.spreads_table(one))
    shown = [part for table in every for part in made.table(table, title=table.title)]
    return [*shown, *made.folded("All numbers of the tests", tables.numbers_of_tests(one))]


def _cost(study: Json, one: Json) -> Parts:
    draw = drawers(one)
    if "cost" not in draw:
        return []
    parts = [made.figure(TITLES["cost"], draw["cost"]), *made.table(tables.cost_table(one))]
    if "venn" in draw:
        parts += [made.figure(TITLES["venn"], draw["venn"])]
        parts += made.folded("The counts", tables.venn_table(one))
    return parts


def _best(study: Json, one: Json) -> Parts:
    return (
        made.table(tables.best_table(one), title=f"Is {one['best'][0]['technique']}?") if one["best"] else []
    )


def _all(body: Json) -> Parts:
    several = len(body["studies"]) > 1  # of one study it goes without saying that it has not all
    return [*([made.words(overview_sentence(body))] if several else []), *made.table(overview_table(body))]


def _ratios(body: Json) -> Parts:
    moving = [row for row in body["ratios"] if row["ratio"]]
    middle = made.table(median_table(body["median_ratios"]))
    return [made.words(of_ratios(body)), *middle, *made.folded("Technique by technique", ratio_table(moving))]


def _benchmark(body: Json | None) -> Parts:
    if not body:
        return []
    every = [part for one in benchmark_tables(body) for part in made.table(one, title=one.title)]
    return [made.words(measured_on(body)), *every]


def _claims(body: Json) -> Parts:
    return made.table(answers_table(body))


def _notes(study: Json, one: Json) -> Parts:
    return made.items(notes(study, one))

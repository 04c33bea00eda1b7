"""A study beside its public values as Markdown: what stands between the markers of its page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.report.reference_values_tables import (
    farthest_table,
    nearness_table,
    question_table,
    ranks_table,
    values_table,
)
from evenhand.report.reference_values_words import sentences, state, tally, unfinished
from evenhand.report.study_table_files import to_markdown
from evenhand.report.study_tables import Table

Json = Mapping[str, Any]
RULE = (
    "Fairness is the mean of DP, EqOpp0, EqOpp1 and EqOdd; LAFTR is the mean of its four variants. A "
    "difference is taken seed by seed, with Student's 95 % interval; nothing is corrected for the number of "
    "questions. Where the public effect is more than 0.02, ours is “as in public” if its whole interval has "
    "the same sign; where it is not, if our interval lies within ±0.02."
)


def results_markdown(body: Json, figure: str, table: str) -> str:
    """Sentences, the figure, how near, the order of the models, where they differ, every value."""
    said = "\n".join(f"- {sentence}" for sentence in sentences(body))
    warned = [f"**{unfinished(body)}**"] if unfinished(body) else []
    parts = [
        state(body), *warned, said, f"![Public values and ours]({figure})",
        "### How near ours come", to_markdown(nearness_table(body)),
        "### The order of the models", to_markdown(ranks_table(body)), RULE,
    ]  # fmt: skip
    for question in body["questions"]:
        parts += [f"**{question['words']}** {tally(question)}", to_markdown(question_table(question))]
    parts += ["### Where they differ most", to_markdown(farthest_table(body))]
    parts += ["### Every value", f"All columns as CSV: [{table.rsplit('/', 1)[-1]}]({table})."]
    parts += [_folded(body, task, grouping) for task, grouping in _problems(body)]
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


def _problems(body: Json) -> list[tuple[str, str]]:
    return list(dict.fromkeys((row["task"], row["grouping"]) for row in body["rows"]))


def _folded(body: Json, task: str, grouping: str) -> str:
    """The values of one problem, to be opened."""
    rows = [row for row in body["rows"] if (row["task"], row["grouping"]) == (task, grouping)]
    whole = values_table(rows)
    # the problem is in the head, and both studies have one network
    short = Table(whole.title, whole.heads[3:], tuple(row[3:] for row in whole.rows))
    return f"<details><summary>{task}, by {grouping}</summary>\n\n{to_markdown(short)}\n</details>"

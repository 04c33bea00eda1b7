"""Claims a row each, studies a column each: what a reader of several studies takes in at a glance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evenhand.report.numbers import UNDEFINED
from evenhand.report.study_tables import Table

Answer = Mapping[str, Any] | None  # a finding, or nothing where the study was not asked
TITLE = "What each study says to each claim"
HEADS = ("Claim", "In words")
NOTE = "Verdict (trainings); –: not asked. Studies are judged apart."


def verdicts_table(studies: Sequence[str], claims: Iterable[tuple[str, str, Sequence[Answer]]]) -> Table:
    """The verdict of each study on each claim: `claims` are (id, its words, an answer of each study).

    >>> found = {"verdict": "holds", "runs": 1200}
    >>> verdicts_table(["one", "two"], [("S2.1", "It is so.", [found, None])]).rows
    (('S2.1', 'It is so.', 'holds (1,200)', '–'),)
    """
    rows = tuple((name, words, *map(_verdict, answers)) for name, words, answers in claims)
    return Table(TITLE, (*HEADS, *studies), rows, NOTE)


def _verdict(found: Answer) -> str:
    return UNDEFINED if found is None else f"{found['verdict']} ({found['runs']:,})"

"""Which claims of a paper hold, do not, and cannot be told, in a sentence that pages of studies share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.report.paper_warning import NOT_JUDGED

VERDICTS = {"holds": "Holds", "does not": "Does not hold", "cannot tell": "Cannot be told",
            NOT_JUDGED: "Not judged"}  # fmt: skip


def claims_by_verdict(body: Mapping[str, Any]) -> str:
    """The ids of a study's findings, by their verdict.

    >>> found = [{"id": "S1.1", "verdict": "holds"}, {"id": "S1.2", "verdict": "cannot tell"}]
    >>> claims_by_verdict({"findings": found})
    'Holds: S1.1. Cannot be told: S1.2.'
    """
    by = {word: [found["id"] for found in body["findings"] if found["verdict"] == word] for word in VERDICTS}
    return " ".join(f"{label}: {', '.join(by[word])}." for word, label in VERDICTS.items() if by[word])


def in_brief(body: Mapping[str, Any]) -> list[str]:
    """The findings of several studies: one sentence, then one for each; the rest stands with the study.

    >>> found = [{"id": "S1.7", "verdict": "holds"}]
    >>> studies = [{"name": name, "findings": found} for name in ("one", "two")]
    >>> in_brief({"studies": studies})[::2]
    ['2 studies were asked 1 claim of the paper, each what its runs can answer, and are judged apart.',
     'two: Holds: S1.7.']
    """
    studies = body["studies"]
    asked = len({found["id"] for study in studies for found in study["findings"]})
    lead = f"{many(len(studies), 'studies', '')} were asked {many(asked, 'claim')} of the paper, each what "
    return [f"{lead}its runs can answer, and are judged apart.",
            *(f"{study['name']}: {claims_by_verdict(study)}" for study in studies)]  # fmt: skip


def many(n: int, thing: str, ending: str = "s") -> str:
    """A number of things.

    >>> many(1, "seed"), many(1200, "seed")
    ('1 seed', '1,200 seeds')
    """
    return f"{n:,} {thing}{ending if n != 1 else ''}"


def parts_of(found: Mapping[str, Any], run: str) -> str:
    """How many parts the answer to a claim has, and of how many runs it is made.

    >>> parts_of({"parts": [{}], "runs": 1050}, "training")
    '1 part, 1,050 trainings'
    """
    return f"{many(len(found['parts']), 'part')}, {many(found['runs'], run)}"

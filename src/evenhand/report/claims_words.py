"""Which claims of a paper hold, do not, and cannot be told, in a sentence that pages of studies share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

VERDICTS = {"holds": "Holds", "does not": "Does not hold", "cannot tell": "Cannot be told"}


def claims_by_verdict(body: Mapping[str, Any]) -> str:
    """The ids of a study's findings, by their verdict.

    >>> found = [{"id": "S1.1", "verdict": "holds"}, {"id": "S1.2", "verdict": "cannot tell"}]
    >>> claims_by_verdict({"findings": found})
    'Holds: S1.1. Cannot be told: S1.2.'
    """
    by = {word: [found["id"] for found in body["findings"] if found["verdict"] == word] for word in VERDICTS}
    return " ".join(f"{label}: {', '.join(by[word])}." for word, label in VERDICTS.items() if by[word])

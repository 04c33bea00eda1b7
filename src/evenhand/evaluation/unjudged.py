"""Runs in small judge nothing: their page has a word in the place of every verdict."""

from __future__ import annotations

from typing import Any

from evenhand.report.paper_warning import NOT_JUDGED

Json = dict[str, Any]
JUDGED = ("verdict", "first_rule", "met")  # keys under which an answer by rule stands


def judged_if_whole(body: Json) -> Json:
    """The dictionary of a study as it is; of runs in small, with none of its answers.

    What was not asked for want of runs stays so.

    >>> found = {"findings": [{"id": "S2.1", "verdict": "does not", "parts": [{"verdict": None}]}]}
    >>> judged_if_whole({"small": True, **found})["findings"]
    [{'id': 'S2.1', 'verdict': 'not judged', 'parts': [{'verdict': None}]}]
    >>> judged_if_whole({"small": False, **found})["findings"] == found["findings"]
    True
    """
    if not body["small"]:
        return body
    unjudged: Json = _unjudged(body)
    return unjudged


def _unjudged(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: NOT_JUDGED if key in JUDGED and entry is not None else _unjudged(entry)
                for key, entry in value.items()}  # fmt: skip
    return [_unjudged(entry) for entry in value] if isinstance(value, list) else value

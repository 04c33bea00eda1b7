"""The short summary of a study in Markdown, as it is committed beside its runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.report.model_card import escaped
from evenhand.report.numbers import count
from evenhand.report.study import seconds
from evenhand.report.study_body import completed
from evenhand.report.study_table_files import to_markdown
from evenhand.report.study_tables import tables
from evenhand.report.study_words import study_sentences

Json = Mapping[str, Any]
SHOWN = ("leaders", "runs", "overall", "levelling", "cost", "budget", "failures")


def summary_markdown(study: Json) -> str:
    """Title, state, findings, and the tables that fit on a screen or two.

    >>> print(summary_markdown({"kind": "study", "name": "tiny", "state": {"planned": 4}}))
    # tiny
    <BLANKLINE>
    0 of 4 runs done.
    <BLANKLINE>
    - No run has finished yet: of 4 planned, 0 are done. Nothing can be told.
    <BLANKLINE>
    """
    body, made = completed(study), tables(study)
    parts = [f"# {escaped(body['title'] or body['name'])}"]
    parts += [escaped(body["about"])] if body["about"] else []
    parts += [_state(body), "\n".join(f"- {escaped(sentence)}" for sentence in study_sentences(body))]
    for name in SHOWN:
        if name in made:
            parts.append(f"## {made[name].title}\n\n{to_markdown(made[name]).rstrip()}")
    parts += [_method(body)] if _method(body) else []
    return "\n\n".join(parts) + "\n"


def _state(body: Json) -> str:
    state, spent = body["state"], body["budget"]["seconds"]
    told = f"{count(state['done'])} of {count(state['planned'])} runs done"
    told += f", {count(state['failed'])} failed" if state["failed"] else ""
    told += f"; {seconds(spent)} of training" if spent else ""
    version = f" evenhand {body['evenhand']}." if body["evenhand"] else ""
    return f"{told}.{version}"


def _method(body: Json) -> str:
    told = [body["selection"]["words"], body["tests"]["words"], body["budget"]["words"]]
    told += [f"{name} {version}" for name, version in body["environment"]["versions"].items()]
    told += body["notes"]
    lines = [f"- {escaped(str(line))}" for line in told if line]
    return "\n".join(["## How it was made", "", *lines]) if lines else ""

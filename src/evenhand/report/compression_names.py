"""What the parts of a compression study are called, in words and as files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Json = Mapping[str, Any]
# role of a method: how S2 prints it
PRINTED = {
    "pruning": "Pruning", "kd": "KD", "at": "AT", "pkt": "PKT", "sp": "SP", "fsp": "FSP", "at-kd": "AT + KD",
    "pkt-kd": "PKT + KD", "sp-kd": "SP + KD", "fsp-kd": "FSP + KD",
}  # fmt: skip
METRICS = {
    "accuracy": "Accuracy",
    "cev": "CEV",
    "sde": "SDE",
    "cev_norm": "CEV norm.",
    "sde_norm": "SDE norm.",
}


def slug(*words: str) -> str:
    """A name of a file.

    >>> slug("table-1", "45 %")
    'table-1-45'
    """
    text = "-".join(word for word in words if word).lower()
    kept = "".join(letter if letter.isalnum() or letter == "." else "-" for letter in text)
    return "-".join(part for part in kept.split("-") if part)


def file_of(study: Json, problem: Json, *words: str) -> str:
    """The name of a file that belongs to a problem; which one is said where the study has several."""
    return slug(*words, problem["name"]) if len(study["problems"]) > 1 else slug(*words)


def where(study: Json, problem: Json, level: str = "") -> str:
    """The level, and the problem where there are several.

    >>> where({"problems": [1]}, {"name": "mnist / mlp"}, "45 %")
    ' at 45 %'
    """
    told = f" at {level}" if level else ""
    return f"{told} ({problem['name']})" if len(study["problems"]) > 1 else told


def at_level(rows: Sequence[Json], level: str) -> list[Json]:
    """Those of a level."""
    return [row for row in rows if row["level"] == level]

"""Whose data the numbers of a set are of, ours and S0's, in a sentence, under a table and over a column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Json = Mapping[str, Any]
STAND_IN = "a stand-in, **no replication**: read S0's numbers for the order of techniques alone"


def ours(one: Json) -> str:
    """The data that a set was trained on here.

    >>> ours({"origin": {"S-Base": {"data": "Adult"}, "S-RS": {"data": "Adult"}}})
    'Adult'
    """
    return _different(one, "data")


def theirs(one: Json) -> str:
    """The data that S0 trained the same techniques on."""
    return _different(one, "paper")


def same_data(one: Json) -> bool:
    """Whether all of a set was trained on S0's own data."""
    return all(row["own_data"] for row in one["origin"].values())


def origin_sentence(one: Json) -> str:
    """What was trained here on what, what S0 trained, and what that makes of a comparison."""
    epochs = " or ".join(dict.fromkeys(str(row["epochs"]) for row in one["origin"].values()))
    here = f"**Ours: {ours(one)}**, network {_different(one, 'net')}, {epochs} epochs."
    paper = f"S0's: {theirs(one)}, {_different(one, 'paper_net')}, 16 runs of one seed."
    verdict = "S0's data with another budget." if same_data(one) else f"Other data and networks: {STAND_IN}."
    return f"{here} {paper} {verdict}"


def beside(one: Json) -> str:
    """The same in short, under every table.

    >>> row = {"data": "Adult", "paper": "CelebA", "own_data": False}
    >>> beside({"origin": {"A-Base": row}})
    'Ours: Adult; S0: CelebA, so no replication.'
    """
    return f"Ours: {ours(one)}; S0: {theirs(one)}{'' if same_data(one) else ', so no replication'}."


def _different(one: Json, key: str) -> str:
    return " and ".join(dict.fromkeys(row[key] for row in one["origin"].values()))

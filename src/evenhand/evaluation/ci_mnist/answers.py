"""What the study says to S3's claims, as columns of the claims file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.evaluation.ci_mnist.layout import NAME

Json = Mapping[str, Any]
COMMAND = f"evenhand study run {NAME}"
MOST = 3  # parts of a claim that a row of the table has room for


def answers(body: Json) -> dict[str, dict[str, str]]:
    """Columns by claim, for every claim of which some part could be measured."""
    return {found["id"]: _answer(found) for found in body["findings"] if _measured(found["parts"])}


def _measured(parts: Sequence[Json]) -> list[Json]:
    return [part for part in parts if part["effect"] is not None]


def _answer(found: Json) -> dict[str, str]:
    shown = deciding(found)
    left = len(found["parts"]) - len(shown)
    counts = [sum(part["verdict"] == word for part in found["parts"]) for word in ("holds", "does not")]
    parts = len(found["parts"])
    tally = f"Of {parts} parts {counts[0]} hold and {counts[1]} do not." if parts > 1 else ""
    return {
        "verdict": found["verdict"],
        "effect": "; ".join(f"{part['words']}: {_number(part['effect'], part['unit'])}" for part in shown)
        + (f" ({left} more parts)" if left else ""),
        "interval": "; ".join(_interval(part) for part in shown),
        "runs": str(found["runs"]), "study": NAME, "command": COMMAND,
        "note": " ".join(filter(None, (tally, found["note"]))),
    }  # fmt: skip


def deciding(found: Json) -> list[Json]:
    """The parts that decide a claim, at most three: those with its own verdict first."""
    parts = _measured(found["parts"])
    return sorted(parts, key=lambda part: part["verdict"] != found["verdict"])[:MOST]


def _number(value: float, unit: str) -> str:
    """A difference with its sign, another number without.

    >>> _number(-0.12345, "difference"), _number(1.5, "ratio")
    ('-0.123', '1.50')
    """
    return f"{value:+.3f}" if unit == "difference" else f"{value:.2f}"


def _interval(part: Json) -> str:
    if part["low"] is None or part["high"] is None:
        return "none"
    return f"{_number(part['low'], part['unit'])} to {_number(part['high'], part['unit'])}"

"""What the study says to S4's claims 3 and 4, as columns of the claims file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.evaluation.er_predicts_shift.layout import ER, KERNELS, LEVEL, NAME, PREDICTORS, UNTOLD
from evenhand.evaluation.er_predicts_shift.pooling import PARTIAL, PLAIN
from evenhand.report.numbers import interval, number

ASKED = {"S4.3": (ER,), "S4.4": tuple(KERNELS)}  # whose correlations with the gap under shift decide a claim
OWN = {"study": NAME, "command": f"evenhand study run {NAME}"}


def answers(body: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Columns by claim, from the dictionary that `compute` makes."""
    return {name: _columns(body, name, keys) for name, keys in ASKED.items()}


def _columns(body: Mapping[str, Any], claim: str, keys: tuple[str, ...]) -> dict[str, str]:
    rows = [(PREDICTORS[key], _pooled(body, PLAIN, key)) for key in keys]
    effect = "; ".join(
        f"rho of {name} with the gap under shift: {_plain(number(row['value'], 2, signed=True))}"
        for name, row in rows
    )
    ends = "; ".join(_plain(interval((row["low"], row["high"]), 2, signed=True)) for _, row in rows)
    return {
        "verdict": _as_verdict(body["verdicts"][claim]),
        "effect": effect,
        "interval": ends,
        "runs": str(body["done"]),
        "note": _beyond(body) if claim == "S4.3" else "",
        **OWN,
    }


def _beyond(body: Mapping[str, Any]) -> str:
    """What the paper does not ask: whether it says more than the gap on clean rows does."""
    row = _pooled(body, PARTIAL, ER)
    ends = interval((row["low"], row["high"]), 2, signed=True)
    rho = _plain(f"{number(row['value'], 2, signed=True)} ({ends})")
    word = _as_verdict(body["verdicts"]["beyond"])
    return f"Among models with equal delta EO and accuracy on clean rows: {word}; partial rho {rho}."


def _pooled(body: Mapping[str, Any], kind: str, predictor: str) -> Mapping[str, Any]:
    """The correlation of a number on clean rows with the gap under shift, over all tasks and shifts."""
    wanted = {"kind": kind, "predictor": predictor, "outcome": LEVEL}
    return next(row for row in body["pooled"] if wanted.items() <= row.items())


def _as_verdict(word: str) -> str:
    return "cannot tell" if word == UNTOLD else word


def _plain(text: str) -> str:
    """With the sign that other rows of the file have."""
    return text.replace("−", "-")

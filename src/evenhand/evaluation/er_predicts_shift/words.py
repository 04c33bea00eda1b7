"""What the runs say to the questions of the study, in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.evaluation.er_predicts_shift.judging import BETTER, WORSE
from evenhand.evaluation.er_predicts_shift.layout import (
    CHANGE,
    DOES_NOT,
    ER,
    HOLDS,
    KERNELS,
    LEVEL,
    PREDICTORS,
    UNTOLD,
)
from evenhand.evaluation.er_predicts_shift.pooling import PARTIAL, PLAIN
from evenhand.report.numbers import interval, number

Json = Mapping[str, Any]
CALLED = {
    "S4.3": "The smaller delta ER on clean rows, the smaller delta EO under shift (claim S4.3)",
    "S4.4": "The same for all three sets of kernels (claim S4.4)",
    "beyond": "The same among models with equal delta EO and accuracy on clean rows",
    "foretells": "Delta ER on clean rows foretells how far delta EO moves, also among such equal models",
    "foretells, all kernels": "The last for all three sets of kernels",
}
SHORT = {LEVEL: "the gap under shift", CHANGE: "how far the gap moves"}


def rho(found: Json) -> str:
    """A correlation with its interval.

    >>> rho({"value": 0.31, "low": -0.05, "high": 0.6})
    '+0.31 (−0.05 to +0.60)'
    """
    ends = interval((found["low"], found["high"]), 2, signed=True)
    return f"{number(found['value'], 2, signed=True)} ({ends})"


def state(body: Json) -> str:
    """Which models there are, and which were left out and why."""
    runs = "" if "done" not in body else f"{body['done']:,} of {body['planned']:,} runs are done. "
    each = "; ".join(
        f"{row['task']}: {row['models']:,} models of {row['settings']} settings on {row['splits']} splits"
        f"{_left_out(row)}"
        for row in body["tasks"]
    )
    return f"{runs}{each}."


def _left_out(row: Json) -> str:
    told = ", ".join(f"{n:,} {reason}" for reason, n in row["left_out"].items())
    return f" (left out: {told})" if told else ""


def verdict(body: Json, key: str) -> str:
    """One question with its answer and the numbers that decide it."""
    wanted = {
        "S4.3": [(PLAIN, LEVEL, ER)], "S4.4": [(PLAIN, LEVEL, kernels) for kernels in KERNELS],
        "beyond": [(PARTIAL, LEVEL, ER)], "foretells": [(PLAIN, CHANGE, ER), (PARTIAL, CHANGE, ER)],
        "foretells, all kernels": [(kind, CHANGE, of) for of in KERNELS for kind in (PLAIN, PARTIAL)],
    }[key]  # fmt: skip
    rows = {(row["kind"], row["outcome"], row["predictor"]): row for row in body["pooled"]}
    told = "; ".join(f"{_which(*of, many=len(wanted) > 2)} {rho(rows[of])}" for of in wanted)
    return f"{CALLED[key]}: **{body['verdicts'][key]}**. {told[:1].upper()}{told[1:]}."


def _which(kind: str, outcome: str, predictor: str, many: bool) -> str:
    rank = "rho" if kind == PLAIN else "partial rho"
    return f"{rank} with {KERNELS[predictor]}" if many else f"{rank} with {SHORT[outcome]}"


def of_rivals(body: Json, outcome: str) -> str:
    """Whether delta ER tells more than what costs no more."""
    rows = [row for row in body["rivals"] if row["outcome"] == outcome]
    words = {row["word"] for row in rows}
    whole = (
        "delta ER tells more than each of them" if words == {BETTER}
        else "one that costs no more tells more" if WORSE in words
        else "that delta ER tells more than each of them cannot be told"
    )  # fmt: skip
    told = "; ".join(f"less {PREDICTORS[row['rival']]} {rho(row)}, {row['word']}" for row in rows)
    return f"For {SHORT[outcome]}: **{whole}**. Rho of delta ER {told}."


def by_shift(body: Json) -> str:
    """Under which shifts delta ER foretells the change."""
    rows = [row for row in body["by_shift"] if (row["kind"], row["outcome"]) == (PLAIN, CHANGE)]
    named = {
        word: ", ".join(f"{row['shift']} {row['severity']:g}" for row in rows if row["side"] == word)
        for word in (HOLDS, UNTOLD, DOES_NOT)
    }
    told = "; ".join(f"{word}: {names}" for word, names in named.items() if names)
    return (
        f"Shift by shift, delta ER with how far the gap moves (each for itself, nothing corrected): {told}."
    )

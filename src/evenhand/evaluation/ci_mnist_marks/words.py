"""What the runs say to the two questions, in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.evaluation.ci_mnist.layout import ACCURACY, UNPRIVILEGED
from evenhand.evaluation.ci_mnist_marks.judging import ABOVE, BELOW
from evenhand.evaluation.ci_mnist_marks.layout import (
    BASE,
    BOTH,
    COLOURS,
    MARKS,
    METHODS,
    MINORITY,
)
from evenhand.report.numbers import interval, number, probability

Json = Mapping[str, Any]


def moved(found: Json) -> str:
    """A difference with its interval.

    >>> moved({"mean": 0.143, "low": -0.125, "high": 0.41})
    '+0.143 (−0.125 to +0.410)'
    """
    return f"{number(found['mean'], signed=True)} ({interval((found['low'], found['high']), signed=True)})"


def state(body: Json) -> str:
    """Which runs there are."""
    failed = f", {body['failed']:,} failed" if body["failed"] else ""
    return f"{body['done']:,} of {body['planned']:,} runs are done{failed}; {len(body['seeds'])} seeds."


def of_marks(body: Json, colours: str) -> list[str]:
    """What every mark adds to the MLP: to its accuracy, where blue is rare to that on blue digits too."""
    keys = {ACCURACY: "accuracy"} | ({UNPRIVILEGED: "accuracy on blue digits"} if colours == MINORITY else {})
    rows = [row for row in body["added"] if (row["colours"], row["method"]) == (colours, BASE)]
    told = []
    for key, name in keys.items():
        found = [(row["words"], row["numbers"][key]) for row in rows]
        each = "; ".join(f"by {words} {moved(of)}, {of['side']}" for words, of in found)
        told.append(f"At {COLOURS[colours]}, added to the MLP's {name}: {each or 'no runs that show it'}.")
    return told


def answer(body: Json) -> str:
    """Whether blue falls and a method wins part of it back, with both columns: the rule of the study."""
    fallen = _fallen(body, BOTH)
    recovers = any(row["recovers"] for row in body["recovery"] if row["marks"] == BOTH)
    unchosen = any(row["gaining"] for row in body["unchosen"] if row["marks"] == BOTH)
    word = "shown" if fallen and recovers else "not shown"
    if word == "shown" and not unchosen:
        word = "shown for chosen settings only"
    return f"**The accuracy on blue digits falls, and at least one method wins part of it back: {word}.**"


def _fallen(body: Json, marks: str) -> bool:
    return any(row["marks"] == marks and row["side"] == BELOW for row in body["falls"])


def of_fall(body: Json, marks: str = BOTH) -> str:
    """Whether the MLP's accuracy on blue digits falls."""
    fall = next((row for row in body["falls"] if row["marks"] == marks), None)
    if fall is None:
        return f"With {MARKS[marks]}: no runs that show whether the MLP's accuracy on blue digits falls."
    verb = {BELOW: "falls", ABOVE: "rises"}.get(fall["side"], "is not shown to fall")
    return (
        f"With {MARKS[marks]} the MLP's accuracy on blue digits {verb} from {' to '.join(COLOURS.values())}: "
        f"{moved(fall)}, {fall['n']} seeds."
    )


def of_recovery(body: Json, marks: str = BOTH) -> str:
    """Which methods win part of the fall back, in one sentence."""
    rows = [row for row in body["recovery"] if row["marks"] == marks]
    winners = sorted((row for row in rows if row["recovers"]), key=lambda row: -row["mean"])
    fallen = _fallen(body, marks)
    if not rows:
        return f"With {MARKS[marks]}: no runs of a method to be set against the MLP."
    if not fallen or not winners:
        why = "no method is shown to gain on the MLP" if fallen else "no fall of the MLP is shown"
        return f"With {MARKS[marks]} no method is shown to win any of it back: {why} ({len(rows)} tested)."
    told = "; ".join(f"{METHODS[row['method']]} {gain(row)}" for row in winners)
    return f"With {MARKS[marks]} {len(winners)} of {len(rows)} methods win part of it back: {told}."


def gain(row: Json) -> str:
    """The gain of a method on the MLP, with its test and its share of the fall."""
    return (
        f"{moved(row)}, {probability(row['corrected'])} after Holm, {row['n']} seeds, "
        f"{number(row['share'], 2)} of the fall"
    )


def of_unchosen(body: Json, marks: str = BOTH) -> str:
    """How many settings gain on the MLP when nothing is chosen."""
    rows = [row for row in body["unchosen"] if row["marks"] == marks]
    if not rows:
        return f"With {MARKS[marks]}: no settings to be tested without a choice."
    gaining, together = sum(len(row["gaining"]) for row in rows), rows[0]["together"]
    named = _named([METHODS[row["method"]] for row in rows if row["gaining"]])
    return (
        f"With {MARKS[marks]}, nothing chosen and all settings tested together, {gaining} of {together} gain "
        f"on the MLP on blue digits{f' ({named})' if named else ''}."
    )


def _named(names: Sequence[str]) -> str:
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)

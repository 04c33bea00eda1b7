"""What the study found, in sentences; every number in them is read from the dictionary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.evaluation.hair_colour.layout import DOES_NOT, HOLDS, PAPER_ALL, UNTOLD
from evenhand.report.numbers import interval, number
from evenhand.report.paper_warning import NOT_JUDGED, UNJUDGED

Json = Mapping[str, Any]
VERDICTS = {HOLDS: "holds", DOES_NOT: "does not hold", UNTOLD: "cannot be told"}


def state(body: Json) -> str:
    """What was run."""
    kind = "photographs" if body["photographs"] else "drawn faces"
    return f"{body['title']}, {kind}. evenhand {body['evenhand']}; {ran(body)}"


def ran(body: Json) -> str:
    """How many trainings there are, and how often they are right."""
    right = body["accuracy"]
    ends = interval((right["low"], right["high"]), 4)
    return (
        f"{body['done']} of {body['planned']} trainings are done. Accuracy on all test rows "
        f"{number(right['value'], 4)} ({ends}); the paper's {PAPER_ALL}."
    )


def whose(body: Json) -> str:
    """Whose faces the numbers are of, and what that makes of a comparison with the paper's."""
    ours, theirs = "drawn faces, nobody's photographs", "CelebA's photographs, ResNet-34"
    if body["photographs"]:
        return f"Ours and S2's: {theirs.split(',')[0]}; S2 trained a ResNet-34."
    return f"**Ours: {ours}.** S2's: {theirs}. Other data: a stand-in, **no replication**."


def verdict(body: Json) -> str:
    """Claim S2.10 and what decides it."""
    if body["verdict"] == NOT_JUDGED:
        return f"**Claim S2.10 is not judged.** {UNJUDGED}"
    uneven, both = body["uneven"], body["both"]
    told = (
        f"Uneven beyond random subgroups of their size: {listed(uneven)}."
        if uneven
        else "No subgroup is uneven."
    )
    more = f" More accurate than their complements among these: {listed(both) if both else 'none'}."
    head = (
        f"**Claim S2.10 {VERDICTS[body['verdict']]}**; by the rule alone it {VERDICTS[body['first_rule']]}."
    )
    last = f" More uneven than their complements among the last: {listed(body['more']) or 'none'}."
    return f"{head} {told}{more if uneven else ''}{last if both else ''}"


def men(body: Json) -> str:
    """The subgroup that the paper names, and the accuracy against its complement."""
    row = next((row for row in body["groups"] if row["name"] == "Male"), None)
    if row is None or body["verdict"] == NOT_JUDGED:
        return ""
    ahead = row["ahead"]
    ends = interval((ahead["low"], ahead["high"]), 4, signed=True)
    more = number(ahead["value"], 4, signed=True)
    return (
        f"Men, whom the paper names: accuracy less that of women {more} ({ends}), "
        f"{'uneven' if row['uneven'] else 'not uneven'} by the rule. The class whose false negative rate "
        f"rises most for them: {_risen(body, row)}."
    )


def _risen(body: Json, row: Json) -> str:
    changes = [found["value"] for found in row["classes"]["fnr_change"]]
    known = [(value, name) for value, name in zip(changes, body["classes"], strict=True) if value is not None]
    if not known:
        return "none is defined"
    value, name = max(known)
    return f"{name} ({number(100 * value, 0, signed=True)} %)"


def listed(names: Sequence[str]) -> str:
    """Names in a row.

    >>> listed(["a", "b", "c"]), listed(["a"])
    ('a, b and c', 'a')
    """
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def capital(told: str) -> str:
    """The same with a large first letter.

    >>> capital("change of FPR")
    'Change of FPR'
    """
    return told[:1].upper() + told[1:]

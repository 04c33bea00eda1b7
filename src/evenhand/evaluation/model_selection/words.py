"""What a zoo shows, in sentences; every number in them is read from the dictionary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.evaluation.model_selection.layout import DOES_NOT, HOLDS, MANY_CLASSES, NEAR, UNTOLD
from evenhand.report.numbers import interval, number
from evenhand.report.paper_warning import NOT_JUDGED, UNJUDGED

Json = Mapping[str, Any]
VERDICTS = {HOLDS: "holds", DOES_NOT: "does not hold", UNTOLD: "cannot be told"}


def state(body: Json) -> str:
    """What was run."""
    return f"{body['title']}. evenhand {body['evenhand']}; {ran(body)}"


def ran(body: Json) -> str:
    """How many trainings and seeds there are."""
    seeds = len(body["seeds"])
    runs = f"{body['done']} of {body['planned']} trainings are done"
    return f"{runs}, {seeds} seed{'s' if seeds > 1 else ''}."


def whose(body: Json) -> str:
    """Whose models the numbers are of, and what that makes of a comparison with the paper's."""
    tasks = ", ".join(str(task["task"]) for task in body["tasks"])
    return (
        f"**Ours: models trained here on {tasks}.** S2's: twelve models of ImageNet. Other data and "
        "models: a stand-in, **no replication**."
    )


def choice(task: Json) -> str:
    """S2.7."""
    found = task["choice"]
    if found["verdict"] == NOT_JUDGED:
        return f"**Claim S2.7 is not judged.** {UNJUDGED}"
    pairs = f"{found['pairs']} pair{'' if found['pairs'] == 1 else 's'}"
    return (
        f"**Claim S2.7 {VERDICTS[found['verdict']]}** by the rules of this page: of {pairs} of similar "
        f"accuracy and size {found['apart']} are told apart, and in {found['worse']} of these the model "
        f"singled out has the lower recall in its worst class.{_shown(found)}"
    )


def _shown(found: Json) -> str:
    """In how many of the pairs that difference of recall is more than chance."""
    if not found["apart"]:
        return ""
    return f" That difference of recall, of either sign, is shown (its interval lacks 0) in {found['shown']}."


def agreement(task: Json) -> str:
    """S2.8."""
    found = task["agreement"]
    if found["verdict"] == NOT_JUDGED:
        return "**Claim S2.8 is not judged** either."
    told = _rhos(found)
    few = f" With {task['classes']} classes the rule, which asks for {MANY_CLASSES}, does not speak."
    return (
        f"**Claim S2.8 {VERDICTS[found['verdict']]}**. Validation against test rows: "
        f"{', '.join(told) or 'there are no validation rows'}; {found['left_out']:.0%} of the classes are "
        f"left out of a cell on average.{few if task['classes'] < MANY_CLASSES else ''}"
        f"{near_words(found.get('near'))}"
    )


def _rhos(found: Json) -> list[str]:
    return [
        f"rho of {key.upper()} {number(found[key]['rho'], 2)} ({_ends(found[key])})"
        for key in ("cev", "sde")
        if found.get(key)
    ]


def near_words(found: Json | None) -> str:
    """The same among models of about the best accuracy: those that one would choose among."""
    if not found or not found.get("cev"):
        return ""
    told = ", ".join(_rhos(found))
    return (
        f" Among the {found['models']} models within {number(NEAR, 2)} of the best top-1, which the rule "
        f"does not ask: {told}."
    )


def models(task: Json) -> str:
    """What the table of the models is."""
    base = task["models"][task["base"]]["model"]
    lacking = task["left_out_models"]
    left = f" Not finished, and left out: {', '.join(lacking)}." if lacking else ""
    told = (
        f"Sorted by top-1 on test rows, mean over seeds with its interval. The base of the rules is {base}."
    )
    return told + left


def matrices(task: Json) -> str:
    """How to read the matrices, and how far a cell moves over seeds."""
    spread, size = task["spread"], len(task["models"])
    return (
        f"Row: base; column: alternative; numbers are those of the table; a cell is the mean over seeds. "
        f"Over seeds a cell of the {size} x {size} matrices moves by (deviation, median cell) "
        f"{number(spread['cev'], 2)} in CEV and {number(spread['sde'], 2)} in SDE, "
        f"{number(spread['cev_norm'])} and {number(spread['sde_norm'])} when normalised."
    )


def capital(told: str) -> str:
    """The same with a large first letter.

    >>> capital("change of top-1")
    'Change of top-1'
    """
    return told[:1].upper() + told[1:]


def _ends(found: Json) -> str:
    return interval((found["low"], found["high"]), 2)

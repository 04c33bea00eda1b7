"""What a zoo says to S2.7 and S2.8, as columns of the claims file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.evaluation.model_selection.layout import MANY_CLASSES
from evenhand.evaluation.model_selection.words import near_words
from evenhand.report.numbers import number

Json = Mapping[str, Any]


def answers(body: Json) -> dict[str, dict[str, str]]:
    """Columns by claim; of several tasks, the one with the most classes answers."""
    task = max(body["tasks"], key=lambda found: int(found["classes"]))
    own = {
        "study": body["name"],
        "command": f"evenhand study run {body['name']}",
        "runs": str(len(task["models"]) * len(task["seeds"])),
    }
    return {"S2.7": {**_choice(task), **own}, "S2.8": {**_agreement(task), **own}}


def _choice(task: Json) -> dict[str, str]:
    choice = task["choice"]
    apart = [pair for pair in task["pairs"] if pair["singled_out"]]
    told = [f"{pair['singled_out']}: SDE {abs(pair['sde']):.2f} larger" for pair in apart[:3]]
    more = [f"{len(apart) - 3} more pairs"] if len(apart) > 3 else []
    ends = [f"{_far(pair)[0]:.2f} to {_far(pair)[1]:.2f}" for pair in apart[:3]]
    return {
        "verdict": choice["verdict"],
        "effect": "; ".join(told + more)
        or f"{choice['apart']} of {choice['pairs']} similar pairs told apart",
        "interval": "; ".join(ends) or "count",
        "note": f"Of {choice['pairs']} pairs of similar accuracy and size {choice['apart']} are told apart "
        f"by CEV and SDE against the best model; in {choice['worse']} of them the one singled out has the "
        f"lower recall in its worst class, a difference that is shown in {choice['shown']}. Task: "
        f"{task['task']}.",
    }


def _far(pair: Json) -> tuple[float, float]:
    """The interval of the difference, seen from the one with the larger SDE."""
    low, high = float(pair["sde_low"]), float(pair["sde_high"])
    return (low, high) if pair["sde"] > 0 else (-high, -low)


def _agreement(task: Json) -> dict[str, str]:
    found, classes = task["agreement"], task["classes"]
    keys = [key for key in ("cev", "sde") if found.get(key)]
    few = f" {classes} classes are not very many: at least {MANY_CLASSES} are asked for."
    return {
        "verdict": found["verdict"],
        "effect": "; ".join(
            f"rank correlation of {key.upper()} between two sets of rows: {number(found[key]['rho'], 2)}"
            for key in keys
        ),
        "interval": "; ".join(_ends(found[key]) for key in keys),
        "note": f"{found['left_out']:.0%} of the classes are left out of a cell on average: a base rate is 0."
        + (few if classes < MANY_CLASSES else "")
        + near_words(found.get("near")),
    }


def _ends(found: Json) -> str:
    if found["rho"] is None:
        return "undefined"
    if found["low"] is None:
        return "one seed"
    return f"{found['low']:.2f} to {found['high']:.2f}"

"""What the numbers say to S2.9, by rules that were written before the study was run.

A column shows unevenness of a model if the sexes, shuffled, give a mean as far from 0 in at most 5 % of the
shuffles, Holm's correction over the eight columns of the model. The claim holds if, in every model, some of
the four known columns show it and all of CEV and SDE do; it does not if in most models a known one shows it
and none of CEV and SDE does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.evaluation.titanic_fairness.layout import (
    ALPHA,
    DOES_NOT,
    HOLDS,
    KNOWN,
    NEAR,
    NEW,
    UNTOLD,
)

Json = Mapping[str, Any]


def judged(models: Sequence[Json]) -> dict[str, Any]:
    """The verdict, which columns show something of which model, and which numbers are near the paper's."""
    shown = {row["model"]: [key for key in (*NEW, *KNOWN) if shows(row["columns"][key])] for row in models}
    return {"verdict": verdict(shown), "shown": shown, "far": far_from_paper(models)}


def shows(column: Json) -> bool:
    """Whether a number is more than shuffled sexes give.

    >>> shows({"p_holm": 0.01}), shows({"p_holm": 0.2}), shows({"p_holm": float("nan")})
    (True, False, False)
    """
    return bool(column["p_holm"] <= ALPHA)


def verdict(shown: Mapping[str, Sequence[str]]) -> str:
    """One of holds, does not, cannot tell.

    >>> verdict({"nn": [*NEW, "fped"]}), verdict({"nn": ["fped"]}), verdict({"nn": ["sde.men", "fped"]})
    ('holds', 'does not', 'cannot tell')
    """
    known = [model for model, keys in shown.items() if set(keys) & set(KNOWN)]
    if len(known) == len(shown) and all(set(NEW) <= set(keys) for keys in shown.values()):
        return HOLDS
    blind = [model for model in known if not set(shown[model]) & set(NEW)]
    return DOES_NOT if 2 * len(blind) > len(shown) else UNTOLD


def far_from_paper(models: Sequence[Json]) -> list[dict[str, Any]]:
    """The known columns whose mean is more than 0.15 from the paper's."""
    return [
        {"model": row["model"], "column": key, "value": found["value"], "paper": found["paper"],
         "low": found["low"], "high": found["high"]}
        for row in models
        for key in KNOWN
        if (found := row["columns"][key]).get("paper") is not None
        and not abs(found["value"] - found["paper"]) <= NEAR
    ]  # fmt: skip

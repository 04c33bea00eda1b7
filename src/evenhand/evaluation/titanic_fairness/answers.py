"""What the study says to claim S2.9, as columns of the claims file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.evaluation.titanic_fairness.layout import COLUMNS, KNOWN, MODELS, NAME, NEW

Json = Mapping[str, Any]
CLAIM = "S2.9"
DECIDING = ("sde.men", "sde.women")


def answers(body: Json) -> dict[str, dict[str, str]]:
    """Columns by claim, from the dictionary that `compute` makes."""
    rows = {row["model"]: row["columns"] for row in body["models"]}
    told = [(MODELS[model], COLUMNS[key], found[key]) for model, found in rows.items() for key in DECIDING]
    return {
        CLAIM: {
            "verdict": body["verdict"],
            "effect": "; ".join(f"{model} {name}: {column['value']:.3f}" for model, name, column in told),
            "interval": "; ".join(f"{column['low']:.3f} to {column['high']:.3f}" for *_, column in told),
            "runs": str(sum(len(row["accuracy"]) for row in body["models"])),
            "study": NAME,
            "command": f"evenhand study run {NAME}",
            "note": note(body),
        }
    }


def note(body: Json) -> str:
    """How many columns show more than shuffled sexes do, and that one of the two metrics is enough."""
    shown, models = body["shown"], len(body["models"])
    new = sum(key in NEW for keys in shown.values() for key in keys)
    known = sum(key in KNOWN for keys in shown.values() for key in keys)
    return (
        f"Beyond shuffled sexes (5 %, Holm): {new} of {models * len(NEW)} values of CEV and SDE, {known} "
        f"of {models * len(KNOWN)} of the other four. Of two classes CEV is SDE squared over two: it adds "
        "nothing."
    )

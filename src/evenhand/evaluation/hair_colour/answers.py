"""What the study says to claim S2.10, as columns of the claims file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Json = Mapping[str, Any]
CLAIM = "S2.10"


def answers(body: Json) -> dict[str, dict[str, str]]:
    """Columns by claim, from the dictionary that `compute` makes."""
    shown = [row for row in body["groups"] if row["name"] in (body["both"] or body["uneven"])][:3]
    told = [
        f"{row['name']}: accuracy {_signed(row['ahead'])}, SDE {row['sde']['value']:.2f}" for row in shown
    ]
    more = len(body["both"] or body["uneven"]) - len(shown)
    return {
        CLAIM: {
            "verdict": body["verdict"],
            "effect": "; ".join(told + ([f"{more} more subgroups"] if more else []))
            or "no subgroup is uneven",
            "interval": "; ".join(_ends(row["ahead"]) for row in shown) or "count",
            "runs": str(body["seeds_used"]),
            "study": body["name"],
            "command": f"evenhand study run {body['name']}",
            "note": note(body),
        }
    }


def note(body: Json) -> str:
    """How many subgroups are uneven and more accurate, and what was looked at."""
    where = "CelebA's photographs" if body["photographs"] else "Drawn faces, not CelebA's photographs"
    uneven, both, n = len(body["uneven"]), len(body["both"]), len(body["groups"])
    return (
        f"{where}. Uneven beyond random subgroups of their size: {uneven} of {n}; of these more accurate "
        f"than their complement: {both}, and also more uneven than it: {len(body['more'])}. The rule written "
        "before the runs did not ask the last. Accuracy is that of the subgroup less its complement's."
    )


def _signed(found: Json) -> str:
    return f"{found['value']:+.4f}"


def _ends(found: Json) -> str:
    if found["low"] is None:
        return "one seed"
    return f"{found['low']:+.4f} to {found['high']:+.4f}"

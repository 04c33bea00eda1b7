"""What the studies say to S1's claims, as columns of the claims file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evenhand.evaluation.ci_mnist import answers as columns_of
from evenhand.evaluation.claims import read_claims

Json = Mapping[str, Any]


def answers(body: Json, path: Path | str) -> dict[str, dict[str, str]]:
    """Columns by claim, from the study that the file names for it; what other studies say is noted.

    Claims of which no part could be measured are left as they are.
    """
    meant = {row["id"]: row["study"] for row in read_claims(path)}
    found: dict[str, dict[str, str]] = {}
    for study in body["studies"]:
        own = {"study": study["name"], "command": f"evenhand study run {study['name']}"}
        for name, row in columns_of(study).items():
            if meant.get(name) == study["name"]:
                note = " ".join(filter(None, (row["note"], _elsewhere(body, study["name"], name))))
                found[name] = row | own | {"note": note}
    return found


def _elsewhere(body: Json, own: str, claim: str) -> str:
    told = [
        f"{study['name']}: {found['verdict']} ({found['runs']:,} runs{_otherwise(study)})"
        for study in body["studies"]
        for found in study["findings"]
        if study["name"] != own and found["id"] == claim
    ]
    return f"Elsewhere: {'; '.join(told)}." if told else ""


def _otherwise(study: Json) -> str:
    """How many students of a study of compression began with another network than their base; mostly none.

    >>> _otherwise({"begun": {"runs": 50, "same": 16}}), _otherwise({})
    (', in which 34 of 50 students began otherwise than their base', '')
    """
    begun = study.get("begun") or {"runs": 0, "same": 0}
    apart = begun["runs"] - begun["same"]
    return f", in which {apart} of {begun['runs']} students began otherwise than their base" if apart else ""

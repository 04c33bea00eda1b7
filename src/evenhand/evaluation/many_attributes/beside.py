"""Several studies side by side: each claim's verdict and deciding effect, and each method's mean ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.evaluation.ci_mnist.answers import deciding

Json = Mapping[str, Any]


def beside(studies: Sequence[Json]) -> dict[str, Any]:
    """What all studies say to each claim that one of them was asked, and to who ranks where."""
    claims = {found["id"]: found["claim"] for study in studies for found in study["findings"]}
    ordered = sorted(claims, key=lambda name: int(name.split(".")[1]))
    return {
        "studies": [study["name"] for study in studies],
        "claims": [{"id": name, "claim": claims[name], "answers": [_answer(study, name) for study in studies]}
                   for name in ordered],
        "ranks": _ranks(studies),
    }  # fmt: skip


def _answer(study: Json, name: str) -> dict[str, Any] | None:
    found = next((one for one in study["findings"] if one["id"] == name), None)
    if found is None:
        return None
    parts = deciding(found)
    return {"verdict": found["verdict"], "runs": found["runs"], "parts": len(found["parts"]),
            "part": parts[0] if parts else None}  # fmt: skip


def _ranks(studies: Sequence[Json]) -> list[dict[str, Any]]:
    """The first (widest) scope of each study by each metric: mean rank of every method."""
    found = []
    for place, study in enumerate(studies):
        first = study["ranks"][0]["scope"] if study["ranks"] else None
        for row in study["ranks"]:
            if row["scope"] == first:
                found += [
                    {"study": place, "slot": row["slot"], "method": name, "rank": rank,
                     "of": len(row["methods"]), "problems": row["problems"]}
                    for name, rank in zip(row["methods"], row["mean_ranks"], strict=True)
                ]  # fmt: skip
    return found

"""Mean, deviation and range over seeds of every number that the page of a zoo shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.arrays import FloatArray
from evenhand.evaluation.study.run_spread import run_spread

Json = Mapping[str, Any]
Lines = list[dict[str, Any]]
MODELS = {"top1": "Top-1", "top5": "Top-5", "worst": "Recall of the worst class"}
CELLS = {
    "accuracy_change": "Change of top-1", "cev_norm": "CEV norm.", "sde_norm": "SDE norm.", "cev": "CEV",
    "sde": "SDE",
}  # fmt: skip
PAIRS = {
    "cev": "CEV, first less second", "sde": "SDE, first less second",
    "worst": "Worst recall, first less second",
}  # fmt: skip
AGREEING = {"cev": "Rho of CEV", "sde": "Rho of SDE"}
EVERY = "all models"


def spread_lines(
    models: Sequence[Json], tables: Mapping[str, FloatArray], pairs: Sequence[Json], agreement: Json
) -> dict[str, Lines]:
    """Lines by where the page shows them; `tables` are `[seeds, M, M]`, row = base, column = alternative."""
    return {
        "models": [
            run_spread(_place(row["model"]), name, row[f"{key}_runs"])
            for row in models for key, name in MODELS.items()
        ],
        "cells": _cells([row["model"] for row in models], tables),
        "pairs": [
            run_spread(_place(pair["first"], pair["second"]), name, pair[f"{key}_runs"])
            for pair in pairs for key, name in PAIRS.items()
        ],
        "agreement": [
            run_spread(_place(EVERY, EVERY), name, agreement[key]["runs"])
            for key, name in AGREEING.items() if key in agreement
        ],
    }  # fmt: skip


def _cells(names: Sequence[str], tables: Mapping[str, FloatArray]) -> Lines:
    return [
        run_spread(_place(other, base), name, tables[key][:, i, j].tolist())
        for i, base in enumerate(names)
        for j, other in enumerate(names)
        if i != j
        for key, name in CELLS.items()
    ]


def _place(model: str, against: str = "") -> dict[str, str]:
    return {"model": model, "against": against}

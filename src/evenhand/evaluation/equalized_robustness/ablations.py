"""What the paper leaves open or varies: batches, whitening, the step h, kernels, and weights on Adult."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from evenhand.evaluation.equalized_robustness.arms import Arm, Runs
from evenhand.evaluation.equalized_robustness.beside import Cell
from evenhand.evaluation.equalized_robustness.layout import (
    BATCHES,
    BESIDE,
    CLEAN,
    KERNELS,
    MAIN,
    METHODS,
    STEPS,
    ZCA,
    head,
    noisy,
)

RACE, ADULT = "cc-race", "adult-sex"
SHOWN = (
    (CLEAN, "acc"), (CLEAN, "delta_eopp"), (CLEAN, "delta_eo"), (noisy("uniform", MAIN), "delta_eo"),
    (CLEAN, "delta_er"),
)  # fmt: skip
ER = tuple((CLEAN, key) for key in ("delta_er.narrow", "delta_er", "delta_er.wide"))
NAMES = {**METHODS, **BESIDE}


def ablations(runs: Runs) -> list[dict[str, Any]]:
    """Every ablation as a table: rows of arms with what they are called, columns of numbers."""
    batches = [
        (f"{NAMES[name]}, batches of {size}", Arm.of(RACE, name, batch=size))
        for name in ("normal", "advdebias", "laftr", "cuma", "cuma-alpha-only")
        for size in BATCHES
    ]
    whitening = [
        (f"{NAMES[name]}, {words}", Arm.of(task, name))
        for name in (*METHODS, *BESIDE)
        for task, words in ((RACE, "z-scores"), (ZCA, "ZCA"))
    ]
    steps = [(f"CUMA, h = {h:g}", Arm.of(RACE, "cuma", h=h)) for h in STEPS]
    kernels = [(f"CUMA, matched with {name} kernels", Arm.of(RACE, "cuma", kernels=name)) for name in KERNELS]
    return [
        _table(runs, "batches", "The size of the batches (not told in the paper)", batches, SHOWN),
        _table(runs, "whitening", "What “whitening” means", whitening, SHOWN),
        _table(runs, "step", "The step h of the curvature's estimate", steps, SHOWN),
        _table(runs, "kernels", "The kernels that curvatures are matched with", kernels, (*SHOWN[:4], *ER)),
        _table(runs, "adult", "CUMA's weights on Adult", _on_adult(runs), SHOWN),
    ]


def _on_adult(runs: Runs) -> list[tuple[str, Arm]]:
    """Every pair of weights that was run there, and plain training."""
    found = sorted(runs.arms(ADULT, "cuma"), key=lambda arm: (arm.gamma, arm.alpha))
    told = [(f"CUMA, alpha = {arm.alpha:g}, gamma = {arm.gamma:g}", arm) for arm in found]
    return [("Normal", Arm.of(ADULT, "normal")), *told]


def _table(
    runs: Runs, name: str, title: str, arms: Iterable[tuple[str, Arm]], shown: Iterable[tuple[str, str]]
) -> dict[str, Any]:
    heads = [{"part": part, "metric": metric, "name": head(part, metric)} for part, metric in shown]
    rows: list[dict[str, Any]] = [
        {"words": words, "alpha": arm.alpha, "gamma": arm.gamma,
         "cells": [Cell(runs.values(arm, one["metric"], one["part"])).to_dict() for one in heads]}
        for words, arm in arms
    ]  # fmt: skip
    known = [row for row in rows if any(cell["n"] for cell in row["cells"])]
    return {"name": name, "title": title, "heads": heads, "rows": known}

"""A store of the study `ci-mnist` made of counts whose answers are known, without any training."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from evenhand.evaluation.ci_mnist.layout import BESIDE, LAFTR, MODELS, tasks_of
from evenhand.study.plain import study_to_dict
from evenhand.study.read import read_study

fake = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[2] / "study" / "fake_store.py")))
WIDTHS, SEEDS, SIZE = ("width 32", "width 64"), (3, 4, 5), 20_000
SETTINGS = {
    "mlp": [{}],
    "cfair": [{"gamma": 0.1}, {"gamma": 1000.0}],
    "ffvae": [{"alpha": 10.0, "gamma": 10.0}],
}
# how much of the gap of a task each model keeps, its error, and how far seeds move it
KEPT = {"mlp": 1.0, "cfair": 0.8, "ffvae": 0.6, BESIDE: 0.9} | dict.fromkeys(LAFTR, 0.3)
ERROR = {"mlp": 0.02, "cfair": 0.04, "ffvae": 0.06, BESIDE: 0.05} | dict.fromkeys(LAFTR, 0.09)
JITTER = {"mlp": 0.002, "cfair": 0.002, "ffvae": 0.0005, BESIDE: 0.02} | dict.fromkeys(LAFTR, 0.008)
GAP = {
    "minority .1": 0.05,
    "minority .01": 0.2,
    "minority .001": 0.4,
    "colour .1 .9": 0.4,
    "colour .01 .99": 0.97,
}


def settings_of(model: str) -> list[dict[str, Any]]:
    return SETTINGS.get(model, [{"gamma": 0.5}, {"gamma": 4.0}])


def counts(task: str, model: str, setting: dict[str, Any], seed: int, width: str, part: str) -> Any:
    """Counts in which the paper's first claim is true: gaps grow with the task and shrink with the model."""
    worse = 1.15 if setting and setting == settings_of(model)[-1] and len(settings_of(model)) > 1 else 1.0
    push = (seed - 4) * JITTER[model] * (1 if width == WIDTHS[0] else -1) + (
        0.001 if width == WIDTHS[0] else 0
    )
    gap = min(0.97, GAP.get(task, 0.01) * KEPT[model] * worse)
    error = ERROR[model] * worse + GAP.get(task, 0.0) * 0.1
    tpr, fpr = 1 - error, error
    return fake.rates_table((tpr, max(0.0, tpr - gap + push)), (fpr, min(1.0, fpr + gap - push)), SIZE)


def make_store(
    leave_out: Callable[[dict[str, Any]], bool] = lambda row: False, counts_of: Callable[..., Any] = counts
) -> Any:
    rows, tables = [], {part: {} for part in ("validation_balanced", "test")}
    for width in WIDTHS:
        for task in tasks_of():
            for model in (*MODELS, BESIDE):
                for setting in settings_of(model):
                    for seed in SEEDS:
                        row = fake.row_of(
                            f"{len(rows):05d}", task, "colour", model, setting, seed, len(rows), net=width
                        )
                        if leave_out(row):
                            row["status"] = "waiting"
                        else:
                            for part, kept in tables.items():
                                kept[row["id"]] = counts_of(task, model, setting, seed, width, part)
                        rows.append(row)
    study = study_to_dict(read_study("ci-mnist"))
    return fake.FakeStore(study, rows, tables, ("red", "blue"), ("odd", "even"))

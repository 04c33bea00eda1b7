"""The study `model-selection`: every model of a zoo against every other, and what its rules say of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenhand.evaluation.model_selection import judging
from evenhand.evaluation.model_selection.layout import CHOSEN, MATRICES, SHOWN
from evenhand.evaluation.model_selection.spread import spread_lines
from evenhand.evaluation.model_selection.zoo import Zoo, read_zoos
from evenhand.evaluation.page_head import page_head
from evenhand.evaluation.unjudged import judged_if_whole
from evenhand.evaluation.values import plain
from evenhand.metrics.pair_tables import model_matrices
from evenhand.metrics.rates import accuracy, tpr
from evenhand.metrics.undefined import mean_defined
from evenhand.statistics.effects import SHARE, mean_interval
from evenhand.study.frame import Frame
from evenhand.study.store import Store


def compute(store: Store) -> dict[str, Any]:
    """Everything the page shows, as plain values; NaN is None."""
    head = page_head(Frame.open(store), "model-selection", "Which of several trained models to take")
    body: dict[str, Any] = plain({**head, "tasks": [of_zoo(zoo) for zoo in read_zoos(store)]})
    return judged_if_whole(body)


def of_zoo(zoo: Zoo) -> dict[str, Any]:
    """One task: its models sorted by top-1, best first, their matrices and the outcome of the rules."""
    top1 = accuracy(zoo.counts[SHOWN])[..., 0]  # [M, S]
    order = np.argsort(-top1.mean(axis=1), kind="stable")
    worst = np.nanmin(tpr(zoo.counts[SHOWN], per_class=True)[..., 0], axis=-1)
    tables = {part: model_matrices(counts[order]) for part, counts in zoo.counts.items()}
    models = [_model(zoo, int(place), top1, worst) for place in order]
    chosen = accuracy(zoo.counts[CHOSEN] if CHOSEN in zoo.counts else zoo.counts[SHOWN])[..., 0]
    base = int(np.argmax(chosen[order].mean(axis=1)))
    shown = {key: mean_defined(tables[SHOWN][key], axis=0) for key in MATRICES}
    pairs = judging.similar_pairs(models, tables[SHOWN], base)
    left_out = tables[SHOWN]["skipped"].mean() / len(zoo.classes)
    agreement = judging.agreement(tables, float(left_out), len(zoo.classes))
    agreement["near"] = judging.among_near(tables, top1[order].mean(axis=1))
    return {
        "task": zoo.task, "classes": len(zoo.classes), "seeds": list(zoo.seeds), "inputs": list(zoo.inputs),
        "left_out_models": list(zoo.left_out), "models": models, "base": base,
        "matrices": {key: table.tolist() for key, table in shown.items()},
        "spread": {key: _spread(tables[SHOWN][key]) for key in MATRICES},
        "pairs": pairs, "choice": judging.of_pairs(pairs),
        "agreement": agreement, "runs": spread_lines(models, tables[SHOWN], pairs, agreement),
    }  # fmt: skip


def _model(zoo: Zoo, place: int, top1: Any, worst: Any) -> dict[str, Any]:
    low, high = mean_interval(top1[place], within=SHARE)
    return {
        "model": zoo.models[place], "top1": float(top1[place].mean()), "low": low, "high": high,
        "top1_runs": top1[place].tolist(), "top5": float(zoo.top5[place].mean()),
        "top5_runs": zoo.top5[place].tolist(),
        "worst": float(worst[place].mean()), "worst_runs": worst[place].tolist(),
        "parameters": zoo.parameters[place],
    }  # fmt: skip


def _spread(table: Any) -> float:
    """How far a cell moves over seeds: the median over cells of its deviation."""
    if len(table) < 2:
        return float("nan")
    off = ~np.eye(table.shape[-1], dtype=bool)
    return float(np.nanmedian(table.std(axis=0, ddof=1)[off]))

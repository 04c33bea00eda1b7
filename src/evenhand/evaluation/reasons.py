"""Why a metric, or a part of it, is undefined: in words that name the groups and classes concerned."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.evaluation.checks import shortened
from evenhand.metrics.metric import Metric
from evenhand.metrics.rates import RATES
from evenhand.metrics.score_rates import SCORE_RATES
from evenhand.metrics.view import View

MOST = 8


@dataclass(frozen=True)
class Reasons:
    """The reasons, and how many classes and groups were skipped."""

    texts: tuple[str, ...]
    classes: int
    groups: int


def reasons_for(
    metric: Metric,
    view: View,
    per_class: FloatArray,
    value: float,
    names: tuple[str, ...],
    classes: tuple[str, ...],
) -> Reasons:
    """What could not be computed, for the classes that count in this metric."""
    counted = [1] if metric.average == "positive" and view.margins.binary and len(per_class) == 2 else None
    texts: list[str] = []
    groups: set[int] = set()
    for key in dict.fromkeys(metric.statistic.rates() if metric.statistic else ()):
        rates = view.rate(key)
        for place in counted if counted is not None and len(rates) == 2 else range(len(rates)):
            for group in np.flatnonzero(np.isnan(rates[place])):
                groups.add(int(group))
                texts.append(_text(key, names[group], classes[place] if len(rates) > 1 else None))
    skipped = (
        int(np.isnan(per_class if counted is None else per_class[counted]).sum()) if len(per_class) > 1 else 0
    )
    if np.isnan(value) and not texts:
        texts.append(_general(names))
    elif skipped and not texts:
        texts.append(f"{skipped} of {len(per_class)} classes are never predicted or never occur")
    if len(texts) > MOST:
        texts = [*texts[:MOST], f"and {len(texts) - MOST} more"]
    return Reasons(tuple(texts), skipped, len(groups))


def _text(key: str, group: str, label: str | None) -> str:
    rate = RATES.get(key) or SCORE_RATES.get(key)
    name, why = (rate.name, rate.empty) if rate else (key, "no rows")
    where = f" for class {shortened(label)}" if label is not None else ""
    return f"{name} of {shortened(group)}{where}: {why}"


def _general(names: tuple[str, ...]) -> str:
    if len(names) < 2:
        return "a comparison needs two groups with enough rows"
    return "not defined for these rows"

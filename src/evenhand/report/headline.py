"""Which metrics a reader sees first, in two kinds: distances (ideal 0) and ratios (ideal 1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.report.definitions import define
from evenhand.report.names import rate_name
from evenhand.report.numbers import defined

# fmt: off
GAPS = (
    "selection.gap", "tpr.gap", "fpr.gap", "ppv.gap", "accuracy.gap",
    "balanced_accuracy.gap", "auc.gap", "ece.gap",
)
RATIOS = ("selection.ratio", "tpr.ratio", "fpr.ratio", "ppv.ratio", "accuracy.ratio")
WORST = ("tpr.worst", "accuracy.worst", "auc.worst")

KINDS: tuple[tuple[str, tuple[str, ...], tuple[str, float] | None], ...] = (
    ("Gaps between the highest and the lowest group", GAPS, ("ideal", 0.0)),
    ("Ratios of the lowest to the highest group", RATIOS, ("ideal", 1.0)),
    ("Rates of the lowest group", WORST, None),
)
# fmt: on
Metrics = Mapping[str, Mapping[str, Any]]


def present(metrics: Metrics, keys: tuple[str, ...]) -> list[str]:
    """The keys that were measured, undefined ones included: their reason is shown.

    >>> present({"tpr.gap": {"value": None}, "dp": {"value": 1}}, GAPS)
    ['tpr.gap']
    """
    return [key for key in keys if key in metrics]


def short_label(key: str) -> str:
    """The name of the rate alone, where a title already tells the comparison.

    >>> short_label("tpr.gap")
    'true positive rate'
    """
    return rate_name(key.partition(".")[0])


def headline(metrics: Metrics) -> list[str]:
    """Every headline metric that was measured; any others when none of ours was.

    >>> headline({"dp": {"value": 0.1}})
    ['dp']
    """
    return present(metrics, GAPS + RATIOS + WORST) or list(metrics)[:12]


def label(key: str) -> str:
    """Rate and comparison in few words.

    >>> label("ppv.gap"), label("dp")
    ('positive predictive value gap', 'demographic parity (DP)')
    """
    if key in GAPS + RATIOS:
        return f"{short_label(key)} {key.rpartition('.')[2]}"
    return define(key).name


def beyond_chance(key: str, metric: Mapping[str, Any]) -> bool | None:
    """Whether a value is worse than what random group labels reach; None when that is not known.

    >>> beyond_chance("tpr.gap", {"value": 0.3, "chance": 0.1})
    True
    >>> beyond_chance("tpr.ratio", {"value": 0.9, "chance": 0.8})
    False
    """
    value, chance = metric.get("value"), metric.get("chance")
    if value is None or chance is None or not defined(value) or not defined(chance):
        return None
    return bool(value < chance if define(key).better == "higher" else value > chance)


def ranked_gaps(metrics: Metrics) -> list[str]:
    """Headline gaps that are defined, the largest first.

    >>> ranked_gaps({"tpr.gap": {"value": 0.1}, "fpr.gap": {"value": 0.3}, "ppv.gap": {"value": None}})
    ['fpr.gap', 'tpr.gap']
    """
    known = [key for key in present(metrics, GAPS) if defined(metrics[key].get("value"))]
    return sorted(known, key=lambda key: -float(metrics[key]["value"]))

"""What the study set out to reach, as numbers that were fixed beforehand, and whether it reached them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, isnan, log
from typing import Any

import numpy as np

from evenhand.evaluation.equalized_robustness.ablations import ADULT, RACE
from evenhand.evaluation.equalized_robustness.arms import Arm, BySeed, Runs
from evenhand.evaluation.equalized_robustness.layout import METRICS
from evenhand.statistics.effects import mean_interval
from evenhand.statistics.permutation import permutation_paired

NAN = float("nan")
TIMES, LEVEL, WORSE = 5.0, 0.01, 0.06
NORMAL = {"acc": (0.8611, 0.01), "delta_eo": (0.1545, 0.02)}  # Table 3, and how near ours must come
LARGEST_GAP, LEAST_ACCURACY = 0.08, 0.845


@dataclass(frozen=True)
class Check:
    """A target: the number, its interval over splits, the rule, and whether it is met (None: not run)."""

    words: str
    effect: float
    low: float
    high: float
    n: int
    rule: str
    met: bool | None
    unit: str = "difference"
    p: float = NAN

    def to_dict(self) -> dict[str, Any]:
        """As a report reads it."""
        return dict(vars(self))


def checks(runs: Runs) -> list[Check]:
    """All targets, in order."""
    return [
        *alpha_trend(runs),
        fewer_times(runs),
        not_worse(runs),
        *plain_on_adult(runs),
        *cuma_on_adult(runs),
    ]


def alpha_trend(runs: Runs) -> list[Check]:
    """Table 7, alpha 0.1, 1, 10: ΔEO falls and rises again, accuracy falls; as means over splits."""
    found = []
    for metric, signs in (("delta_eo", (-1, 1)), ("acc", (-1, -1)), ("delta_er", (-1, 1))):
        for (before, after), sign in zip(((0.1, 1.0), (1.0, 10.0)), signs, strict=True):
            one, two = (runs.values(Arm.of(RACE, "cuma", alpha=alpha), metric) for alpha in (after, before))
            words = f"{METRICS[metric]} at alpha = {after:g} less at alpha = {before:g}"
            rule = "is below 0" if sign < 0 else "is above 0"
            found.append(_mean(words, _pairs(one, two), rule, lambda mean, sign=sign: mean * sign > 0))
    return found


def fewer_times(runs: Runs) -> Check:
    """ΔER of CUMA without matching, over CUMA's: geometric mean over splits, exact paired p of the logs."""
    twin, own = (runs.values(Arm.of(RACE, name), "delta_er") for name in ("cuma-alpha-only", "cuma"))
    seeds = [seed for seed in twin if seed in own and twin[seed] > 0 and own[seed] > 0]
    words, rule = "ΔER without matching, over CUMA's", f"is at least {TIMES:g}, p < {LEVEL:g}"
    if len(seeds) < 2:
        return Check(words, NAN, NAN, NAN, len(seeds), rule, None, "ratio")
    before, after = ([log(values[seed]) for seed in seeds] for values in (twin, own))
    logs = np.subtract(before, after)
    p, (low, high) = permutation_paired(before, after).p, mean_interval(logs)
    ratio = exp(float(logs.mean()))
    met = ratio >= TIMES and p < LEVEL
    return Check(words, ratio, exp(low), exp(high), len(seeds), rule, met, "ratio", p)


def not_worse(runs: Runs) -> Check:
    """ΔEO of CUMA less its twin's: the mean is at most 0.06, its interval is shown."""
    own, twin = (runs.values(Arm.of(RACE, name), "delta_eo") for name in ("cuma", "cuma-alpha-only"))
    return _mean("ΔEO of CUMA less without matching", _pairs(own, twin), f"is at most {WORSE:g}",
                 lambda mean: mean <= WORSE)  # fmt: skip


def plain_on_adult(runs: Runs) -> list[Check]:
    """Plain training on Adult lies near the paper's row."""
    found = []
    for metric, (told, within) in NORMAL.items():
        values = list(runs.values(Arm.of(ADULT, "normal"), metric).values())
        words = f"{METRICS[metric]} of Normal on Adult, less the paper's {told:g}"
        rule = f"is within ±{within:g}"
        moved = [value - told for value in values]
        found.append(_mean(words, moved, rule, lambda mean, within=within: abs(mean) <= within))
    return found


def cuma_on_adult(runs: Runs) -> list[Check]:
    """CUMA (alpha = gamma = 1) on Adult: ΔEO below 0.08 at accuracy above 0.845; else see its frontier."""
    arm = Arm.of(ADULT, "cuma")
    gap, accuracy = (list(runs.values(arm, metric).values()) for metric in ("delta_eo", "acc"))
    return [
        _mean("ΔEO of CUMA on Adult", gap, f"is below {LARGEST_GAP:g}", lambda mean: mean < LARGEST_GAP,
              "value"),
        _mean("Acc of CUMA on Adult", accuracy, f"is above {LEAST_ACCURACY:g}",
              lambda mean: mean > LEAST_ACCURACY, "value"),
    ]  # fmt: skip


def reaching(adult: dict[str, Any]) -> list[str]:
    """The settings of the ablation on Adult that reach both of its targets, by their means.

    >>> cells = [{"mean": 0.85}, {"mean": 0.02}, {"mean": 0.07}]
    >>> heads = [{"part": "test", "metric": key} for key in ("acc", "delta_eopp", "delta_eo")]
    >>> reaching({"heads": heads, "rows": [{"words": "CUMA, alpha = 1", "cells": cells}]})
    ['CUMA, alpha = 1']
    """
    places = {(head["part"], head["metric"]): place for place, head in enumerate(adult["heads"])}
    accuracy, gap = places["test", "acc"], places["test", "delta_eo"]
    return [
        row["words"] for row in adult["rows"]
        if row["cells"][accuracy]["mean"] > LEAST_ACCURACY and row["cells"][gap]["mean"] < LARGEST_GAP
    ]  # fmt: skip


def _pairs(one: BySeed, other: BySeed) -> list[float]:
    return [one[seed] - other[seed] for seed in one if seed in other]


def _mean(words: str, values: Sequence[float], rule: str, holds: Any, unit: str = "difference") -> Check:
    mean = float(np.mean(values)) if values else NAN
    low, high = mean_interval(values)
    met = None if isnan(mean) else bool(holds(mean))
    return Check(words, mean, low, high, len(values), rule, met, unit)

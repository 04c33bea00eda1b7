"""The rules of the study: which similar models are told apart, and whether two sets of rows agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.evaluation.model_selection import layout
from evenhand.evaluation.model_selection.layout import DOES_NOT, HOLDS, UNTOLD
from evenhand.statistics.corrections import holm
from evenhand.statistics.correlation import correlate
from evenhand.statistics.effects import mean_interval, p_of_mean

Json = Mapping[str, Any]
METRICS, WORST = ("cev", "sde"), "worst"
ROUNDING = 1e-9


def similar_pairs(
    models: Sequence[Json], tables: Mapping[str, FloatArray], base: int
) -> list[dict[str, Any]]:
    """Pairs of similar models, with how much more CEV and SDE the first has against the base, tested."""
    found = [
        _pair(models, tables, base, i, j)
        for i, j in combinations([n for n in range(len(models)) if n != base], 2)
        if is_similar(models[i], models[j])
    ]
    p = holm([pair[f"{key}_p"] for pair in found for key in METRICS]).reshape(-1, len(METRICS))
    for pair, adjusted in zip(found, p.tolist(), strict=True):
        pair["p_holm"] = dict(zip(METRICS, adjusted, strict=True))
        pair["singled_out"] = singled_out(pair)
        pair["worse"] = None
        if pair["singled_out"] is not None:
            other = pair["second"] if pair["singled_out"] == pair["first"] else pair["first"]
            pair["worse"] = pair["recalls"][pair["singled_out"]] < pair["recalls"][other]
    return found


def is_similar(one: Json, other: Json) -> bool:
    """Whether top-1 and the number of parameters are nearly the same; unknown sizes are not.

    >>> is_similar({"top1": 0.95, "parameters": 100}, {"top1": 0.955, "parameters": 140})
    True
    """
    if not one["parameters"] or not other["parameters"]:
        return False
    ratio = max(one["parameters"], other["parameters"]) / min(one["parameters"], other["parameters"])
    # 0.93 - 0.92 is a little more than 0.01 in floating point
    close = abs(one["top1"] - other["top1"]) <= layout.SIMILAR_ACCURACY + ROUNDING
    return bool(close and ratio <= layout.SIMILAR_SIZE)


def singled_out(pair: Json) -> str | None:
    """The name of the model with the larger CEV and the larger SDE, both beyond chance; None if none has.

    >>> pair = {"first": "a", "second": "b", "cev": 0.2, "sde": 0.1, "p_holm": {"cev": 0.01, "sde": 0.03}}
    >>> singled_out(pair), singled_out({**pair, "sde": -0.1})
    ('a', None)
    """
    if not all(pair["p_holm"][key] <= layout.ALPHA for key in METRICS):
        return None
    if (pair["cev"] > 0) != (pair["sde"] > 0):
        return None
    return str(pair["first"] if pair["cev"] > 0 else pair["second"])


def of_pairs(pairs: Sequence[Json]) -> dict[str, Any]:
    """S2.7: pairs, those told apart, those of them where the one singled out is the worse choice; verdict.

    The rule asks which mean is lower; in how many pairs that is more than chance is told beside it (`shown`).
    """
    apart = [pair for pair in pairs if pair["singled_out"] is not None]
    worse = sum(bool(pair["worse"]) for pair in apart)
    shown = sum(pair["worst_low"] > 0 or pair["worst_high"] < 0 for pair in apart)
    verdict = UNTOLD if not apart else HOLDS if 2 * worse > len(apart) else DOES_NOT
    return {"pairs": len(pairs), "apart": len(apart), "worse": worse, "shown": shown, "verdict": verdict}


def agreement(
    tables: Mapping[str, Mapping[str, FloatArray]], left_out: float, classes: int
) -> dict[str, Any]:
    """S2.8: how alike the order of the cells is on validation and on test rows, and the verdict."""
    found: dict[str, Any] = {"left_out": left_out}
    if layout.CHOSEN not in tables:
        return found | {"verdict": UNTOLD}
    for key in METRICS:
        pairs = zip(tables[layout.CHOSEN][key], tables[layout.SHOWN][key], strict=True)
        rhos = [_rho(one, other) for one, other in pairs]
        low, high = mean_interval(rhos, within=(-1.0, 1.0))
        found[key] = {"rho": float(np.mean(rhos)), "low": low, "high": high, "runs": rhos}
    return found | {"verdict": _of_agreement(found, left_out, classes)}


def among_near(tables: Mapping[str, Mapping[str, FloatArray]], top1: FloatArray) -> dict[str, Any] | None:
    """How alike the order is among models of about the best top-1 alone; None where there are too few.

    Of models that are far apart in accuracy the order of cells is easily the same in any two sets of rows.
    """
    near = np.flatnonzero(top1 >= top1.max() - layout.NEAR - ROUNDING)
    if len(near) < layout.LEAST_NEAR:
        return None
    part = {
        name: {key: np.asarray(own[key])[:, near][:, :, near] for key in METRICS}
        for name, own in tables.items()
    }
    found = agreement(part, 0.0, 0)
    return {"models": len(near), **{key: found[key] for key in METRICS if key in found}}


def _of_agreement(found: Json, left_out: float, classes: int) -> str:
    if classes < layout.MANY_CLASSES:
        return UNTOLD
    if all(found[key]["low"] > layout.AGREEING for key in METRICS) and left_out <= layout.FEW_LEFT_OUT:
        return HOLDS
    under = any(found[key]["high"] < layout.AGREEING for key in METRICS)
    return DOES_NOT if under or left_out > layout.MOST_LEFT_OUT else UNTOLD


def _pair(
    models: Sequence[Json], tables: Mapping[str, FloatArray], base: int, i: int, j: int
) -> dict[str, Any]:
    found: dict[str, Any] = {"first": models[i]["model"], "second": models[j]["model"]}
    found["recalls"] = {models[n]["model"]: models[n]["worst"] for n in (i, j)}
    for key in METRICS:
        differences = tables[key][:, base, i] - tables[key][:, base, j]
        found |= _measured(key, differences)
        found[f"{key}_p"] = p_of_mean(differences)
    return found | _measured(WORST, np.subtract(models[i]["worst_runs"], models[j]["worst_runs"]))


def _measured(key: str, differences: FloatArray) -> dict[str, Any]:
    """A difference seed by seed: its mean, its interval, and all of them."""
    low, high = mean_interval(differences)
    ends = {f"{key}_low": low, f"{key}_high": high}
    return {key: float(differences.mean()), f"{key}_runs": differences.tolist(), **ends}


def _rho(one: FloatArray, other: FloatArray) -> float:
    off = ~np.eye(len(one), dtype=bool)
    return float(correlate(one[off], other[off]).value)

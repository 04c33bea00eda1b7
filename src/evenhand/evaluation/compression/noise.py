"""How noisy the measures are: their spread over seeds against their spread over methods, and CEV by SDE."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenhand.evaluation.compression.agreement import rank_correlation, same_order
from evenhand.evaluation.compression.evidence import TOLD, Evidence, Place
from evenhand.evaluation.compression.measures import ACCURACY, CEV, SDE
from evenhand.metrics.undefined import divide

Json = dict[str, Any]


def noise_rows(e: Evidence) -> list[Json]:
    """For each place and number: deviation over seeds, deviation over methods' means, and their ratio."""
    return [
        {"place": place.name, "metric": TOLD[key], **_spread(place, key)}
        for place in e.places if len(place.against) > 1 and len(place.seeds) > 1
        for key in (ACCURACY, CEV, SDE)
    ]  # fmt: skip


def _spread(place: Place, key: str) -> Json:
    values = place.values(key)
    values = values[np.isfinite(values).all(axis=1)]
    if len(values) < 2:
        return {"seeds": float("nan"), "methods": float("nan"), "ratio": float("nan"), "same": float("nan")}
    within = float(np.sqrt(values.var(axis=1, ddof=1).mean()))
    between = float(values.mean(axis=1).std(ddof=1))
    every = np.arange(len(place.against)), np.arange(len(place.seeds))
    same = same_order(key)(place, *every)
    return {"seeds": within, "methods": between, "ratio": float(divide(within, between)), "same": same}


def square_rows(e: Evidence) -> list[Json]:
    """CEV over SDE squared halves, run by run: always 1 for two classes; what it is beyond."""
    found = []
    for place in e.places:
        cev, sde = (place.values(key).ravel() for key in (CEV, SDE))
        ratio = divide(cev, sde**2 / 2)
        ratio = ratio[np.isfinite(ratio)]
        if len(ratio):
            found.append({"place": place.name, "runs": len(ratio), "median": float(np.median(ratio)),
                          "min": float(ratio.min()), "max": float(ratio.max()),
                          "correlation": rank_correlation(cev, sde)})  # fmt: skip
    return found

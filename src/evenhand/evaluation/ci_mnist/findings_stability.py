"""S3's claims about stability: who varies most from seed to seed, and whether a variant's name keeps word."""

from __future__ import annotations

import numpy as np

from evenhand.arrays import IntArray
from evenhand.evaluation.ci_mnist.evidence import Evidence
from evenhand.evaluation.ci_mnist.judging import LARGER, MOST, Asked, resampled
from evenhand.evaluation.ci_mnist.layout import BESIDE, FAMILIES, LAFTR, NAMED, tasks_of
from evenhand.evaluation.ci_mnist.numbers import NAN
from evenhand.evaluation.ci_mnist.stability import ratio

POOLED = (
    "Deviation over seeds of every setting, chosen or not (choosing by the mean favours steady ones, and "
    "more so the more settings a model has), pooled over metrics, tasks and widths; bootstrap over tasks."
)


def laftr_varies_most(e: Evidence) -> list[Asked]:
    """5a: LAFTR has the largest deviation over seeds, FFVAE the smallest."""
    most = [("LAFTR", name) for name in ("MLP", "CFAIR", "FFVAE")]
    least = [(name, "FFVAE") for name in ("MLP", "CFAIR")]
    return [
        ratio(
            e.spreads, f"deviation of {one} over that of {other}", LARGER, FAMILIES[one], FAMILIES[other],
            e.runs(tasks_of(), (*FAMILIES[one], *FAMILIES[other])),
        )
        for one, other in most + least
    ]  # fmt: skip


def output_adversary(e: Evidence) -> list[Asked]:
    """5c: AdvDebias has a larger deviation than any other model."""
    return [
        ratio(
            e.spreads, f"deviation of AdvDebias over that of {name}", LARGER, [BESIDE], models,
            e.runs(tasks_of(), (BESIDE, *models)),
        )
        for name, models in FAMILIES.items()
    ]  # fmt: skip


def named_is_not_best(e: Evidence) -> list[Asked]:
    """5b: how often another LAFTR variant is better on the metric that a variant is named after."""
    shares = np.array([share for task in tasks_of() if (share := _beaten(e, task)) == share])

    def statistic(places: IntArray) -> float:
        return float(shares[places].mean()) if len(places) else NAN

    words = "share of tasks, widths and variants in which another variant has the higher mean"
    return [resampled(words, MOST, len(shares), statistic, e.runs(tasks_of()), "share")]


def _beaten(e: Evidence, task: str) -> float:
    """On one task: the share of variants (at all widths) that another beats on their own metric."""
    found = []
    for width in e.numbers.widths:
        for variant, key in NAMED.items():
            cells = {model: e.numbers.get(width, task, model, key) for model in LAFTR}
            means = {model: cell.mean for model, cell in cells.items() if cell is not None}
            if len(means) == len(LAFTR):
                found.append(max(means.values()) > means[variant])
    return float(np.mean(found)) if found else NAN

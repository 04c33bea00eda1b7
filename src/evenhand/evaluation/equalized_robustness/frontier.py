"""Figure 3: accuracy against ΔEO as the weights are swept, and how much of that plane each method reaches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from evenhand.evaluation.equalized_robustness.arms import Arm, BySeed, Runs
from evenhand.evaluation.equalized_robustness.layout import CLEAN, MAIN, NOISES, SWEEP, SWEPT, noisy

PARTS = (CLEAN, *(noisy(kind, MAIN) for kind in NOISES))
# the worst corner: always the commoner class of Communities and Crime, and a whole unit of ΔEO
WORST = (0.7, 1.0)
CURVES = {
    "normal": "Normal", "advdebias": "AdvDebias, alpha swept", "laftr": "LAFTR, gamma swept",
    "laftr-eqodd": "LAFTR-EqOdd, gamma swept", "cuma": "CUMA, alpha swept at gamma = 1",
    "cuma-alpha-only": "CUMA, alpha swept at gamma = 0", "cuma-gamma": "CUMA, gamma swept at alpha = 1",
}  # fmt: skip


def curve(task: str, name: str) -> list[Arm]:
    """The arms of a curve, from the smallest weight to the largest.

    >>> [arm.gamma for arm in curve("cc-race", "cuma-gamma")]
    [0.0, 0.1, 1.0, 10.0]
    """
    if name == "normal":
        return [Arm.of(task, name)]
    if name == "cuma-gamma":
        return [Arm.of(task, "cuma", gamma=weight) for weight in (0.0, 0.1, 1.0, 10.0)]
    swept = "gamma" if name.startswith("laftr") else "alpha"
    return [Arm.of(task, name, **{swept: weight}) for weight in SWEEP]


def curves(runs: Runs) -> list[dict[str, Any]]:
    """All points of the figure, for each swept task, part and curve; points without a run are left out."""
    found = []
    for task in SWEPT:
        for part in PARTS:
            for name, words in CURVES.items():
                points = [point for arm in curve(task, name) if (point := _point(runs, arm, part))]
                if points:
                    one = {"task": task, "part": part, "curve": name, "words": words, "points": points}
                    found.append(one)
    return found


def _point(runs: Runs, arm: Arm, part: str) -> dict[str, Any] | None:
    accuracy, gap = runs.values(arm, "acc", part), runs.values(arm, "delta_eo", part)
    if not accuracy or not gap:
        return None
    return {
        "alpha": arm.alpha, "gamma": arm.gamma, "x": float(np.mean(list(accuracy.values()))),
        "y": float(np.mean(list(gap.values()))), "n": len(gap),
    }  # fmt: skip


def reached(runs: Runs, task: str, name: str, part: str) -> BySeed:
    """The area that a curve dominates, by seed, where all its points are there.

    Curves of equally many points are compared: more points would reach more by chance alone.
    """
    arms = curve(task, name)
    accuracy = [runs.values(arm, "acc", part) for arm in arms]
    gap = [runs.values(arm, "delta_eo", part) for arm in arms]
    seeds = set.intersection(*(set(values) for values in (*accuracy, *gap)))
    return {
        seed: area([(one[seed], two[seed]) for one, two in zip(accuracy, gap, strict=True)])
        for seed in sorted(seeds)
    }


def area(points: Sequence[tuple[float, float]], worst: tuple[float, float] = WORST) -> float:
    """The part of the plane that is worse than some point and better than the worst corner.

    >>> round(area([(0.8, 0.5)]), 6), round(area([(0.8, 0.5), (0.9, 0.9)]), 6), area([(0.6, 0.5)])
    (0.05, 0.06, 0.0)
    """
    left, top = worst
    total, lowest = 0.0, top
    inside = sorted((point for point in points if point[0] > left and point[1] < top), reverse=True)
    for accuracy, gap in inside:  # from the most accurate on: each adds what lies under the line so far
        if gap < lowest:
            total += (accuracy - left) * (lowest - gap)
            lowest = gap
    return total

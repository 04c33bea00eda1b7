"""What mitigation costs (S0, Figure 3): did accuracy move, did it become less steady, and what was it for?

The direction of the variance compares normalised variances on both sides, which is the corrected rule: the
published figure sets the base's raw variance against the other's normalised one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evenhand.evaluation.study.against import Against, as_published, better_or_worse
from evenhand.evaluation.study.setup import Arm, Setup, cost_of
from evenhand.metrics.catalogue import CATALOGUE
from evenhand.statistics.corrections import correct
from evenhand.statistics.outcome import Test
from evenhand.statistics.tests import levene_relative, mann_whitney
from evenhand.statistics.verdicts import HIGHER, LOWER, NOT_ENOUGH

UNCHANGED = "NS"
SIGNS = {LOWER: "-", HIGHER: "+"}
NAN = float("nan")


def costs(setup: Setup, against: Mapping[tuple[int, str], Against]) -> list[dict[str, Any]]:
    """A line for each method that is compared with a base; `against` must be of one setting in all metrics.

    By S0's conventions each test is its own (one-sided, the side chosen after the means, not corrected);
    by the strict one they are the study's tests, corrected, and so are those of the variances, among
    themselves. `cross`: no metric is shown to be better; None where there were too few runs to show any.
    """
    pairs = [(arm.counted, base.counted) for arm in setup.arms if arm.place in against
             for base in (setup.base_of(arm.place[0]),) if base is not None]  # fmt: skip
    spread = [_levene(setup, base, arm) for arm, base in pairs]
    published = as_published(setup)
    p_values = correct([test.p for test in spread], "none" if published else setup.report.correction)
    lines = []
    for (arm, base), test, p in zip(pairs, spread, p_values, strict=True):
        line = _published(setup, base, arm) if published else _judged(setup, base, against[arm.place])
        problem = setup.frame.layout.problems[arm.place[0]].id
        variance = {"variance": _sign(test, float(p), setup.alpha), "variance_p": float(p)}
        lines.append({"problem": problem, "method": arm.place[1], **line, **variance})
    return lines


def _judged(setup: Setup, base: Arm, found: Against) -> dict[str, Any]:
    key, others = setup.report.accuracy, _compared(setup)
    reduces = [name for name in others if better_or_worse(name, found[name], base.mean(name)) > 0]
    told = any(found[name]["verdict"] != NOT_ENOUGH for name in others)
    return {
        "accuracy": SIGNS.get(found[key]["verdict"], UNCHANGED), "accuracy_p": found[key]["p_adjusted"],
        "reduces": reduces, "cross": not reduces if told else None,
    }  # fmt: skip


def _published(setup: Setup, base: Arm, arm: Arm) -> dict[str, Any]:
    accuracy = _posthoc(setup, base, arm, setup.report.accuracy)
    reduces = [key for key in _compared(setup) if _improved(setup, base, arm, key)]
    return {"accuracy": accuracy.label, "accuracy_p": accuracy.p, "reduces": reduces, "cross": not reduces}


def _improved(setup: Setup, base: Arm, arm: Arm, key: str) -> bool:
    """Whether S0's test shows a change, and that is for the better by the catalogue."""
    if CATALOGUE[key].better == "none" or _posthoc(setup, base, arm, key).label == UNCHANGED:
        return False
    return cost_of(arm.mean(key), key) < cost_of(base.mean(key), key)


def _compared(setup: Setup) -> Sequence[str]:
    return [key for key in setup.keys if key != setup.report.accuracy]


def _posthoc(setup: Setup, base: Arm, arm: Arm, key: str) -> Test:
    if not _enough(base, arm, key):
        return Test(NAN, NAN, "posthoc", UNCHANGED, "fewer than two runs")
    return mann_whitney(base.values[key], arm.values[key], "posthoc", setup.alpha)


def _levene(setup: Setup, base: Arm, arm: Arm) -> Test:
    key = setup.report.accuracy
    if not _enough(base, arm, key):
        return Test(NAN, NAN, "two-sided", UNCHANGED, "fewer than two runs")
    return levene_relative(base.values[key], arm.values[key], alpha=1.0)  # the level is applied afterwards


def _sign(test: Test, p: float, alpha: float) -> str:
    return test.label if np.isfinite(p) and p <= alpha else UNCHANGED


def _enough(base: Arm, arm: Arm, key: str) -> bool:
    return all(np.isfinite(side.values[key]).sum() >= 2 for side in (base, arm))

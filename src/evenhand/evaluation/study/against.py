"""Every method against the base: how far each metric moved, and whether the runs show it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evenhand.evaluation.study.pairing import shared_runs
from evenhand.evaluation.study.setup import Arm, Setup, cost_of
from evenhand.metrics.catalogue import CATALOGUE
from evenhand.statistics.comparing import RunComparison, compare_runs, judge
from evenhand.statistics.verdicts import HIGHER, LOWER

Against = dict[str, dict[str, Any]]
FEWEST_PAIRS = 2
WORDS = {
    "mann-whitney": "Mann-Whitney's U of the runs of both, two-sided",
    "wilcoxon": "Wilcoxon's signed ranks of the seed-by-seed differences, two-sided",
    "permutation": "a permutation test of the means, seed by seed where both have the seeds, two-sided",
}
POSTHOC = "Mann-Whitney's U of the runs of both, one-sided, the side chosen after seeing the means (S0)"
CORRECTED = {"holm": "Holm", "benjamini-hochberg": "Benjamini and Hochberg", "bonferroni": "Bonferroni"}


def against_base(setup: Setup, *, single: bool = False) -> dict[tuple[int, str], Against]:
    """All methods of all problems against the base; p-values are corrected over all of them together.

    Under a rule that chooses a setting for each metric, both sides are the settings chosen for it; `single`
    compares the one setting of each method in all metrics.
    """
    pairs = [
        (arm, base, key)
        for arm in setup.arms
        for base in (setup.base_of(arm.place[0]),)
        if base is not None and base is not arm
        for key in setup.keys
    ]
    compared = [
        _compared(setup, *((arm, base) if single else (arm.of(key), base.of(key))), key)
        for arm, base, key in pairs
    ]
    judged = judge(compared, setup.report.correction)
    found: dict[tuple[int, str], Against] = {}
    for (arm, _, key), comparison in zip(pairs, judged, strict=True):
        found.setdefault(arm.place, {})[key] = comparison.to_dict()
    return found


def _compared(setup: Setup, arm: Arm, base: Arm, key: str) -> RunComparison:
    """Seed by seed where both have at least two seeds in common, else as two samples."""
    report, arm, base = setup.report, arm.counted, base.counted
    a, b = shared_runs(base.seeds, base.values[key], arm.seeds, arm.values[key])
    paired = len(a) >= FEWEST_PAIRS
    if not paired and report.test != "wilcoxon":
        a, b = base.values[key], arm.values[key]
    return compare_runs(
        a, b, report.test, "artifact" if as_published(setup) else "plain", setup.alpha, paired,
        report.confidence,
    )  # fmt: skip


def as_published(setup: Setup) -> bool:
    """Whether the tests are S0's own, by the study's convention."""
    return setup.report.convention != "strict" and setup.report.test == "mann-whitney"


def words_of_tests(setup: Setup, against: Mapping[tuple[int, str], Against]) -> str:
    """How differences are judged, in a sentence: the test, the family of the correction, the intervals."""
    report = setup.report
    test = POSTHOC if as_published(setup) else WORDS.get(report.test, report.test)
    tests = sum(found["p"] is not None for entry in against.values() for found in entry.values())
    corrected = (
        f"p-values corrected by {CORRECTED[report.correction]} over all {tests} comparisons with "
        f"{setup.base} (methods × metrics, {report.accuracy} among them, × problems)"
        if report.correction in CORRECTED
        else f"the {tests} p-values are not corrected for their number"
    )
    repeated = any(repeat is not None for repeat in setup.frame.columns["repeat"])
    over = "identical runs (by their number)" if repeated else "seeds (one by one where both have them)"
    return (
        f"{test}; {corrected}; a difference is shown at p ≤ {setup.alpha:.3g}; intervals of differences are "
        f"over {over}, so they hold the chance of training again and not "
        "that of other test rows, and each speaks for itself, uncorrected, in the check of levelling down too"
    )


def better_or_worse(key: str, entry: Mapping[str, Any], base_mean: float) -> int:
    """Whether a shown difference is for the better (1) or the worse (-1) by the catalogue; 0 if neither.

    >>> better_or_worse("tpr.gap", {"verdict": "lower", "difference": -0.1}, 0.2)
    1
    """
    if entry["verdict"] not in (LOWER, HIGHER) or CATALOGUE[key].better == "none":
        return 0
    before, after = cost_of(base_mean, key), cost_of(base_mean + entry["difference"], key)
    return int(np.sign(before - after))

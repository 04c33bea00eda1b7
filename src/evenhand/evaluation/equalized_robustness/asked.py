"""What is asked of the runs for each claim of S4; all of it was written before the study was run.

A part is a difference seed by seed (a seed is a split, and both sides have the same), its mean over splits,
and Student's interval; the intervals of one claim hold together at 95 % (Bonferroni). Little and close mean
less than 0.02. A claim holds if all its parts do, and does not if one does not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from evenhand.evaluation.ci_mnist.judging import (
    ABOVE,
    BELOW,
    LITTLE,
    NOT_BETTER,
    Asked,
    contrast,
)
from evenhand.evaluation.equalized_robustness.ablations import NAMES, RACE
from evenhand.evaluation.equalized_robustness.arms import Arm, BySeed, Runs
from evenhand.evaluation.equalized_robustness.frontier import PARTS, curve, reached
from evenhand.evaluation.equalized_robustness.layout import (
    CLEAN,
    MAIN,
    METRICS,
    MITIGATIONS,
    NOISES,
    SWEPT,
    TASKS,
    TWICE,
    noisy,
)


@dataclass
class Evidence:
    """Asks for differences, and remembers which arms they were of."""

    runs: Runs
    arms: set[Arm] = field(default_factory=set)

    def values(self, arm: Arm, metric: str, part: str = CLEAN) -> BySeed:
        """A number of an arm by seed."""
        self.arms.add(arm)
        return self.runs.values(arm, metric, part)

    def ask(self, words: str, rule: str, one: BySeed, other: BySeed) -> Asked:
        """One less the other, seed by seed."""
        return contrast(words, rule, _series(one), _series(other))

    def less(self, rule: str, one: Arm, other: Arm, metric: str, part: str, words: str) -> Asked:
        """A number of one arm less that of another."""
        where = one.task if part == CLEAN else f"{one.task}, {part}"
        return self.ask(f"{METRICS[metric]} of {words} ({where})", rule, self.values(one, metric, part),
                        self.values(other, metric, part))  # fmt: skip


def _series(values: BySeed) -> dict[tuple[str, int], float]:
    return {("", seed): value for seed, value in values.items()}


def gaps_grow(e: Evidence) -> list[Asked]:
    """1: under noise of 0.03, ΔEO of AdvDebias and of LAFTR is above what it is on clean rows."""
    return [
        e.ask(f"ΔEO of {NAMES[method]} under noise less on clean rows ({task}, {part})", ABOVE,
              e.values(arm, "delta_eo", part), e.values(arm, "delta_eo"))
        for task in TASKS for method in MITIGATIONS for arm in (Arm.of(task, method),)
        for part in _noises(MAIN)
    ]  # fmt: skip


def smallest_under_noise(e: Evidence, tasks: Iterable[str] = TASKS, severity: float = MAIN) -> list[Asked]:
    """2a: under noise, ΔEO of CUMA is below that of each other method."""
    return [
        e.less(BELOW, Arm.of(task, "cuma"), Arm.of(task, other), "delta_eo", part,
               f"CUMA less {NAMES[other]}")
        for task in tasks for other in ("normal", *MITIGATIONS) for part in _noises(severity)
    ]  # fmt: skip


def smallest_under_twice_the_noise(e: Evidence) -> list[Asked]:
    """9: the same under noise of 0.06, on the two tasks of Tables 8 and 9."""
    return smallest_under_noise(e, SWEPT, TWICE)


def no_further_loss(e: Evidence) -> list[Asked]:
    """2b: CUMA's accuracy is not more than 0.02 below, its clean ΔEO not more than 0.02 above the others'."""
    found = []
    for task in TASKS:
        for other in MITIGATIONS:
            own, theirs, name = Arm.of(task, "cuma"), Arm.of(task, other), NAMES[other]
            found += [
                e.less(NOT_BETTER, theirs, own, "acc", CLEAN, f"{name} less CUMA"),
                e.less(NOT_BETTER, own, theirs, "delta_eo", CLEAN, f"CUMA less {name}"),
            ]
    return found


def lower_er(e: Evidence) -> list[Asked]:
    """2c: ΔER of CUMA is below that of LAFTR and of AdvDebias."""
    return [
        e.less(BELOW, Arm.of(task, "cuma"), Arm.of(task, other), "delta_er", CLEAN,
               f"CUMA less {NAMES[other]}")
        for task in TASKS for other in MITIGATIONS
    ]  # fmt: skip


def alpha_of_one(e: Evidence) -> list[Asked]:
    """5: at gamma = 1 on race, alpha = 1 has a smaller ΔEO and ΔER than 0.1 and 10."""
    return [
        e.less(BELOW, Arm.of(RACE, "cuma"), Arm.of(RACE, "cuma", alpha=other), metric, CLEAN,
               f"alpha = 1 less alpha = {other:g}")
        for metric in ("delta_eo", "delta_er") for other in (0.1, 10.0)
    ]  # fmt: skip


def gamma_of_one(e: Evidence) -> list[Asked]:
    """6: from gamma = 0.1 to 1, ΔEO under noise and ΔER fall; from 1 to 10 nothing moves by 0.02."""
    small, own, large = (Arm.of(RACE, "cuma", gamma=gamma) for gamma in (0.1, 1.0, 10.0))
    uniform = noisy("uniform", MAIN)
    up, further = "gamma = 1 less gamma = 0.1", "gamma = 10 less gamma = 1"
    falls = [("delta_eo", uniform), ("delta_er", CLEAN)]
    return [
        *(e.less(BELOW, own, small, metric, part, up) for metric, part in falls),
        *(e.less(LITTLE, large, own, metric, part, further) for metric, part in (("acc", CLEAN), *falls)),
    ]


def step_hardly_matters(e: Evidence) -> list[Asked]:
    """7: with h = 0.1 instead of 1, accuracy, ΔEO and ΔER move by less than 0.02."""
    return [
        e.less(LITTLE, Arm.of(RACE, "cuma", h=0.1), Arm.of(RACE, "cuma"), metric, CLEAN, "h = 0.1 less h = 1")
        for metric in ("acc", "delta_eo", "delta_er")
    ]


def best_frontier(e: Evidence) -> list[Asked]:
    """8: of accuracy against ΔEO, CUMA's curve (alpha swept) reaches more than those of the others."""
    found = []
    for part in PARTS:
        for other in MITIGATIONS:
            e.arms |= {*curve(RACE, "cuma"), *curve(RACE, other)}
            one, two = (reached(e.runs, RACE, name, part) for name in ("cuma", other))
            where = "clean" if part == CLEAN else part
            found.append(e.ask(f"area reached by CUMA less {NAMES[other]} ({where})", ABOVE, one, two))
    return found


def minority_is_curved_more(e: Evidence) -> list[Asked]:
    """10: after plain training the mean curvature of the smaller group is above that of the larger."""
    found = []
    for task in TASKS:
        groups, arm = e.runs.groups(task), Arm.of(task, "normal")
        # the smaller group is the first level of all three attributes
        small, large = (f"curvature.mean.{name}" for name in groups or ("", ""))
        one, two = e.values(arm, small), e.values(arm, large)
        found.append(e.ask(f"mean curvature of the smaller group less the larger ({task})", ABOVE, one, two))
    return found


def _noises(severity: float) -> list[str]:
    return [noisy(kind, severity) for kind in NOISES]

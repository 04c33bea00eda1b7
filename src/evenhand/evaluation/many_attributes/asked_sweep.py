"""What is asked for the claims of S1 on methods over many structures; written before its study was run.

Each question begins with its number; its first line is told with the answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.evaluation.many_attributes.evidence import Evidence, name_of, one_attribute, several_attributes
from evenhand.evaluation.many_attributes.judging import Asked, share
from evenhand.evaluation.many_attributes.layout import (
    AMPLIFICATION,
    BETTER,
    EPSILON,
    MARGIN,
    MULTI,
    PERFORMANCE,
    SINGLE,
    SLOTS,
)
from evenhand.evaluation.many_attributes.rules import above, below, better, not_better, not_worse, worse
from evenhand.evaluation.many_attributes.runs import BySeed, Structure

ALMOST_ALL = 2 / 3  # what the share of structures must surely exceed
WEIGHTING, ROBUST, INDEPENDENT = "w-erm", "gdro", "ind"
ONE, SEVERAL = "one attribute", "several attributes"


def weighting_ties_or_beats(e: Evidence) -> list[Asked]:
    """2: the share of structures on which no method is better than W-ERM by the margin is above 2/3; which
    other method is the best is found on the other seeds, so that the luckiest of many is not.
    """
    found = []
    for kind in e.kinds():
        where = e.where(kind)
        for slot in SLOTS:
            hits = [hit for structure in where if (hit := _unbeaten(e, structure, slot)) is not None]
            words = f"structures on which W-ERM ties or beats all in {name_of(slot, where)} ({kind})"
            found.append(share(words, above(round(ALMOST_ALL, 3)), hits, len(hits)))
    return found


def _unbeaten(e: Evidence, structure: Structure, slot: str) -> bool | None:
    """Whether no other method is better by the margin; None where there is nothing to compare."""
    own, *rivals = (e.values(structure, e.runs.find(key), slot) for key in (WEIGHTING, *e.others(WEIGHTING)))
    ahead = lead(own, rivals, higher=BETTER[slot] == "higher")
    return None if ahead != ahead else bool(ahead <= MARGIN[slot])


def lead(own: BySeed, rivals: Sequence[BySeed], higher: bool) -> float:
    """How far the best rival is ahead: found on the mean of the other seeds, read off the seed left out.

    The largest of many means is ahead by chance alone; found on other seeds it is not. NaN without two seeds.

    >>> round(lead({0: 0.8, 1: 0.8}, [{0: 0.9, 1: 0.7}, {0: 0.82, 1: 0.83}], higher=True), 3)
    -0.04
    """
    sign, found = (1.0 if higher else -1.0), []
    for seed, value in own.items():
        rest = [(sign * mean, rival[seed]) for rival in rivals
                if seed in rival and (mean := _without(rival, seed)) is not None]  # fmt: skip
        if rest:
            found.append(sign * (max(rest)[1] - value))
    return sum(found) / len(found) if found else float("nan")


def _without(values: BySeed, seed: int) -> float | None:
    rest = [value for other, value in values.items() if other != seed]
    return sum(rest) / len(rest) if rest else None


def robust_on_single_labels(e: Evidence) -> list[Asked]:
    """3: Group DRO is not worse than W-ERM by the margin in performance, nor in the others for one attribute;
    for several attributes its bias amplification and intersectional bias are above W-ERM's.
    """
    one, several = e.where(SINGLE, one_attribute), e.where(SINGLE, several_attributes)
    biases = (AMPLIFICATION, EPSILON)
    return [
        e.less(not_worse(PERFORMANCE), ROBUST, WEIGHTING, PERFORMANCE, e.where(SINGLE), SINGLE),
        *(e.less(not_worse(slot), ROBUST, WEIGHTING, slot, one, f"{SINGLE}, {ONE}") for slot in biases),
        *(e.less(worse(slot), ROBUST, WEIGHTING, slot, several, f"{SINGLE}, {SEVERAL}") for slot in biases),
    ]


def robust_turns_over(e: Evidence) -> list[Asked]:
    """4: on multi-label tasks the bias amplification of Group DRO less W-ERM is below 0 for one attribute and
    above 0 for several.
    """
    return [
        e.less(rule, ROBUST, WEIGHTING, AMPLIFICATION, e.where(MULTI, which), f"{MULTI}, {words}")
        for rule, which, words in ((below(), one_attribute, ONE), (above(), several_attributes, SEVERAL))
    ]


def robust_on_many_labels(e: Evidence) -> list[Asked]:
    """5: reweighted mAP of Group DRO is below that of W-ERM."""
    return [e.less(worse(PERFORMANCE), ROBUST, WEIGHTING, PERFORMANCE, e.where(MULTI), MULTI)]


def independent_on_many_labels(e: Evidence) -> list[Asked]:
    """6: Ind is not worse than W-ERM by the margin in reweighted mAP and intersectional bias; its bias
    amplification is above W-ERM's.
    """
    rules = {PERFORMANCE: not_worse, EPSILON: not_worse, AMPLIFICATION: worse}
    return [
        e.less(rule(slot), INDEPENDENT, WEIGHTING, slot, e.where(MULTI), MULTI)
        for slot, rule in rules.items()
    ]


def independent_on_single_labels(e: Evidence) -> list[Asked]:
    """7: reweighted accuracy of Ind is below that of W-ERM."""
    return [e.less(worse(PERFORMANCE), INDEPENDENT, WEIGHTING, PERFORMANCE, e.where(SINGLE), SINGLE)]


def decoupling(e: Evidence) -> list[Asked]:
    """8: reweighted accuracy of SD is above that of every other method; it does not lower ERM's bias
    amplification or intersectional bias by the margin.
    """
    where = e.where(SINGLE)
    return [
        *(e.less(better(PERFORMANCE), "sd", other, PERFORMANCE, where, SINGLE) for other in e.others("sd")),
        *(e.less(not_better(slot), "sd", "erm", slot, where, SINGLE) for slot in (AMPLIFICATION, EPSILON)),
    ]


def twice(e: Evidence) -> list[Asked]:
    """9: JTT is worse than W-ERM in each metric, over all structures."""
    return [
        e.less(worse(slot), "jtt", WEIGHTING, slot, e.where(kind), kind)
        for kind in e.kinds() for slot in SLOTS
    ]  # fmt: skip


def not_competitive(e: Evidence) -> list[Asked]:
    """22: IRM and adversarial censoring are worse than W-ERM in performance and in bias amplification."""
    return [
        e.less(worse(slot), key, WEIGHTING, slot, e.where(kind), kind)
        for kind in e.kinds() for key in ("irm", "a-cens") for slot in (PERFORMANCE, AMPLIFICATION)
    ]  # fmt: skip

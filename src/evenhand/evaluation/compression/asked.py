"""What is asked for the claims of S2 on compression, and our own questions; written before any study was run.

Each question begins with its number; its first line is told with the answer. Numbers are raw CEV and SDE: the
normaliser of a seed is the same for all its methods.
"""

from __future__ import annotations

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.evaluation.ci_mnist.judging import NAN, Asked
from evenhand.evaluation.compression.agreement import Correlated, Counted, otherwise, resampled, same_order
from evenhand.evaluation.compression.evidence import CLOSE, PAIR_METRICS, TOLD, Evidence, Table
from evenhand.evaluation.compression.measures import ACCURACY, CEV, SDE, Against
from evenhand.evaluation.compression.populations import PRUNING
from evenhand.evaluation.compression.tables import kept_of_classes
from evenhand.evaluation.many_attributes.judging import contrast, crossed
from evenhand.evaluation.many_attributes.rules import above, below

DIFFER = {CEV: 1.5, SDE: 1.25}  # how many times as large a number must be to differ; SDE is about CEV's root
RELIABLY = 0.9
LARGE = 3.0  # S2's 300 %
ADDS = 0.1
ALL_OF_THEM = "100 %"


def agree_with_exemplars(e: Evidence) -> list[Asked]:
    """1: over methods, the rank correlation of mean CEV, and of mean SDE, with the number of exemplars is
    above 0, level by level.
    """
    words, counts = "rank correlation of {} with exemplars over methods", Counted()
    return [
        resampled(words.format(TOLD[key]), above(), e, Correlated(key, counts), "difference")
        for key in PAIR_METRICS
    ]


def distillation_lowers(e: Evidence) -> list[Asked]:
    """2: CEV and SDE of the nine distillations less pruning alone, seed by seed, are below 0 on average;
    methods and seeds are both draws, levels are not: a method at two levels is one draw.
    """
    return [
        contrast(f"{TOLD[key]} of distillations less pruning alone", below(), (1.0, e.less_pruning(key)))
        for key in PAIR_METRICS
    ]


def kd_lowers_further(e: Evidence) -> list[Asked]:
    """3: CEV and SDE of AT, PKT, SP and FSP with KD less the same without, seed by seed, are below 0; draws
    are those of S2.2.
    """
    return [
        contrast(f"{TOLD[key]} with KD less without", below(), (1.0, e.with_kd(key))) for key in PAIR_METRICS
    ]


def differ_at_similar_accuracy(e: Evidence) -> list[Asked]:
    """4: of two methods of a level whose mean accuracies are within 0.01, the one with the larger number has
    more than 1.5 times the CEV and 1.25 times the SDE; which has is found on the other seeds, and its ratio
    read off the seed left out (geometric mean over pairs).
    """
    return [
        _ratio(f"{TOLD[key]} of the larger of two methods of similar accuracy, times the other's",
               above(DIFFER[key]), _logs_of_ratios(e, key))
        for key in PAIR_METRICS
    ]  # fmt: skip


def _logs_of_ratios(e: Evidence, key: str) -> Table:
    found: Table = {}
    for place, one, other in e.pairs():
        means = [float(np.mean(each.by_seed[ACCURACY])) for each in (one, other)]
        seeds = [seed for seed in one.seeds if seed in other.seeds]
        if abs(means[0] - means[1]) >= CLOSE or len(seeds) < 2:
            continue
        values = [
            np.array([each.by_seed[key][each.seeds.index(seed)] for seed in seeds]) for each in (one, other)
        ]
        with np.errstate(divide="ignore", invalid="ignore"):  # a number of 0 has no ratio
            logs = np.log(values[0]) - np.log(values[1])
        for number, seed in enumerate(seeds):
            rest = np.delete(logs, number)
            if np.isfinite(rest).any() and np.isfinite(logs[number]):
                sign = 1.0 if float(rest[np.isfinite(rest)].mean()) >= 0 else -1.0
                pair = f"{place.name}: {one.population.role}, {other.population.role}"
                found[pair, seed] = float(sign * logs[number])
    return found


def _ratio(words: str, rule: str, logs: Table) -> Asked:
    """The geometric mean over pairs, of which methods are those of the paper: the seeds make the interval."""

    def measure(level: float) -> tuple[float, float, float, int]:
        effect, low, high, count = crossed([(1.0, logs)], level, drawn=False)
        return float(np.exp(effect)), float(np.exp(low)), float(np.exp(high)), count

    return Asked(words, measure, rule, "ratio")


def some_classes_change_much(e: Evidence) -> list[Asked]:
    """5: with pruning alone, the false negative rate of the class that rises most grows by more than 300 %;
    the class is found on the other seeds, and its change read off the seed left out (mean over levels, which
    are given and not drawn).
    """
    found: Table = {}
    for place in e.places:
        one = place.of(PRUNING)
        if one is not None:
            found |= {(place.name, seed): value for seed, value in _worst_class(one).items()}
    words = "relative change of the FNR of the class that pruning hurts most"
    return [contrast(words, above(LARGE), (1.0, found), drawn=False)]


def _worst_class(one: Against) -> dict[int, float]:
    """By seed, dFNR of the class whose mean dFNR on the other seeds is the largest."""
    d_fnr, found = one.changes[1], dict[int, float]()
    for number, seed in enumerate(one.seeds):
        rest = np.delete(d_fnr, number, axis=0)
        known = np.isfinite(rest).any(axis=0) & np.isfinite(d_fnr[number])
        if len(rest) and known.any():
            means = np.where(known, np.nanmean(np.where(known, rest, 0.0), axis=0), -np.inf)
            found[seed] = float(d_fnr[number, int(means.argmax())])
    return found


def reliable(e: Evidence) -> list[Asked]:
    """6: two seeds order two methods of a level in the same way by CEV, and by SDE, in more than nine of ten
    cases; chance would be one half.
    """
    return [
        resampled(
            f"pairs of methods that two seeds order alike by {TOLD[key]}", above(RELIABLY), e, same_order(key)
        )
        for key in PAIR_METRICS
    ]


def lower_at_equal_accuracy(e: Evidence) -> list[Asked]:
    """A: CEV and SDE of the distillations are below those of pruning alone, and their accuracy is not lower
    by 0.01, seed by seed.
    """
    words = "accuracy of distillations less pruning alone"
    return [*distillation_lowers(e), contrast(words, above(-CLOSE), (1.0, e.less_pruning(ACCURACY)))]


def more_than_a_square(e: Evidence) -> list[Asked]:
    """B: beyond two classes, CEV orders more than one of ten pairs of methods otherwise than SDE does (of two
    classes CEV is SDE squared over two, and none).
    """
    words = "pairs of methods that CEV and SDE order in opposite ways"
    return [resampled(words, above(ADDS), e, otherwise(CEV, SDE))]


def rare_classes_pay(e: Evidence) -> list[Asked]:
    """C: with pruning alone, classes that kept a part of their training rows lose more recall than the
    others, seed by seed.
    """
    found: Table = {}
    for place in e.places:
        one = place.of(PRUNING)
        kept = np.array([level not in (None, ALL_OF_THEM) for level in kept_of_classes(place.world)])
        if one is None or not kept.any() or kept.all():
            continue
        lost = one.rates[3] - one.rates[1]  # what the false negative rate gains is what recall loses
        for number, seed in enumerate(one.seeds):
            found[place.name, seed] = _defined_mean(lost[number, kept]) - _defined_mean(lost[number, ~kept])
    words = "recall that rare classes lose by pruning, less what the others lose"
    known = {at: value for at, value in found.items() if np.isfinite(value)}
    return [contrast(words, above(), (1.0, known), drawn=False)]


def _defined_mean(values: FloatArray) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else NAN

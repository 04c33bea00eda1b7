"""Situations beside the plain one of the simulation: weights, classes, labels, scores, runs, sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

import evenhand
from evenhand.arrays import Array, FloatArray
from evenhand.metrics.catalogue import CATALOGUE
from evenhand.metrics.counts import Counts
from evenhand.metrics.view import View

TPR, FPR = np.array([0.6, 0.65, 0.7, 0.8]), np.array([0.1, 0.15, 0.2, 0.2])
SIZES = np.array([600, 300, 80, 20])  # very unequal groups


@dataclass(frozen=True)
class Situation:
    """One way to make data sets: `interval_of(seed)` is (low, high, true value) of the metric `key`."""

    name: str
    key: str
    interval_of: Callable[[int], tuple[float, float, float]]


def _interval(key: str, truth: float, *rows: Array, **options: object) -> tuple[float, float, float]:
    found = evenhand.audit(*rows, metrics=[key], **options).metrics[key]  # type: ignore[arg-type]
    return found.low, found.high, truth


def _rows(rng: np.random.Generator, sizes: Array, tpr: FloatArray = TPR) -> tuple[Array, Array, Array]:
    """Labels, predictions and groups of rows with known rates."""
    g = np.repeat(np.arange(len(sizes)), sizes)
    y = rng.integers(0, 2, len(g))
    return y, (rng.random(len(g)) < np.where(y == 1, tpr[g], FPR[g])).astype(np.int64), g


def _gap(values: FloatArray) -> float:
    return float(values.max() - values.min())


def weighted(spread: float) -> Situation:
    """Weights that have nothing to do with the predictions: the truth is the one without them."""

    def interval_of(seed: int) -> tuple[float, float, float]:
        rng = np.random.default_rng([1, seed])
        y, p, g = _rows(rng, np.full(4, 300))
        return _interval("tpr.gap", _gap(TPR), y, p, g, weights=rng.lognormal(0, spread, len(g)))

    return Situation(f"log-normal weights, deviation {spread:g}; 4 groups of 300", "tpr.gap", interval_of)


def unequal_sizes(resampling: str) -> Situation:
    """The sizes of the groups are drawn too."""

    def interval_of(seed: int) -> tuple[float, float, float]:
        rng = np.random.default_rng([2, seed])
        sizes = rng.multinomial(SIZES.sum(), SIZES / SIZES.sum())
        return _interval("tpr.gap", _gap(TPR), *_rows(rng, sizes), resampling=resampling)

    return Situation(f"1000 rows, groups of about 600, 300, 80, 20; {resampling}", "tpr.gap", interval_of)


def clearly_largest(key: str) -> Situation:
    """One group holds most of each class, so that the group whose share is amplified is never in doubt."""
    sizes = np.array([500, 300, 200])
    cells = np.stack([np.stack([1 - FPR[:3], FPR[:3]], -1), np.stack([1 - TPR[:3], TPR[:3]], -1)], -2)
    table = sizes[:, None, None] * cells / 2
    metric = CATALOGUE[key]
    truth = float(metric(View(Counts.from_table(table).margins())))

    def interval_of(seed: int) -> tuple[float, float, float]:
        return _interval(key, truth, *_rows(np.random.default_rng([7, seed]), sizes))

    return Situation("groups of 500, 300 and 200", key, interval_of)


def many_classes() -> Situation:
    """Five classes; a group's predictions are right at its own rate and otherwise any class."""
    right = np.array([0.9, 0.8, 0.6])
    shares = np.array([0.4, 0.3, 0.15, 0.1, 0.05])
    selection = right[:, None] * shares + (1 - right[:, None]) * 0.2  # else any of the five
    truth = float((selection.max(axis=0) - selection.min(axis=0)).mean())

    def interval_of(seed: int) -> tuple[float, float, float]:
        rng = np.random.default_rng([3, seed])
        g = np.repeat(np.arange(3), 300)
        y = rng.choice(5, len(g), p=shares)
        p = np.where(rng.random(len(g)) < right[g], y, rng.integers(0, 5, len(g)))
        return _interval("dp", truth, y, p, g, classes=range(5))

    return Situation("5 classes, mean over them; 3 groups of 300", "dp", interval_of)


def many_labels(same: bool) -> Situation:
    """Ten labels, independent of each other or all the same: the labels of a row are drawn together."""

    def interval_of(seed: int) -> tuple[float, float, float]:
        rng = np.random.default_rng([4, seed])
        columns = [_rows(rng, np.full(4, 300)) for _ in range(1 if same else 10)]
        y, p = (np.stack([(columns * 10)[label][side] for label in range(10)], axis=1) for side in (0, 1))
        return _interval("tpr.gap", _gap(TPR), y, p, columns[0][2])

    kind = "the same label ten times" if same else "ten independent labels"
    return Situation(f"{kind}, mean over them; 4 groups of 300", "tpr.gap", interval_of)


def scores(key: str, equal: bool) -> Situation:
    """Normal scores: positives lie d above negatives, so that AUC = Phi(d / sqrt 2)."""
    distance = np.full(4, 1.5) if equal else np.array([1.0, 1.3, 1.6, 2.0])
    auc = np.array([NormalDist().cdf(d / 2**0.5) for d in distance])
    truth = _gap(auc) if key == "auc.gap" else float(auc.min())

    def interval_of(seed: int) -> tuple[float, float, float]:
        rng = np.random.default_rng([5, seed])
        g = np.repeat(np.arange(4), 200)
        y = rng.integers(0, 2, len(g))
        score = 1 / (1 + np.exp(-(rng.normal(size=len(g)) + distance[g] * (y - 0.5))))
        return _interval(key, truth, y, (score > 0.5).astype(np.int64), g, scores=score)

    return Situation(f"scores, {'equal' if equal else 'unequal'} AUC; 4 groups of 200", key, interval_of)


def paired(equal: bool) -> Situation:
    """Two models on the same rows: the second changes one prediction in ten, and loses hits in one group."""
    tpr = np.full(8, 0.7) if equal else np.linspace(0.6, 0.8, 8)
    lost = np.zeros(8) if equal else np.r_[np.zeros(7), 0.15]
    truth = 0.0 if equal else _gap(tpr - lost) - _gap(tpr)

    def interval_of(seed: int) -> tuple[float, float, float]:
        rng = np.random.default_rng([8, seed])
        g = np.repeat(np.arange(8), 200)
        y = rng.integers(0, 2, len(g))
        first = rng.random(len(g)) < np.where(y == 1, tpr[g], 0.2)
        again = np.where(rng.random(len(g)) < 0.1, rng.random(len(g)) < np.where(y == 1, tpr[g], 0.2), first)
        second = again & ~((y == 1) & (rng.random(len(g)) < (lost / tpr)[g]))
        models = {"first": first.astype(np.int64), "second": second.astype(np.int64)}
        found = evenhand.compare(y, models, g, metrics=["tpr.gap"]).differences["second"]["tpr.gap"]
        return found.low, found.high, truth

    kind = "equal rates" if equal else "unequal rates"
    return Situation(f"difference of two models, {kind}; 8 groups of 200", "tpr.gap", interval_of)


def few_rows() -> Situation:
    """A gap of 0.4 in a very small table, and a second model without one."""
    before, after = np.array([0.9, 0.5]), np.array([0.7, 0.7])

    def interval_of(seed: int) -> tuple[float, float, float]:
        rng = np.random.default_rng([12, seed])
        g, y = np.repeat([0, 1], 40), rng.integers(0, 2, 80)
        luck = rng.random(80)
        again = np.where(rng.random(80) < 0.8, luck, rng.random(80))
        models = {
            name: (shared < np.where(y == 1, rates[g], 0.1)).astype(np.int64)
            for name, rates, shared in (("first", before, luck), ("second", after, again))
        }
        found = evenhand.compare(y, models, g, metrics=["tpr.gap"]).differences["second"]["tpr.gap"]
        return found.low, found.high, -0.4

    return Situation("difference of two models, a gap vanishes; 80 rows, 2 groups", "tpr.gap", interval_of)


def few_changes(key: str) -> Situation:
    """Two models that answer nearly all rows alike: the second loses 3 percent of one group's hits."""
    tpr, lost = np.array([0.95, 0.9, 0.9, 0.8]), np.array([0, 0, 0, 0.03])

    def interval_of(seed: int) -> tuple[float, float, float]:
        rng = np.random.default_rng([13, seed])
        g, y = np.repeat(np.arange(4), 100), rng.integers(0, 2, 400)
        luck = rng.random(400)
        models = {
            name: (luck < np.where(y == 1, rates[g], 0.05)).astype(np.int64)
            for name, rates in (("first", tpr), ("second", tpr - lost))
        }
        found = evenhand.compare(y, models, g, metrics=[key]).differences["second"][key]
        return found.low, found.high, 0.03 if key == "tpr.gap" else -0.03 / 8

    return Situation("difference of two models, few rows change; 4 groups of 100", key, interval_of)


def arises(rows: int, groups: int) -> Situation:
    """Groups that are alike, and a second model that loses hits in one of them."""

    def interval_of(seed: int) -> tuple[float, float, float]:
        rng = np.random.default_rng([11, seed])
        g, y = rng.integers(0, groups, rows), rng.integers(0, 2, rows)
        right = rng.random(rows) < 0.8
        still = right & ~((g == 1) & (y == 1) & (rng.random(rows) < 0.06 / 0.8))
        models = {"first": np.where(right, y, 1 - y), "second": np.where(still, y, 1 - y)}
        found = evenhand.compare(y, models, g, metrics=["tpr.gap"]).differences["second"]["tpr.gap"]
        return found.low, found.high, 0.06

    name = f"difference of two models, a gap arises; {rows} rows, {groups} groups"
    return Situation(name, "tpr.gap", interval_of)


def rare(groups: int, cases: int, least: float, most: float) -> Situation:
    """Few errors of a kind, so that many a group has none: the ratio of the lowest rate to the highest."""
    rates = np.linspace(least, most, groups)

    def interval_of(seed: int) -> tuple[float, float, float]:
        rng = np.random.default_rng([9, seed])
        g = np.repeat(np.arange(groups), 2 * cases)
        y = np.tile([0, 1], groups * cases)
        p = (rng.random(len(g)) < np.where(y == 1, 0.9, rates[g])).astype(np.int64)
        return _interval("fpr.ratio", least / most, y, p, g)

    kind = f"all {least:g}" if least == most else f"{least:g} to {most:g}"
    name = f"rates of rare errors, {kind}; {groups} groups with {cases} cases each"
    return Situation(name, "fpr.ratio", interval_of)


def small_class(n: int, lost: float) -> Situation:
    """One small class among others, of which the second model loses a share: recall, who paid."""

    def interval_of(seed: int) -> tuple[float, float, float]:
        rng = np.random.default_rng([10, seed])
        y = np.repeat([0, 1, 2], [n, 300, 300])
        first = np.where(rng.random(len(y)) < 0.02, (y + 1) % 3, y)
        second = np.where((y == 0) & (rng.random(len(y)) < lost), 1, first)
        found = evenhand.compare(y, {"first": first, "second": second}, metrics=["acc"]).paid["second"]
        return found.classes[0].low, found.classes[0].high, -0.98 * lost

    return Situation(f"a class of {n} rows loses {lost:.0%}, who paid", "recall", interval_of)


def runs() -> Situation:
    """Five trainings whose rates vary; the interval is for a single one, so a sixth is asked."""

    def interval_of(seed: int) -> tuple[float, float, float]:
        rng = np.random.default_rng([6, seed])
        rates = np.clip(TPR + rng.normal(0, 0.03, (6, 4)), 0, 1)
        g = np.repeat(np.arange(4), 300)
        y = rng.integers(0, 2, len(g))
        chance = np.where(y == 1, rates[:5, g], FPR[g])
        return _interval("tpr.gap", _gap(rates[5]), y, (rng.random((5, len(g))) < chance).astype(np.int64), g)

    return Situation("5 runs, rates vary by 0.03; a sixth run's true value", "tpr.gap", interval_of)


OTHERS = (
    weighted(0.5),
    weighted(1.0),
    unequal_sizes("stratified"),
    unequal_sizes("whole"),
    clearly_largest("ba"),
    many_classes(),
    many_labels(same=False),
    many_labels(same=True),
    scores("auc.gap", equal=True),
    scores("auc.gap", equal=False),
    scores("auc.worst", equal=False),
    paired(equal=True),
    paired(equal=False),
    arises(300, 2),
    arises(600, 4),
    arises(2000, 2),
    few_rows(),
    few_changes("tpr.gap"),
    few_changes("acc"),
    rare(2, 30, 0.05, 0.05),
    rare(8, 30, 0.05, 0.05),
    rare(2, 200, 0.005, 0.1),
    rare(4, 50, 0.02, 0.2),
    small_class(10, 0.1),
    small_class(50, 0.05),
    small_class(200, 0.02),
    runs(),
)

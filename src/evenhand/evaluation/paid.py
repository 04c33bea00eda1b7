"""Whom did the change of a model hurt? Classes, groups, and classes within groups, with intervals and tests.

For each, the share of its rows that is answered rightly (recall of a class, accuracy of a group) by the base
and by the alternative, on the same rows. For one run of each model the interval is Tango's (1998) and p that
of McNemar's exact test (1947); else the interval is a bootstrap over rows, the groups' sizes kept, and p that
of the mean change of a row. Of several attributes groups are combinations, and the levels of each alone.
Holm's (1979) correction counts all classes, all combinations, all levels of an attribute, or all cells
together; groups of fewer than `min_count` rows are not tested. Models are taken as they are: that other seeds
would do the same is not said. Within a group, CEV and SDE (S2) compare the alternative with the base on the
rows of that group alone; the paper compares all rows with a group's instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.evaluation.comparison import Rows
from evenhand.evaluation.differences import Measured
from evenhand.evaluation.options import Options
from evenhand.evaluation.paired_errors import PAIR_KEYS
from evenhand.evaluation.row_bootstrap import Rates, RowBootstrap, reach_of
from evenhand.groups import Attribute
from evenhand.metrics.pairs import pair_measures
from evenhand.metrics.undefined import divide
from evenhand.statistics.corrections import holm
from evenhand.statistics.paired_shares import mcnemar_p, tango_interval

PAID, GAINED, NOT_SHOWN = "paid", "gained", "not shown"
REPLICATES, FEWEST = 400, 100  # how often rows are drawn: fewer times where there are many of them
MOST_DRAWN = 1 << 26  # rows drawn for all models together
MOST_CELLS = 400  # classes within groups beyond this are not listed


@dataclass(frozen=True)
class Payment:
    """One class, group or cell: how many rows, their share answered rightly by both models, and the change.

    `verdict` is "paid" or "gained" where the corrected p is at most 1 - confidence, else "not shown".
    """

    name: str
    n: int
    base: float
    value: float
    difference: float
    low: float
    high: float
    p: float
    verdict: str = NOT_SHOWN
    pairs: dict[str, Measured] | None = None

    def to_dict(self) -> dict[str, Any]:
        """As a report reads it; CEV and SDE of a group each with their interval."""
        found = {key: value for key, value in vars(self).items() if key != "pairs"}
        for key, value in (self.pairs or {}).items():
            found[key] = {"value": value.value, **vars(value)}
        return found


@dataclass(frozen=True)
class Paid:
    """What an alternative did to the classes, the groups, and the classes within the groups."""

    classes: tuple[Payment, ...]
    groups: tuple[Payment, ...] = ()
    cells: tuple[Payment, ...] = ()
    everyone: dict[str, Measured] = field(default_factory=dict)  # CEV and SDE of all rows, runs added up

    def with_groups(self, more: tuple[Payment, ...]) -> Paid:
        """The same with further groups, such as those of one attribute alone."""
        return replace(self, groups=(*self.groups, *more))

    def to_dict(self) -> dict[str, Any]:
        """As a report reads it."""
        kinds = {"classes": self.classes, "groups": self.groups, "cells": self.cells}
        return {kind: [one.to_dict() for one in each] for kind, each in kinds.items()}

    @property
    def shown(self) -> list[Payment]:
        """Those that paid, of whichever kind, the largest loss first."""
        every = [one for one in (*self.classes, *self.groups) if one.verdict == PAID]
        return sorted(every, key=lambda one: one.difference)


def who_paid(rows: Rows, base: str, name: str, options: Options) -> Paid:
    """Who lost and who gained by an alternative, of coded rows."""
    return _Ledger.of(rows, options).paid(rows.predictions[base], rows.predictions[name])


def payments(rows: Rows, base: str, others: list[str], options: Options) -> dict[str, Paid]:
    """The same for several alternatives; the rows are drawn once, and the base is counted once."""
    found = _payments(rows, base, others, options)
    if len(rows.attributes) > 1:
        for attribute in rows.attributes:
            alone = _payments(by_attribute(rows, attribute), base, others, options)
            found = {name: found[name].with_groups(alone[name].groups) for name in others}
    return found


def _payments(rows: Rows, base: str, others: list[str], options: Options) -> dict[str, Paid]:
    ledger = _Ledger.of(rows, options, len(others) + 1)
    counted = ledger.drawn.rates(np.atleast_2d(rows.predictions[base]))
    return {name: ledger.paid(rows.predictions[base], rows.predictions[name], counted) for name in others}


def by_attribute(rows: Rows, attribute: Attribute) -> Rows:
    """The same rows with the levels of one of their attributes as groups.

    Rows take part whose level is known, whatever is known of their other attributes.
    """
    names = tuple(f"{attribute.name}={level}" for level in attribute.levels)
    return replace(
        rows, ids=attribute.codes, group_names=names, grouping=(attribute.name,), attributes=(attribute,)
    )


@dataclass(frozen=True)
class _Ledger:
    """Rows with their draws."""

    rows: Rows
    options: Options
    drawn: RowBootstrap

    @classmethod
    def of(cls, rows: Rows, options: Options, models: int = 2) -> _Ledger:
        n_groups = len(rows.group_names)
        ids = np.where(rows.ids < n_groups, rows.ids, -1) if n_groups else np.full(len(rows.y), -1)
        ids = ids.astype(np.int64)  # they are multiplied by the number of classes
        affordable = max(FEWEST, MOST_DRAWN // max(1, len(rows.y) * models))
        replicates = min(options.replicates, REPLICATES, affordable)
        return cls(
            rows,
            options,
            RowBootstrap(rows.y, ids, len(rows.classes), n_groups, replicates, options.seed, rows.weights),
        )

    def paid(self, base: Array, other: Array, counted: Rates | None = None) -> Paid:
        bases, others = np.atleast_2d(base), np.atleast_2d(other)
        before, after = counted or self.drawn.rates(bases), self.drawn.rates(others)
        moved = (others == self.rows.y).mean(axis=0) - (bases == self.rows.y).mean(axis=0)
        change = _Change(self, moved, len(bases) == len(others) == 1 and self.rows.weights is None)
        recall = [1.0 - rates.fnr.mean(axis=1) for rates in (before, after)]
        classes = change.payments(self.rows.classes, self.rows.y, recall[0][:, -1], recall[1][:, -1])
        everyone = self._everyone(before, after)
        if not self.rows.group_names:
            return Paid(classes, everyone=everyone)
        right = [rates.accuracy.mean(axis=1)[:, :-1] for rates in (before, after)]
        names, least = self.rows.group_names, self.options.min_count
        found = change.payments(names, self.drawn.ids, right[0], right[1], least)
        groups = tuple(
            replace(one, pairs=own) for one, own in zip(found, self._pairs(before, after), strict=True)
        )
        return Paid(classes, groups, self._cells(change, recall), everyone)

    def _everyone(self, before: Rates, after: Rates) -> dict[str, Measured]:
        """CEV and SDE of all rows; every run has the same rows, so that errors added up are mean rates."""
        means = (rates.mean(axis=1)[:, -1] for rates in (before.fpr, before.fnr, after.fpr, after.fnr))
        base_fpr, base_fnr, fpr, fnr = means
        found = pair_measures(base_fpr, base_fnr, fpr, fnr, n_classes=len(self.rows.classes))
        skipped = int(found["skipped"][0])
        return {key: self._measured(found[key], skipped) for key in PAIR_KEYS}

    def _measured(self, values: FloatArray, skipped: int) -> Measured:
        low, high = reach_of(values, self.options.confidence, (0.0, np.inf))
        value = float(values[0])
        why = _why(value, skipped, len(self.rows.classes))
        return Measured(value, float(low), float(high), skipped, why)

    def _cells(self, change: _Change, recall: list[FloatArray]) -> tuple[Payment, ...]:
        groups, classes = self.rows.group_names, self.rows.classes
        if len(groups) * len(classes) > MOST_CELLS:
            return ()
        names = [f"{label} · {group}" for group in groups for label in classes]
        ids = self.drawn.ids
        sizes = np.bincount(ids[ids >= 0], minlength=len(groups))
        small = (ids < 0) | (sizes[ids] < self.options.min_count)  # of an unknown group, or of one left out
        code = np.where(small, -1, ids * len(classes) + self.rows.y)
        flat = [rates[:, :-1].reshape(len(rates), -1) for rates in recall]
        return tuple(one for one in change.payments(names, code, flat[0], flat[1]) if one.n)

    def _pairs(self, before: Rates, after: Rates) -> list[dict[str, Measured]]:
        """CEV and SDE within each group: of several runs, the first with the first, and so on.

        One run alone is set against every run of the other model.
        """
        n = min(before.fpr.shape[1], after.fpr.shape[1])
        end = None if n == 1 else n
        base, other = (before.fpr[:, :end], before.fnr[:, :end]), (after.fpr[:, :end], after.fnr[:, :end])
        found = pair_measures(*base, *other, n_classes=len(self.rows.classes))
        means = {key: found[key].mean(axis=1) for key in PAIR_KEYS}
        skipped = found["skipped"][0].max(axis=0)
        return [
            {key: self._measured(values[:, g], int(skipped[g])) for key, values in means.items()}
            for g in range(len(self.rows.group_names))
        ]


@dataclass(frozen=True)
class _Change:
    """How much more often each row is answered rightly, `moved [N]`; `exact`: by one run of each model."""

    ledger: _Ledger
    moved: FloatArray
    exact: bool = False

    def payments(
        self, names: Sequence[str], code: Array, base: FloatArray, other: FloatArray, least: int = 0
    ) -> tuple[Payment, ...]:
        """One for each name, to whose rows `code` points (-1: none); rates of both are `[B + 1, names]`.

        Names with fewer than the `least` rows are not tested, and no other p is corrected for them.
        """
        known = code >= 0
        sizes = np.bincount(code[known], minlength=len(names))
        single, low, high = self._judged(code[known], known, other - base)
        p = holm(np.where(sizes < least, np.nan, single))
        level = 1.0 - self.ledger.options.confidence
        found = []
        for k, name in enumerate(names):
            moved = float(other[0, k] - base[0, k])
            verdict = NOT_SHOWN if not p[k] <= level else PAID if moved < 0 else GAINED
            found.append(Payment(name, int(sizes[k]), float(base[0, k]), float(other[0, k]), moved,
                                 float(low[k]), float(high[k]), float(p[k]), verdict))  # fmt: skip
        return tuple(found)

    def _judged(
        self, code: Array, known: Array, changes: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Two-sided p of no change for each of the sets of rows, and both ends; NaN without rows.

        The interval of what the test does not tell from no change holds 0.
        """
        moved, weights, confidence = (
            self.moved[known],
            self.ledger.rows.weights,
            self.ledger.options.confidence,
        )
        n = changes.shape[1]
        sizes = np.bincount(code, minlength=n)
        if not self.exact:
            w = np.ones(len(code)) if weights is None else np.asarray(weights, dtype=np.float64)[known]
            p = mean_p(moved, code, n, w)
            low, high = reach_of(changes, confidence, (-1.0, 1.0))
            still = (
                np.bincount(code, (moved != 0) & (w > 0), minlength=n) == 0
            )  # nor could rows drawn again move
            as_many = divide(np.bincount(code, w, minlength=n) ** 2, np.bincount(code, w * w, minlength=n))
            ends = tango_interval(
                np.zeros(n), np.zeros(n), as_many, confidence
            )  # as so many rows of one weight
            return p, np.where(still, ends[0], low), np.where(still, ends[1], high)
        lost, won = (np.bincount(code, way, minlength=n) for way in (moved < 0, moved > 0))
        p = np.where(sizes > 0, mcnemar_p(lost, won), np.nan)
        low, high = tango_interval(lost, won, sizes, confidence)
        unsure = p > 1.0 - confidence
        return p, np.where(unsure, np.minimum(low, 0.0), low), np.where(unsure, np.maximum(high, 0.0), high)


def mean_p(values: FloatArray, code: Array, n: int, weights: Array | None = None) -> FloatArray:
    """Two-sided p of a weighted mean of 0 in each of n sets, by Student's t; 1 where every value is 0.

    Where m values are not 0, it is at least 2^(1 - m), the least that flipping their signs could give: of a
    few rows that all changed alike the t statistic is infinite, and shows nothing.
    NaN for fewer than two rows. Rows of the weight 0 are none.

    >>> values = np.array([1.0, 2.0, 3.0, 0.0, 0.0, 5.0, -1.0, -1.0])
    >>> mean_p(values, np.array([0, 0, 0, 1, 1, 2, 3, 3]), 4).round(4).tolist()
    [0.25, 1.0, nan, 0.5]
    """
    from scipy.special import stdtr

    w = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=np.float64)
    rows, whole = np.bincount(code, w > 0, minlength=n), np.bincount(code, w, minlength=n)
    mean = divide(np.bincount(code, w * values, minlength=n), whole)
    squares = np.bincount(code, w**2 * (values - mean[code]) ** 2, minlength=n)
    error = divide(np.sqrt(squares * divide(rows, rows - 1)), whole)
    t = divide(np.abs(mean), error)
    found = np.where(error > 0, 2 * stdtr(np.maximum(rows - 1, 1), -np.nan_to_num(t)), 0.0)
    least = 2.0 ** (1 - np.bincount(code, (values != 0) & (w > 0), minlength=n))
    found = np.maximum(found, np.minimum(least, 1.0))
    return np.where(rows < 2, np.nan, np.where(np.nan_to_num(mean) == 0, 1.0, found))


def _why(value: float, skipped: int, classes: int) -> str | None:
    if skipped == classes:
        return "no class has both error rates on these rows, above 0 with the base"
    if np.isnan(value) and skipped == classes - 1:
        return "one class alone has them on these rows: there is no other that it could differ from"
    return "the random predictor's own is next to 0" if np.isnan(value) else None

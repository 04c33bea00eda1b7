"""What a metric looks at: the margins, with each rate worked out once, and the conventions in force."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.metrics.margins import Margins
from evenhand.metrics.rates import RATES, Rate

Convention = Literal["strict", "paper", "artifact"]


@dataclass(frozen=True)
class View:
    """Margins `[..., K, G]` seen by a metric; rates are kept, because many metrics share them.

    Rates of scores, which margins cannot tell, are handed in as `known_rates`.

    `everyone` pools all rows, those of unknown group or of a group too small to be compared included.
    `privileged` is the index of the group that S3's metrics call privileged; `smoothing` is the
    concentration of S1's intersectional bias; `convention` chooses how S0's metrics treat undefined cases.
    """

    margins: Margins
    everyone: Margins | None = None
    convention: Convention = "strict"
    privileged: int = 0
    smoothing: float = 1.0
    legacy: bool = False
    known_rates: dict[str, FloatArray] = field(default_factory=dict, repr=False, compare=False)
    known_pooled: dict[str, FloatArray] = field(default_factory=dict, repr=False, compare=False)
    kept_deviations: dict[tuple[str, str], tuple[FloatArray, FloatArray] | None] = field(
        default_factory=dict, repr=False, compare=False
    )

    def of(self, margins: Margins, everyone: Margins | None = None) -> View:
        """The same look at other margins."""
        return replace(
            self, margins=margins, everyone=everyone, known_rates={}, known_pooled={}, kept_deviations={}
        )

    def rate(self, key: str) -> FloatArray:
        """A rate per class and group, `[..., K, G]` (K = 1 for rates that look at all classes at once)."""
        if key not in self.known_rates:
            self.known_rates[key] = RATES[key].of(self.margins)
        return self.known_rates[key]

    def pooled_rate(self, key: str) -> FloatArray:
        """The same rate over all groups together, `[..., K, 1]`."""
        if key not in self.known_pooled:
            self.known_pooled[key] = RATES[key].of(self.margins.pooled)
        return self.known_pooled[key]

    def overall_rate(self, key: str) -> FloatArray:
        """The rate over all rows, those that take no part in comparisons included, `[..., K, 1]`."""
        return self.pooled_rate(key) if self.everyone is None else RATES[key].of(self.everyone)

    @property
    def several(self) -> Array:
        """Whether at least two groups have rows, `[..., K]`: with one there is nothing to compare."""
        return np.asarray((self.margins.n > 0).sum(axis=-1) >= 2)

    @property
    def shares(self) -> FloatArray:
        """Share of each group in the rows, `[..., K, G]`."""
        n = self.margins.n
        return np.asarray(n / np.maximum(n.sum(axis=-1, keepdims=True), np.finfo(float).tiny))


@dataclass(frozen=True)
class Extremes:
    """What the rates could become if the rows of unknown group belonged wherever they hurt or help most.

    A rate rises when rows of its `raised_by` cells join a group and falls with `lowered_by` ones. So giving a
    group all unknown rows of the first kind and none of the second is its highest possible value.
    """

    view: View
    unknown: Margins

    def rate(self, key: str) -> tuple[FloatArray, FloatArray] | None:
        """Lowest and highest possible rate of each group `[..., K, G]`; None if it cannot be bounded."""
        rate = RATES[key]
        if key == "mcc" and not self.view.margins.binary and self.view.margins.exclusive:
            return None  # the multi-class coefficient is not monotone in the cells
        low, high = self._with(rate, rate.lowered_by), self._with(rate, rate.raised_by)
        if rate.whole:  # it may need rows of both kinds to have a value, which could then be anything
            loose = np.isnan(low) | np.isnan(high)
            return np.where(loose, rate.low, low), np.where(loose, rate.high, high)
        return np.where(np.isnan(low), high, low), np.where(np.isnan(high), low, high)

    def _with(self, rate: Rate, cells: frozenset[str]) -> FloatArray:
        m, u = self.view.margins, self.unknown
        if rate.whole and m.exclusive:
            hit = u.tp if "tp" in cells else np.zeros_like(u.tp)
            predicted, actual = (u.tp, u.tp) if "tp" in cells else (u.fp, u.fn)
            total = np.broadcast_to(actual.sum(axis=-2, keepdims=True), actual.shape)
        else:
            part = {
                cell: getattr(u, cell) if cell in cells else np.zeros_like(u.tp)
                for cell in ("tp", "fp", "fn", "tn")
            }
            hit, predicted, actual = part["tp"], part["tp"] + part["fp"], part["tp"] + part["fn"]
            total = predicted + part["fn"] + part["tn"]
        return rate.of(
            Margins(
                m.tp + hit, m.predicted + predicted, m.actual + actual, m.n + total, exclusive=m.exclusive
            )
        )

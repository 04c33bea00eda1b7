"""The population that the synthetic task is drawn from, in numbers: groups, base rates, class means.

A group is one combination of the attributes' levels. Its tilt u is the mean of its levels, each scaled to
-1 (first) .. 1 (last); everything that differs between groups is a function of u:

    P(y = 1 | group)    = sigmoid(logit(positive) + (label_shift [+ spurious, unless for the test]) u)
    distance of classes = signal (1 + signal_gap u / 2)         their direction turns by turn (1 - u) / 2
    P(a label is recorded one class lower) = label_flip (1 - u) / 2          (not in the test)

Attributes are the bins of correlated normal variables (a one-factor Gaussian copula). Inputs are normal with
unit variance around a mean that is the sum of the class's and, `leak` times, the group's.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import log_softmax, logit, ndtr, ndtri, softmax

from evenhand.arrays import FloatArray, IntArray

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(80)
WEIGHTS = WEIGHTS / WEIGHTS.sum()  # of a standard normal variable


@dataclass(frozen=True)
class World:
    """The knobs of the generator and the quantities that follow from them; G groups, C classes, L labels."""

    shares: tuple[tuple[float, ...], ...]  # of each attribute's levels
    correlation: float
    classes: int
    labels: int
    positive: float
    signal: float
    signal_gap: float
    turn: float
    leak: float
    label_shift: float
    label_flip: float
    spurious: float
    balanced_test: bool
    d: int

    @property
    def n_directions(self) -> int:
        """One for two classes, else one for each class or label."""
        return self.labels or (1 if self.classes == 2 else self.classes)

    @property
    def names(self) -> tuple[str, ...]:
        """What each input carries."""
        what = "label" if self.labels else "class"
        core = [f"{what} {i}" for i in range(self.n_directions)] if self.n_directions > 1 else [what]
        turned = [f"{name} turned" for name in core] if self.turn else []
        carried = [*core, *turned, *(f"a{j}" for j in range(len(self.shares)))]
        return (*carried, *(f"noise {i}" for i in range(self.d - len(carried))))

    @cached_property
    def cells(self) -> IntArray:
        """The levels of each group `[G, attributes]`, in the order of `Groups`."""
        sizes = tuple(len(shares) for shares in self.shares)
        return np.indices(sizes).reshape(len(sizes), -1).T

    @cached_property
    def scaled_levels(self) -> FloatArray:
        """The levels of each group as numbers from -1 to 1 `[G, attributes]`."""
        top = np.array([len(shares) - 1 for shares in self.shares])
        return np.asarray(2.0 * self.cells / top - 1.0)

    @cached_property
    def tilt(self) -> FloatArray:
        """The mean level u of each group `[G]`."""
        return np.asarray(self.scaled_levels.mean(axis=1))

    @cached_property
    def signals(self) -> FloatArray:
        """How far the class means are from the middle `[G]`."""
        return self.signal * (1.0 + self.signal_gap * self.tilt / 2.0)

    @cached_property
    def flips(self) -> FloatArray:
        """The probability that a label is recorded one class lower `[G]`."""
        return self.label_flip * (1.0 - self.tilt) / 2.0

    def bounds(self, attribute: int) -> FloatArray:
        """Where the normal variable of an attribute is cut into its levels `[levels - 1]`."""
        return np.asarray(ndtri(np.cumsum(self.shares[attribute])[:-1]))

    def group_shares(self, part: str = "test") -> FloatArray:
        """P(group) `[G]`: given the common factor the attributes are independent, so one integral does."""
        if part == "test" and self.balanced_test:
            return np.full(len(self.cells), 1.0 / len(self.cells))
        joint = np.ones((len(NODES), 1))
        own = np.sqrt(1.0 - self.correlation)
        for attribute in range(len(self.shares)):
            edges = np.concatenate([[-np.inf], self.bounds(attribute), [np.inf]])
            below = ndtr((edges - np.sqrt(self.correlation) * NODES[:, None]) / own)
            joint = (joint[:, :, None] * np.diff(below)[:, None, :]).reshape(len(NODES), -1)
        return np.asarray(WEIGHTS @ joint)

    def class_shares(self, part: str = "test") -> FloatArray:
        """P(class | group) before any label is flipped `[G, C]`; of a label: `[G, 2]`."""
        shift = self.label_shift + (0.0 if part == "test" else self.spurious)
        return np.asarray(softmax(self._class_logits(shift), axis=1))

    def log_class_shares(self, part: str) -> FloatArray:
        """Their logarithm, exact where a share is tiny."""
        shift = self.label_shift + (0.0 if part == "test" else self.spurious)
        return np.asarray(log_softmax(self._class_logits(shift), axis=1))

    def _class_logits(self, shift: float) -> FloatArray:
        n = 2 if self.labels else self.classes
        start = np.array([0.0, logit(self.positive)]) if n == 2 else np.zeros(n)
        return start + 0.5 * shift * self.tilt[:, None] * np.linspace(-1.0, 1.0, n)

    @cached_property
    def directions(self) -> FloatArray:
        """Unit vectors along which classes or labels differ `[G, directions, d]`."""
        n = self.n_directions
        angle = np.radians(self.turn) * (1.0 - self.tilt) / 2.0
        found = np.zeros((len(self.cells), n, self.d))
        for i in range(n):
            found[:, i, i] = np.cos(angle)
            if self.turn:
                found[:, i, n + i] = np.sin(angle)
        return found

    @cached_property
    def group_means(self) -> FloatArray:
        """What the inputs tell of the group itself `[G, d]`."""
        first = self.n_directions * (2 if self.turn else 1)
        means = np.zeros((len(self.cells), self.d))
        means[:, first : first + len(self.shares)] = self.leak * self.scaled_levels
        return means

    @cached_property
    def class_means(self) -> FloatArray:
        """Mean inputs of each group and class `[G, C, d]`; not for several labels, which add up."""
        away = self.signals[:, None, None] * self.directions
        spread = np.concatenate([-away, away], axis=1) if self.classes == 2 else away
        return self.group_means[:, None, :] + spread

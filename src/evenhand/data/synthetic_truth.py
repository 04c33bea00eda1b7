"""The right answer of the synthetic task: exact probabilities, and the exact rates of the best classifier."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logsumexp, ndtr, softmax

from evenhand.arrays import Array, FloatArray
from evenhand.data.synthetic_world import NODES, WEIGHTS, World


@dataclass(frozen=True)
class Truth:
    """What is known of the population behind a synthetic task. G groups in the order of `task.groups()`."""

    world: World

    def group_shares(self, part: str = "test") -> FloatArray:
        """P(group) `[G]` among the rows of a part."""
        return self.world.group_shares(part)

    def class_shares(self, part: str = "test") -> FloatArray:
        """P(true class | group) `[G, C]` among the rows of a part; of each label `[G, 2]` (multi-label)."""
        return self.world.class_shares(part)

    def probabilities(self, x: object, group: object | None = None, part: str = "test") -> FloatArray:
        """P(true class | x, group) `[N, C]`, or P(true class | x) where no group ids are given.

        Multi-label: P(label = 1 | ...) `[N, L]`. The base rates are those of the part: `spurious` moves those
        of "train" and "validation".
        """
        inputs = np.asarray(x, dtype=np.float64)
        by_group = (
            self._label_posteriors(inputs, part) if self.world.labels else self._posteriors(inputs, part)
        )
        if group is not None:
            return np.asarray(by_group[np.arange(len(inputs)), np.asarray(group)])
        mixing = softmax(self._group_logits(inputs, part), axis=1)
        return np.asarray(np.einsum("ng,ngc->nc", mixing, by_group))

    def predict(self, x: object, group: object | None = None, part: str = "test") -> Array:
        """The most probable class `[N]`, or labels `[N, L]`: no classifier is right more often."""
        found = self.probabilities(x, group, part)
        return (found > 0.5).astype(np.int64) if self.world.labels else found.argmax(axis=1)

    def confusion(self, part: str = "test") -> FloatArray:
        """P(predicted j | true class i, group) `[G, i, j]` of the best classifier that knows the group.

        Two classes (or each label): closed form by the normal distribution. More: one integral over it.
        """
        logs = self.world.log_class_shares(part)
        two = bool(self.world.labels) or self.world.classes == 2
        return (_two_classes if two else _many_classes)(self.world.signals, logs)

    def rates(self, part: str = "test") -> dict[str, FloatArray]:
        """Accuracy of that classifier in each group `[G]`; for two classes also its other usual rates."""
        confusion, shares = self.confusion(part), self.class_shares(part)
        found = {"accuracy": np.einsum("gc,gcc->g", shares, confusion)}
        if confusion.shape[1] == 2:
            found |= {"tpr": confusion[:, 1, 1], "fpr": confusion[:, 0, 1]}
            found["positive"] = np.einsum("gc,gc->g", shares, confusion[:, :, 1])
        return found

    def _posteriors(self, x: FloatArray, part: str) -> FloatArray:
        return np.asarray(softmax(self._joint_logits(x, part), axis=2))

    def _joint_logits(self, x: FloatArray, part: str) -> FloatArray:
        """The log of p(x, class | group) `[N, G, C]` up to a term that all of them share."""
        means = self.world.class_means
        inner = np.einsum("nd,gcd->ngc", x, means) - 0.5 * (means**2).sum(axis=2)
        return np.asarray(inner + self.world.log_class_shares(part))

    def _label_logits(self, x: FloatArray, part: str) -> FloatArray:
        """The log of p(x, label | group) `[N, G, L, 2]` up to a shared term; labels are independent."""
        along = self.world.signals[:, None] * np.einsum("nd,gld->ngl", x, self.world.directions)
        shares = self.world.log_class_shares(part)[:, None, :] - 0.5 * self.world.signals[:, None, None] ** 2
        return np.asarray(np.stack([-along, along], axis=3) + shares)

    def _label_posteriors(self, x: FloatArray, part: str) -> FloatArray:
        logits = self._label_logits(x, part)
        return np.asarray(expit(logits[..., 1] - logits[..., 0]))

    def _group_logits(self, x: FloatArray, part: str) -> FloatArray:
        """The log of p(x, group) `[N, G]` up to a shared term."""
        shares = np.log(self.world.group_shares(part))
        if not self.world.labels:
            return np.asarray(logsumexp(self._joint_logits(x, part), axis=2) + shares)
        means = self.world.group_means
        of_group = x @ means.T - 0.5 * (means**2).sum(axis=1)
        return np.asarray(of_group + logsumexp(self._label_logits(x, part), axis=3).sum(axis=2) + shares)


def truth(task: object) -> Truth:
    """The truth behind a task that `synthetic` made.

    >>> from evenhand.data.synthetic import synthetic
    >>> known = truth(synthetic(signal=1.0, spurious=2.0))
    >>> known.rates("test")["tpr"].round(4).tolist(), known.rates("train")["tpr"].round(4).tolist()
    ([0.8413, 0.8413], [0.5, 0.9772])
    """
    from evenhand.data.synthetic import world_of

    return Truth(world_of(task))


def _two_classes(signals: FloatArray, logs: FloatArray) -> FloatArray:
    """Class 1 is predicted where x, along the direction, is over t = log(P(0) / P(1)) / (2 signal)."""
    cut = (logs[:, 0] - logs[:, 1]) / (2.0 * signals)
    positive = np.stack([ndtr(-signals - cut), ndtr(signals - cut)], axis=1)  # P(predicted 1 | 0), P(... | 1)
    return np.stack([1.0 - positive, positive], axis=2)


def _many_classes(signals: FloatArray, logs: FloatArray) -> FloatArray:
    """Class j is predicted where its score, x_j + log P(j) / signal, is the highest; x_j are independent."""
    n = logs.shape[1]
    ahead = (logs[:, :, None] - logs[:, None, :]) / signals[:, None, None]  # [G, j, other]
    own = np.eye(n)
    # of the true class i, x_i has the mean `signal`: how far j is ahead of each other class on average
    means = signals[:, None, None, None] * (own[:, :, None] - own[:, None, :]) + ahead[:, None]
    beaten = ndtr(NODES[:, None, None, None, None] + means)
    beaten[:, :, :, np.arange(n), np.arange(n)] = 1.0
    return np.asarray(np.einsum("q,qgij->gij", WEIGHTS, beaten.prod(axis=4)))

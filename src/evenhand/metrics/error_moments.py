"""Errors of many numbers, draw by draw, and the deviations of their differences by matrix products.

The deviation of e_p - f_q for every p needs no array of that difference: its square is that of e_p, plus that
of f_q, less twice the mean of their product.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.metrics.undefined import divide

CANCELLED = 1e-12  # what arithmetic leaves of a variance that is 0


@dataclass(frozen=True)
class Errors:
    """Errors `[R, K, P]`; those that are undefined in a draw take no part.

    >>> errors = Errors.of(np.array([[[0.3, 0.1]], [[-0.3, -0.1]]]))
    >>> errors.spread.round(3).tolist(), errors.apart(errors, np.array([[1]])).round(3).tolist()
    ([[0.3, 0.1]], [[0.2, 0.0]])
    """

    draws: FloatArray = field(repr=False)
    scaled: FloatArray = field(repr=False)  # [K, R, P], so that products summed over draws are means
    square: FloatArray = field(repr=False)  # [K, P]

    @classmethod
    def of(cls, draws: FloatArray) -> Errors:
        """Of the draws themselves."""
        defined = ~np.isnan(draws)
        counts = defined.sum(axis=0)
        scale = np.sqrt(divide(1.0, counts))
        scaled = np.where(defined, draws, 0.0) * np.nan_to_num(scale)
        square = np.where(counts > 0, np.einsum("rkp,rkp->kp", scaled, scaled), np.nan)
        return cls(draws, np.ascontiguousarray(np.moveaxis(scaled, 1, 0)), square)

    def columns(self, some: Array) -> Errors:
        """The same of some of the P numbers."""
        return Errors(self.draws[..., some], self.scaled[..., some], self.square[:, some])

    @property
    def spread(self) -> FloatArray:
        """Their deviations around 0, `[K, P]`."""
        return np.sqrt(self.square)

    def at(self, place: Array) -> FloatArray:
        """The draws of one number of each class `[K, 1]`, `[R, K, 1]`."""
        return np.take_along_axis(self.draws, np.broadcast_to(place, (*self.draws.shape[:-1], 1)), axis=-1)

    def apart(self, other: Errors, place: Array) -> FloatArray:
        """Deviations of each less one number of others, at a place `[K, 1]`: `[K, P]`."""
        column = np.broadcast_to(place[:, None], (*other.scaled.shape[:2], 1))
        chosen = np.take_along_axis(other.scaled, column, axis=-1)
        product = (np.swapaxes(chosen, 1, 2) @ self.scaled)[:, 0]
        return _root(self.square, np.take_along_axis(other.square, place, axis=-1), product)

    def moved(self, other: Errors) -> FloatArray:
        """Deviations of each less the same number of others."""
        return _root(self.square, other.square, np.einsum("krp,krp->kp", self.scaled, other.scaled))


def _root(first: FloatArray, second: FloatArray, product: FloatArray) -> FloatArray:
    whole = first + second
    variance = whole - 2.0 * product
    return np.sqrt(np.where(variance <= CANCELLED * whole, 0.0, variance))

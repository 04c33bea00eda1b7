"""Made-up codes to count: groups whose rates differ, so that the gaps are not all noise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray


@dataclass(frozen=True)
class Codes:
    """Labels, predictions and groups as whole numbers 0, 1, 2, ..."""

    y: NDArray[Any]
    p: NDArray[Any]
    g: NDArray[Any]
    n_groups: int
    n_classes: int

    def astype(self, kind: DTypeLike) -> Codes:
        """The same codes in another type."""
        return replace(self, y=self.y.astype(kind), p=self.p.astype(kind), g=self.g.astype(kind))


def made_up(rows: int, n_groups: int, n_classes: int, seed: int = 0) -> Codes:
    """Uniform labels; a group is predicted right in 60 to 90 % of its rows."""
    rng = np.random.default_rng(seed)
    g, y, guess = (rng.integers(0, high, rows) for high in (n_groups, n_classes, n_classes))
    right = rng.random(rows) < np.linspace(0.6, 0.9, n_groups)[g]
    return Codes(y, np.where(right, y, guess), g, n_groups, n_classes)

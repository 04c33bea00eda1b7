"""What is published of CelebA's forty attributes: the share of "yes" of each, and the phi of each pair.

Aggregate numbers of 202,599 images, no image and no row among them; `files/ATTRIBUTION.md` says whence. The
phi of two binary attributes is their correlation,

    phi_ij = (P(i and j) - p_i p_j) / sqrt(p_i (1 - p_i) p_j (1 - p_j)).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.data.cache import packaged

FILE = "celeba_statistics.json"


@dataclass(frozen=True)
class Statistics:
    """Attributes by `names [L]`, their `rates [L]` of "yes" and `phi [L, L]`, counted over `n` images.

    >>> found = celeba_statistics()
    >>> found.n, found.names[20], found.rate("Male")
    (202599, 'Male', 0.416754)
    """

    names: tuple[str, ...]
    rates: FloatArray = field(repr=False)
    phi: FloatArray = field(repr=False)
    n: int

    def rate(self, name: str) -> float:
        """The share of "yes" of one attribute.

        >>> celeba_statistics().rate("Bald")
        0.022443
        """
        return float(self.rates[self.names.index(name)])


@cache
def celeba_statistics() -> Statistics:
    """The numbers of the packaged file, over all images (training, validation and test together)."""
    found = json.loads(packaged(FILE).read_text(encoding="utf-8"))
    rates = np.array(found["positive_rate"]["all"], dtype=np.float64)
    phi = np.array(found["phi"], dtype=np.float64)
    for numbers in (rates, phi):
        numbers.flags.writeable = False  # everybody is given the same arrays
    return Statistics(tuple(found["attributes"]), rates, phi, int(found["n"]["all"]))

"""An attribute read off the inputs themselves: two halves, cut at the median of the training rows.

Some data sets of images (MNIST, CIFAR-10) describe no people and have no protected attribute. A measured
property of the picture gives groups to practise on, and says no more than it measures.
"""

from __future__ import annotations

import numpy as np

from evenhand.arrays import Array
from evenhand.groups import Attribute


def halves(
    name: str, levels: tuple[str, str], values: Array, train: Array, within: Array | None = None
) -> Attribute:
    """Level 0 up to the median of the training rows, level 1 above it.

    `within` gives each row a stratum (its class): each stratum then has a median of its own, so that the
    attribute says nothing about it.

    >>> values, levels = np.array([1, 2, 8, 9]), ("light", "heavy")
    >>> halves("ink", levels, values, train=np.arange(3)).codes.tolist()
    [0, 0, 1, 1]
    >>> halves("ink", levels, values, train=np.arange(4), within=np.array([0, 0, 1, 1])).codes.tolist()
    [0, 1, 0, 1]
    """
    strata = np.zeros(len(values), dtype=np.int64) if within is None else np.asarray(within)
    codes = np.full(len(values), -1, dtype=np.int64)
    for stratum in np.unique(strata[train]):
        cut = np.median(values[train][strata[train] == stratum])
        here = strata == stratum
        codes[here] = values[here] > cut
    return Attribute(name, levels, codes)

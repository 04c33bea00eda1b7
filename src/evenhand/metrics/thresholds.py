"""Counts at many decision thresholds from one pass over the scores."""

from __future__ import annotations

import numpy as np

from evenhand.arrays import as_array
from evenhand.metrics.coded_rows import coded_rows, number_of, weight_sums
from evenhand.metrics.counts import Counts
from evenhand.metrics.tally import check_codes


def counts_at_thresholds(
    y_true: object,
    scores: object,
    groups: object,
    thresholds: object,
    n_groups: int | None = None,
    weights: object | None = None,
) -> Counts:
    """Counts `[T, G, 2, 2]` of the predictions `score >= threshold`, one table a threshold.

    A row is put once into the interval between two thresholds where its score lies; the tables are running
    sums over the intervals, so a thousand thresholds cost hardly more than one.

    >>> counts = counts_at_thresholds([0, 1, 1], [0.2, 0.4, 0.9], [0, 0, 0], [0.3, 0.5])
    >>> counts.table[:, 0].tolist()
    [[[1, 0], [0, 2]], [[1, 0], [1, 1]]]
    """
    limits = np.asarray(as_array(thresholds), dtype=np.float64)
    order = np.argsort(limits, kind="stable")
    values = np.asarray(as_array(scores), dtype=np.float64)
    if np.isnan(values).any():
        raise ValueError(f"the score in row {int(np.isnan(values).argmax())} is not a number")
    passed = np.searchsorted(limits[order], values, side="right")  # how many thresholds the row reaches
    y, passed, g = coded_rows(as_array(y_true), passed, as_array(getattr(groups, "ids", groups)))
    check_codes(y, 2, "label")
    n_groups = number_of(
        n_groups if n_groups is not None else getattr(groups, "n_groups", None), [g], least=1
    )
    check_codes(g, n_groups, "group")
    code = (np.where(g < 0, n_groups, g).astype(np.int64) * 2 + y) * (len(limits) + 1) + passed
    kinds = [_tables(code, weight, n_groups, len(limits)) for weight in weight_sums(weights, g) or [None]]
    if weights is not None:  # rows were counted as a sum of ones
        kinds[1] = np.rint(kinds[1]).astype(np.int64)
    place = np.argsort(order, kind="stable")
    return Counts(*(np.ascontiguousarray(kind[place]) for kind in kinds))


def _tables(code: np.ndarray, weight: np.ndarray | None, n_groups: int, limits: int) -> np.ndarray:
    """Tables `[T, G + 1, 2, 2]` from counts of rows by the number of thresholds they reach."""
    flat = np.bincount(code, weight, minlength=(n_groups + 1) * 2 * (limits + 1))
    by_reach = flat.reshape(n_groups + 1, 2, limits + 1)
    positive = by_reach[..., ::-1].cumsum(axis=-1)[..., ::-1][..., 1:]  # reaching at least k + 1 of them
    negative = by_reach.cumsum(axis=-1)[..., :-1]
    return np.moveaxis(np.stack([negative, positive], axis=-1), 2, 0)
